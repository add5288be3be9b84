/**
 * Who may have a flow carried out: a person. A flow names who works in it, which hosts they reach,
 * which variables they get and what they may write, so whoever starts one declares all of that.
 */
import { fault, showName } from '../../base/index.ts'
import { DEFAULT_LISTS, knownAgent } from '../../gate/index.ts'
import { ancestorNames } from '../../host/index.ts'
import { humanFault } from '../../ledger/index.ts'
import { Stop } from '../command.ts'
import type { GateSession } from '../gate/open.ts'

/** Fails if an actor calls, by its token or below a known agent. `next` is what a person types. */
export function refuseActors({ session }: GateSession, what: string, next: string): void {
  const hint = `a person starts it: ${next}`
  const refused = humanFault(session.caller, what)
  if (refused !== null)
    throw new Stop(fault('principal.not_human', '', null, { message: refused.message, hint }))
  const agent = knownAgent(DEFAULT_LISTS, ancestorNames())
  if (agent === null || session.caller.proof !== 'none') return
  const message = `${what} is for a person, and this runs below ${showName(agent)}`
  throw new Stop(fault('principal.not_human', '', null, { message, hint }))
}
