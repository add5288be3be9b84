/**
 * What has to be released before a command runs with a network: hosts that are not read-only. Asked
 * once, with the credential, before anything runs: what is sent cannot be taken back. Whoever does
 * not release lets the command run all the same; its requests there are refused.
 */
import type { Proposal } from '../../contracts/index.ts'
import { hostPort } from '../../gate/index.ts'
import { visibleName } from '../effects/visible.ts'
import { credentialOf, proveHuman } from '../home.ts'
import { canAsk } from '../passphrase.ts'
import { askLine } from './answer-line.ts'
import type { GateSession } from './open.ts'

/** Through a tunnel nobody sees a method, so CONNECT stands for all of them. */
const METHODS = ['CONNECT', 'GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export async function releaseBefore(session: GateSession, proposal: Proposal): Promise<void> {
  const { gate, call } = session
  const hosts = gate.releasesNeeded(proposal)
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

/** A passphrase that was handed over is for this; otherwise a person is asked at a terminal. */
async function isWanted(session: GateSession, names: string): Promise<boolean> {
  const { call, isBelowAgent } = session
  const { caller } = session.session
  const isProvable = caller.principal.kind === 'human' && credentialOf(session.session) !== null
  if (!isProvable || isBelowAgent) return false
  if (call.options.text('pass-fd') !== null) return true
  if (!canAsk()) return false
  const question = `Release requests to ${names} for this one run? They cannot be taken back. [y/N] `
  const line = await askLine(question)
  return typeof line === 'object' && /^y(?:es)?$/i.test(line.text.trim())
}
