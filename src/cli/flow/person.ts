/**
 * Who may have a flow carried out: a person. A flow names who works in it, which hosts they reach,
 * which variables they get and what they may write, so the caller who starts one declares all of that.
 */
import { faultError, showName } from '../../base/index.ts'
import type { Flow, Participant } from '../../contracts/index.ts'
import { type CompiledFlow, personText } from '../../flow/index.ts'
import { DEFAULT_LISTS, knownAgent } from '../../gate/index.ts'
import { humanFault, type Principal, principalText } from '../../ledger/index.ts'
import {
  namedPerson,
  openReviewers,
  openWork,
  type PlanningTerms,
  shortSecrets,
} from '../../runs/index.ts'
import { ancestorNames } from '../../service/index.ts'
import type { CommandCall } from '../call/command.ts'
import { credentialOf, proveHuman } from '../call/home.ts'
import { canAsk } from '../call/passphrase.ts'
import { askLine } from '../gate/answer-line.ts'
import type { GateSession } from '../gate/open.ts'
import { plain } from '../history/text.ts'
import type { FlowFile } from './load.ts'
import type { FlowSession } from './open.ts'

/** Fails if an actor calls, by its token or below a known agent. `next` is what a person types. */
export function refuseActors({ session }: GateSession, what: string, next: string): void {
  const hint = `a person starts it: ${next}`
  const refused = humanFault(session.caller, what)
  if (refused !== null) throw faultError('principal.not_human', '', refused.message, hint)
  const agent = knownAgent(DEFAULT_LISTS, ancestorNames())
  if (agent === null || session.caller.proof !== 'none') return
  const message = `${what} is for a person, and this runs below ${showName(agent)}`
  throw faultError('principal.not_human', '', message, hint)
}

/** Says which people a flow asks that could not answer: no principal has their name. */
export function tellUnknownPeople(
  { terminal }: CommandCall,
  { gate, host }: FlowSession,
  flow: CompiledFlow,
): void {
  const { register, caller } = gate.session
  const known = [...register.principals.map(({ principal }) => principal), caller.principal]
  const texts = new Set(known.map(principalText))
  const names = new Set(flow.nodes.flatMap(({ nodeId }) => namedPerson(flow, nodeId) ?? []))
  for (const name of names) {
    const who = personText(name, host.namespace)
    if (texts.has(who)) continue
    terminal.err(
      plain(
        `the flow asks ${who}, who is not registered here: writ principal add ${who}, then writ token create ${who}`,
      ).concat('\n'),
    )
  }
}

/** Says which secrets are too short to be found in what participants leave and say. */
export function tellShortSecrets({ terminal }: CommandCall, { nodes }: CompiledFlow): void {
  const participants = nodes.flatMap(({ document }) =>
    [document.executor, document.reviewer].filter((one) => one !== undefined),
  )
  for (const name of shortSecrets(participants, process.env))
    terminal.err(
      `${plain(`the secret ${name} has fewer than four characters: it is not searched for in files and outputs of participants`)}\n`,
    )
}

/**
 * Says which reviewers are open, which work may change the whole workspace while a command judges it, and
 * what to write instead.
 */
export function tellOpenWork(
  { terminal }: CommandCall,
  { base }: CompiledFlow,
  kind: FlowFile['kind'],
  workspace: string,
): void {
  const { env: environment } = process
  const around = { workspace, environment, searchPath: environment['PATH'] ?? '' }
  const open = openReviewers(base, around)
  for (const { code, message, hint } of open) {
    // One reviewer often judges many nodes.
    const same = open.filter((one) => one.hint === hint)
    if (same[0]?.message !== message) continue
    const more = same.length === 1 ? '' : ` (the same at ${same.length - 1} more)`
    terminal.err(`${plain(`${message}${more}; ${hint}`)} (${code})\n`)
  }
  for (const { code, message, hint } of openWork(base, kind === 'plan'))
    terminal.err(`${plain(`${message}; ${hint}`)} (${code})\n`)
}

