/** A person's yes or no at a CHECK that asks them: becomes the review that the run waits for. */
import { type FaultError, faultError, showName } from '../../base/index.ts'
import { nodeName, pinnedVersion } from '../../flow/index.ts'
import {
  answerOrder,
  askedOfPeople,
  type FlowHost,
  filesAskedAbout,
  isElsewhere,
  lastSeen,
  type PersonCommand,
  verdictText,
  type WalkedRun,
} from '../../runs/index.ts'
import type { CommandCall, Exit } from '../call/command.ts'
import { usageError } from '../call/command.ts'
import { type Addressed, answerRun, notWaiting } from './answering.ts'

const COMMENT_MAX = 4_000

export async function judgeBy(call: CommandCall, verdict: 'approve' | 'reject'): Promise<Exit> {
  const [runName, node, ...others] = call.arguments
  const comment = call.options.text('comment')?.trim() ?? ''
  if (runName === undefined || node === undefined || others.length > 0)
    throw usage(verdict, 'say the run and the node')
  if (verdict === 'reject' && comment === '')
    throw usage(verdict, 'say with `--comment` what has to change: it goes to the next attempt')
  if (comment.length > COMMENT_MAX)
    throw usage(verdict, `a comment has at most ${COMMENT_MAX} characters`)
  let version: string | null = null
  let artifact: string | null = null
  const make = async ({ host, run, nodeId }: Addressed) => {
    const command = reviewAt(run, nodeId)
    if (command.review === null) throw notReview(run, command)
    version = pinnedVersion(command.review)
    artifact = command.review.artifact_digest
    refuseOtherVersion(run, command, call.options.text('digest'))
    if (call.options.text('digest') === null) {
      if (verdict === 'approve') await refuseElsewhereUnseen(host, run, command)
      refuseUnseen(run, command, lastSeen(host, run, command.node_id), verdict)
    }
    const text = verdictText(verdict, command.review, comment === '' ? 'approved' : comment)
    const { principal, namespace, clock } = host
    return answerOrder(run, { command, text, principal, namespace, nowMs: clock.nowMs() })
  }
  const told = () => (version === null ? {} : { artifact_digest: artifact, version })
  const exit = await answerRun(call, [runName, node], make, told)
  if (version !== null && !call.options.isOn('json'))
    await call.terminal.out(`it is about the version ${version}\n`)
  return exit
}

/** The work may have been run again since the person looked at it. */
function refuseOtherVersion(
  { flow, runId }: WalkedRun,
  { node_id, review }: PersonCommand,
  wanted: string | null,
): void {
  const now = pinnedVersion(review)
  if (wanted === null || wanted === now) return
  const asked = now === null ? 'is empty: the work has left nothing' : `is ${now}`
  const message = `the version that ${nodeName(flow, node_id)} asks about ${asked}, not ${showName(wanted)}`
  const hint = `look at it: writ flow show ${runId} ${node_id}`
  throw faultError('flow.not_waiting', node_id, message, hint)
}

/** Changed files of a run lie on the machine that walks it, so here a person does not see what they approve. */
async function refuseElsewhereUnseen(
  { ledger }: Pick<FlowHost, 'ledger'>,
  run: WalkedRun,
  { node_id, review }: PersonCommand,
): Promise<void> {
  if (review === null || filesAskedAbout(run, review).length === 0) return
  const { flow, runId } = run
  if (!(await isElsewhere(ledger, runId))) return
  const message = `the changed files that ${nodeName(flow, node_id)} asks about lie on another machine of the home, where the run is walked`
  const hint = `look and answer there: writ flow show ${runId} ${node_id}; or say yes here to files that you have seen: writ flow approve ${runId} ${node_id} --digest ${pinnedVersion(review)}`
  throw faultError('machine.elsewhere', node_id, message, hint)
}

/** The person looked at another version than the one that they would answer about. */
function refuseUnseen(
  { flow, runId }: WalkedRun,
  { node_id, review }: PersonCommand,
  seen: string | null,
  verdict: 'approve' | 'reject',
): void {
  const now = pinnedVersion(review)
  if (seen === null || now === null || seen === now) return
  const message = `${nodeName(flow, node_id)} asks about the version ${now} now; the version that you looked at, ${seen}, was withdrawn`
  const comment = verdict === 'reject' ? ' --comment TEXT' : ''
  const hint = `look at it: writ flow show ${runId} ${node_id}; or answer about it unseen: writ flow ${verdict} ${runId} ${node_id}${comment} --digest ${now}`
  throw faultError('flow.not_waiting', node_id, message, hint)
}

/** What a person is asked at a CHECK, or at the one CHECK that waits to judge this work. */
function reviewAt(run: WalkedRun, nodeId: string): PersonCommand {
  const asked = askedOfPeople(run)
  const own = asked.find(({ node_id }) => node_id === nodeId)
  if (own !== undefined) return own
  const [only, ...others] = asked.filter(({ review }) => review?.target === nodeId)
  if (only === undefined) {
    const name = nodeName(run.flow, nodeId)
    throw notWaiting(run, nodeId, `no person is asked to judge ${name}`)
  }
  if (others.length === 0) return only
  const names = [only, ...others].map(({ node_id }) => nodeName(run.flow, node_id)).join(', ')
  const message = `several checks of ${nodeName(run.flow, nodeId)} ask: ${names}`
  throw faultError('flow.node_ambiguous', nodeId, message, 'name the check')
}

function notReview({ flow, runId }: WalkedRun, { node_id }: PersonCommand): FaultError {
  const message = `${nodeName(flow, node_id)} asks for work, not for a yes or a no`
  const hint = `writ flow answer ${runId} ${node_id} --file ANSWER.json`
  return faultError('flow.not_waiting', node_id, message, hint)
}

function usage(verdict: 'approve' | 'reject', message: string): FaultError {
  const comment = verdict === 'approve' ? '[--comment TEXT]' : '--comment TEXT'
  return usageError(message, `writ flow ${verdict} RUN NODE ${comment} [--digest DIGEST]`)
}
