/**
 * The reasons why an edit fails. The editing program in a sandbox can report only an exit status to
 * the host, so each failure has its own. The host does not interpret what the program prints.
 */
import type { Code } from '../base/index.ts'

/** In the order of their exit statuses; a new one goes to the end. */
const CONFIGURATION_FAILURES = [
  'config.no_file',
  'config.not_file',
  'config.too_large',
  'config.encoding',
  'config.syntax',
  'config.duplicate',
  'config.type',
  'config.nothing',
  'config.value',
  'config.shared',
  'config.inexact',
] as const satisfies readonly Code[]

export type ConfigurationFailure = (typeof CONFIGURATION_FAILURES)[number]

const FIRST_STATUS = 64

export function exitStatusOf(failure: ConfigurationFailure): number {
  return FIRST_STATUS + CONFIGURATION_FAILURES.indexOf(failure)
}

/** Returns the failure of an exit status; null for any other status. */
export function failureOfStatus(status: number | null): ConfigurationFailure | null {
  return status === null ? null : (CONFIGURATION_FAILURES[status - FIRST_STATUS] ?? null)
}

/** What stops an edit; thrown inside this room and caught at its door. */
export class Refused extends Error {
  readonly code: ConfigurationFailure
  /** The key path that it is about, as keys; empty when it is about the whole text. */
  readonly keys: readonly string[]

  constructor(code: ConfigurationFailure, message: string, keys: readonly string[] = []) {
    super(message)
    this.code = code
    this.keys = keys
  }
}
