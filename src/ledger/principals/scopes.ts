/**
 * What a token is for (H-5). A token without scopes speaks for all that its principal may do; one with
 * scopes for these alone. Scopes only narrow: they never give a principal what its kind may not do.
 */
import { type Fault, fault } from '../../base/index.ts'
import type { TokenScope } from '../../contracts/index.ts'
import type { Caller } from './register.ts'

const COMMANDS: Readonly<Record<string, TokenScope>> = {
  inbox: 'read',
  log: 'read',
  show: 'read',
  propose: 'propose',
  exec: 'propose',
  flow: 'flows',
  schedule: 'flows',
  task: 'tasks',
  // Routes of devices that are no command.
  tasks: 'tasks',
  receipt: 'tasks',
}

/** The scope that a command belongs to which opens a home for writing; null for those that no scope covers. */
export function scopeOfCommand(name: string): TokenScope | null {
  const [first = ''] = name.split(' ')
  return Object.hasOwn(COMMANDS, first) ? (COMMANDS[first] ?? null) : null
}

/** The fault of a caller whose token is not for this; null if it is. Every scope includes reading. */
export function scopeFault({ scopes }: Caller, needed: TokenScope | null): Fault | null {
  if (scopes === undefined || needed === 'read') return null
  if (needed !== null && scopes.includes(needed)) return null
  const what = needed === null ? 'a token without scopes' : `a token with the scope \`${needed}\``
  return fault('principal.scope', '', null, {
    message: `the token is for ${scopes.map((scope) => `\`${scope}\``).join(', ')} alone, and this needs ${what}`,
    hint: 'a human makes another: `writ token create KIND:ID@NAMESPACE`',
  })
}
