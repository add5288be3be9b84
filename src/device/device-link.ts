/** How a device speaks with the home of its tasks: over HTTP with its token, or over MQTT with its key. */

/** What a device says about an offer. */
export interface DeviceStatement {
  readonly command_id: string
  readonly nonce: string
  /** It takes the offer, starts, or reports. */
  readonly status: 'ACKED' | 'RUNNING' | 'REPORTED'
  readonly lease: string
  /** Of a report. */
  readonly receipt: Readonly<Record<string, unknown>> | null
}

/** The answer of the home. */
export type HomeAnswer =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: string; readonly message: string }

export interface DeviceLink {
  /** Hands over what is offered, and which offers are withdrawn, until the link is closed. */
  open(
    onOffer: (message: unknown) => void,
    onWithdrawn?: (commandId: string) => void,
  ): Promise<void>
  /** Says something once. Rejects if no answer came: say it again. */
  say(saying: DeviceStatement): Promise<HomeAnswer>
  close(): Promise<void>
}

/** What a link tells of its state, for the log of the device. */
export type LinkTrouble = (reason: string) => void