const GOING_ON = 'going on with a run that an actor began'

/**
 * Shows a person who takes part in a run that an actor began, and asks; fails if they do not agree.
 * The participants get the person's variables, and what is sent cannot be taken back.
 */
export async function askAboutActors(
  call: CommandCall,
  gate: GateSession,
  by: Principal,
  { nodes }: Flow,
): Promise<void> {
  if (by.kind === 'human') return
  const rows = nodes.flatMap(({ node_id, executor, reviewer }) =>
    [executor, reviewer].flatMap((one) => (one === undefined ? [] : [[node_id, one] as const])),
  )
  const head = `${principalText(by)} began this run and chose who takes part in it`
  const hint = 'call `writ flow resume RUN` from a terminal, or start a flow of your own'
  await agree(call, gate, { head, rows, what: GOING_ON, hint })
}

const PLANNING_ON = 'going on with a planning that no person is known to have begun'

/** The same for a planning; one of an earlier version does not say who began it. */
export async function askAboutPlanning(
  call: CommandCall,
  gate: GateSession,
  by: Principal | null,
  terms: Pick<PlanningTerms, 'goal' | 'workspace' | 'planner' | 'reviewer' | 'out'>,
): Promise<void> {
  if (by?.kind === 'human') return
  const { goal, workspace, planner, reviewer, out } = terms
  const who =
    by === null ? 'It is not recorded who began this planning' : `${principalText(by)} began it`
  const aim = `goal “${plain(goal)}”, in ${plain(workspace)}`
  const written = out === null ? '' : `, the plan is written to ${plain(out)}`
  const rows = [['planner', planner] as const, ['reviewer', reviewer] as const]
  const hint = 'call `writ flow plan --resume` from a terminal, or begin a planning of your own'
  await agree(call, gate, { head: `${who}: ${aim}${written}`, rows, what: PLANNING_ON, hint })
}

interface Agreement {
  readonly head: string
  readonly rows: readonly (readonly [string, Participant])[]
  readonly what: string
  readonly hint: string
}

/** Shows who takes part and asks; fails if no person agrees. */
async function agree(
  call: CommandCall,
  { session }: GateSession,
  { head, rows, what, hint }: Agreement,
): Promise<void> {
  const lines = rows.map(([name, one]) => `  ${plain(name)}: ${participantText(one)}\n`)
  call.terminal.err(`${head}:\n${lines.join('')}`)
  if (credentialOf(session) !== null) {
    await proveHuman(session, call, what)
    return
  }
  const line = canAsk() ? await askLine('Go on with these participants? [y/N] ') : null
  if (line !== null && typeof line === 'object' && /^y(?:es)?$/i.test(line.text.trim())) return
  const message = `nothing was started: ${what} needs the yes of a person at a terminal`
  throw faultError('credential.required', '', message, hint)
}

/** Returns what a participant is, which hosts it reaches and which variables it gets, in one line. */
function participantText(participant: Participant): string {
  const { egress = [], secrets = [] } = participant
  // A chat model without variables of its own gets this one.
  const variables = secrets.length === 0 && 'chat' in participant ? ['OPENAI_API_KEY'] : secrets
  return [
    whoText(participant),
    ...(egress.length === 0 ? [] : [`may connect to ${egress.map(plain).join(', ')}`]),
    ...(variables.length === 0 ? [] : [`gets your ${variables.map(plain).join(', ')}`]),
  ].join('; ')
}

function whoText(participant: Participant): string {
  if ('command' in participant) return `the command ${plain(participant.command.join(' '))}`
  if ('http' in participant) return `requests to ${plain(participant.http)}`
  if ('chat' in participant) return `the model at ${plain(participant.chat)}`
  if ('human' in participant) return 'a person'
  const { mcp } = participant
  return `the MCP server ${plain(typeof mcp === 'string' ? mcp : mcp.join(' '))}`
}
