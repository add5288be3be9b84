/**
 * What has to be released before a command runs with a network: hosts that are not read-only, and
 * those that `--send` names. Asked once, with the credential, before anything runs: what is sent cannot
 * be taken back. A typed no lets the command run all the same, and its requests there are refused.
 * Ctrl-C, Ctrl-D and a terminal that goes away are no answer: then nothing runs.
 */
import { type FaultError, faultError } from '../../base/index.ts'
import type { Proposal } from '../../contracts/index.ts'
import { hostPort } from '../../gate/index.ts'
import { visibleName } from '../../words/index.ts'
import { credentialOf, proveHuman } from '../call/home.ts'
import { canAsk } from '../call/passphrase.ts'
import { askLine } from '../gate/answer-line.ts'
import type { GateSession } from '../gate/open.ts'

/** The proxy sees no method inside a tunnel, so CONNECT covers all of them there. */
const METHODS = ['CONNECT', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** `send`: hosts that are released though they may be read-only. */
export async function releaseBefore(
  session: GateSession,
  proposal: Proposal,
  send: readonly string[],
): Promise<void> {
  const { gate, call } = session
  const hosts = [...new Set([...gate.releasesNeeded(proposal), ...send])]
  if (hosts.length === 0) return
  const names = hosts.map(visibleName).join(', ')
  if (!(await isWanted(session, names))) {
    call.terminal.err(`${notReleasedText(hosts)}${credentialHint(session)}\n`)
    return
  }
  await proveHuman(session.session, call, 'releasing')
  const reason = 'writ exec --net'
  await gate.override({ kind: 'release', proposal, hosts, methods: METHODS, reason })
}

/** How to release them next time, where no passphrase is set yet. */
function credentialHint({ session }: GateSession): string {
  if (credentialOf(session) !== null) return ''
  return '; releasing them needs a passphrase: set one with `writ principal pass`, then run this again'
}

/** An address is named for hosts that resolve to it as well, and those are judged by their own name. */
function notReleasedText(hosts: readonly string[]): string {
  const said = `not released: requests to ${hosts.map(visibleName).join(', ')} will be refused`
  const hasAddress = hosts.some((host) => hostPort(host)?.isAddress === true)
  return hasAddress ? `${said}; hosts of --net that resolve to a named address may use it` : said
}

/**
 * Returns whether to release requests: yes if the call brings a passphrase, otherwise as a person
 * answers at a terminal. Fails if that person does not answer.
 */
async function isWanted(session: GateSession, names: string): Promise<boolean> {
  const { call, isBelowAgent } = session
  const { caller } = session.session
  const isProvable = caller.principal.kind === 'human' && credentialOf(session.session) !== null
  if (!isProvable || isBelowAgent) return false
  if (call.options.text('pass-fd') !== null) return true
  if (!canAsk()) return false
  const choices = '[y: release, N: run without them, q: run nothing] '
  const question = `Release requests to ${names} for this one run? They cannot be taken back. ${choices}`
  for (;;) {
    const line = await askLine(question)
    const word = typeof line === 'string' ? 'q' : line.text.trim().toLowerCase()
    if (word === 'q' || word === 'quit') throw notBegun()
    if (word === 'y' || word === 'yes') return true
    if (word === '' || word === 'n' || word === 'no') return false
  }
}

function notBegun(): FaultError {
  const message = 'the release was not answered, so the command did not run and nothing was changed'
  return faultError('release.unanswered', '', message, 'run it again and answer y or n')
}
