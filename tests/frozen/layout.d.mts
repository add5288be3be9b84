/** Types of the layout of frozen homes. */
export const ROOT: string
export const PASSPHRASE: string
export const ROLES: string
export const APPENDER: string
export type Kind = 'sqlite' | 'postgres'
export const KINDS: readonly Kind[]

export interface Places {
  readonly folder: string
  readonly project: string
  readonly home: string
  readonly socket: string
}

export function placesOf(kind: Kind): Places
export function environmentOf(kind: Kind): NodeJS.ProcessEnv
export function lockFrozen(): Promise<() => Promise<unknown>>
