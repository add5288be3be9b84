/**
 * The log of the service: one JSON line an event (pino). A request is logged by its route, never by its
 * address, headers or body, so that no secret of a caller gets there.
 */
import { type Logger, pino } from 'pino'

export type Log = Pick<Logger, 'info' | 'warn' | 'error'>

export function createLog(write: (line: string) => void): Log {
  return pino({ base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` }, { write })
}
