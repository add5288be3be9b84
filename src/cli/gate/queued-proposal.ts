/** `writ propose --queue`: leaves a proposal to a worker, and follows it where the caller waits. */
import { existsSync, realpathSync } from 'node:fs'
import { dirname, isAbsolute, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { digestBytes, faultError, showName } from '../../base/index.ts'
import { judge, type Proposal, proposalContract } from '../../contracts/index.ts'
import { addProposal, seenJobs, serverOf } from '../../fleet/index.ts'
import { DEFAULT_LISTS, knownAgent } from '../../gate/index.ts'
import { type ActHistory, type ActStatus, readAct } from '../../history/index.ts'
import { principalText } from '../../ledger/index.ts'
import { ancestorNames, type GateAnswer } from '../../service/index.ts'
import { type CommandCall, type Exit, reply, usageError } from '../call/command.ts'
import { isOfWholeHost } from '../call/home.ts'
import { surroundings } from '../call/terminal.ts'
import { isLabel } from '../history/option-values.ts'
import { plain, refuse } from '../history/text.ts'
import { printAnswer } from './answer-text.ts'
import { awaitHuman } from './await-human.ts'
import { type GateSession, withGate } from './open.ts'

const EXAMPLE = 'writ propose --queue --label gpu proposal.json'
const LOOK_MS = 500

/** Fails if options are given that say how a proposal is queued, and it is not. */
export function refuseQueueWords({ options }: CommandCall): void {
  if (options.texts('label').length === 0 && options.text('workspace') === null) return
  throw usageError('`--label` and `--workspace` are for `--queue`', EXAMPLE)
}

export async function queueProposal(
  call: CommandCall,
  document: unknown,
  abort: AbortSignal,
): Promise<Exit> {
  const { options } = call
  if (options.isOn('dry-run'))
    throw usageError('`--dry-run` is for a proposal that is made here', EXAMPLE)
  const labels = options.texts('label')
  const wrong = labels.find((label) => !isLabel(label))
  if (wrong !== undefined) throw usageError(`${showName(wrong)} is no label`, EXAMPLE)
  const { violations, valid } = judge(proposalContract, document)
  if (!valid) return refuse(call, violations)
  const { action_id: action } = (document as Proposal).descriptor // The contract has judged it.
  return withGate(call, async (session) => {
    const { ledger, caller } = session.session
    const { stream } = session
    const server = serverOf(ledger)
    if ((await readAct(ledger, stream, action, new Map())) !== null) throw usedBefore(action)
    const workspace = workspaceOf(session)
    const token = surroundings().env['WRIT_TOKEN']
    const by = {
      principal: principalText(caller.principal),
      token: token === undefined ? null : digestBytes(token.trim()),
      agent: knownAgent(DEFAULT_LISTS, ancestorNames()),
    }
    const text = JSON.stringify(document)
    await addProposal(server, { action, stream, workspace, labels, by, document: text })
    if (options.isOn('wait')) return follow(session, action, abort)
    const next = isOfWholeHost(caller)
      ? `writ show ${action}; writ worker list`
      : `writ show ${action}`
    return reply(
      call,
      { action_id: action, stream, workspace, labels },
      ({ good }) => `${good('queued')}  ${plain(action)}\n  to follow it: ${plain(next)}\n`,
    )
  })
}

function usedBefore(action: string): Error {
  const message = `the action id ${showName(action)} was used before`
  const hint =
    'make a fresh UUID for every proposal; one that a human released is proposed on its machine, without `--queue`'
  return faultError('descriptor.action_id_reused', action, message, hint)
}

/** Of the machine that is to do it, which may be another one for a person. An agent stays where it is. */
function workspaceOf({ call, session }: GateSession): string {
  const named = call.options.text('workspace')
  const own = dirname(session.home.directory)
  if (named === null || named === own) return own
  const { principal } = session.caller
  if (principal.kind !== 'human') {
    const message = `${showName(principalText(principal))} queues proposals for the workspace ${showName(own)} alone`
    throw faultError('descriptor.scope_outside', named, message, 'leave `--workspace` out')
  }
  // As the label of its workers: on another machine the directory may be there, and not here.
  if (isAbsolute(named)) return existsSync(named) ? realpathSync(named) : resolve(named)
  throw usageError(`the workspace ${showName(named)} is no whole path`, EXAMPLE)
}

const UNDECIDED: ReadonlySet<ActStatus> = new Set(['unknown', 'unfinished'])

/** Waits until a worker has decided, then as `writ propose --wait` does. */
async function follow(session: GateSession, action: string, abort: AbortSignal): Promise<Exit> {
  const { call, stream } = session
  const { ledger } = session.session
  const where = isOfWholeHost(session.session.caller) ? ': writ worker list' : ''
  call.terminal.err(`queued ${action}; waiting for a worker${where}\n`)
  while (!abort.aborted) {
    // Before its act: a worker records what it decided, and then the job is done.
    const isQueued = await isStillQueued(session, action)
    const act = await readAct(ledger, stream, action, new Map())
    const answer = act === null ? null : answerOf(act)
    if (answer !== null) {
      const asked = await askedOf(session, answer)
      return printAnswer(call, await awaitHuman(session, asked, abort))
    }
    if (!isQueued) throw removedBefore(action)
    await pause(LOOK_MS, undefined, { signal: abort }).catch(() => undefined)
  }
  throw faultError('flow.interrupted', action, 'the wait was ended; the proposal stays queued')
}

/** Null while nothing is decided, or what was decided is not carried out. */
function answerOf({ id, outcome, decision, result, promotion }: ActHistory): GateAnswer | null {
  if (decision === null || UNDECIDED.has(outcome)) return null
  const { payload } = decision
  const promoted = promotion?.payload.status === 'APPLIED'
  return {
    action_id: id,
    proposal_digest: payload.proposal_digest,
    decision: payload,
    result: result?.payload ?? null,
    promoted,
    ...(promoted
      ? { promotion: { paths: [], snapshot_digest: promotion.payload.snapshot_digest } }
      : {}),
  }
}

async function askedOf({ gate }: GateSession, answer: GateAnswer): Promise<GateAnswer> {
  const rows = await gate.pending()
  const asked = rows.find(({ action_id }) => action_id === answer.action_id)
  if (asked === undefined) return answer
  const { id, expires_at } = asked
  return { ...answer, pending: { id, expires_at } }
}

/** Returns whether a job of the proposal is there. Fails if the workers gave it up. */
async function isStillQueued({ session }: GateSession, action: string): Promise<boolean> {
  const { jobs } = await seenJobs(serverOf(session.ledger), { about: action })
  const own = jobs.filter((job) => job.action === action)
  const stuck = own.find((job) => job.state === 'stuck')
  if (stuck === undefined) return own.length > 0
  const message = `the workers gave it up after ${stuck.tries} tries: ${stuck.error ?? ''}`
  const hint = `when the cause is mended${isOfWholeHost(session.caller) ? '' : ', a person types'}: writ worker retry ${stuck.id}`
  throw faultError('machine.job', action, message, hint)
}

function removedBefore(action: string): Error {
  const message = `the proposal ${showName(action)} is no longer queued, and nothing came of it: a person removed its job, or its promotion was interrupted`
  const hint = `writ show ${action}; to have it done after all, propose it again with a fresh action id`
  return faultError('machine.job', action, message, hint)
}
