export interface Broker {
  readonly url: string
  /** The certificate that vouches for it. */
  readonly ca: string
  readonly port: number
  start(): Promise<void>
  stop(signal?: NodeJS.Signals): Promise<void>
}

export function startBroker(
  folder: string,
  users: Readonly<Record<string, string>>,
  more?: { readonly lines?: readonly string[]; readonly acl?: string },
): Promise<Broker>
