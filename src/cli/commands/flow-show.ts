/**
 * `writ flow show`: one node of a run for the person who judges it: the artifact, what the work would
 * change, what was said about it before, and what to type.
 */
import { faultError } from '../../base/index.ts'
import {
  type CompiledNode,
  elementAt,
  nodeName,
  nodesOf,
  nodeTitle,
  type RunStop,
  reviewsOf,
  stopsOf,
  versionOf,
} from '../../flow/index.ts'
import { displayOfRaw, rawOfText } from '../../gate/index.ts'
import {
  answerTemplate,
  askedOfPeople,
  findRun,
  lookAtRun,
  noteSeen,
  type PersonCommand,
  stagedBy,
  takenBack,
  type WalkedRun,
} from '../../runs/index.ts'
import type { HeldEffects } from '../../service/index.ts'
import { visible } from '../../words/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import type { Paint } from '../call/terminal.ts'
import { renderEffects, type View } from '../effects/render.ts'
import { stopsText, takenBackText } from '../flow/answer.ts'
import { findNode } from '../flow/answering.ts'
import { withFlows } from '../flow/open.ts'
import { withSentAnswers } from '../flow/sent-answers.ts'
import { plain } from '../history/text.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const [runName, node, ...others] = call.arguments
  if (runName === undefined || node === undefined || others.length > 0)
    throw usageError('say the run and the node', 'writ flow show RUN NODE')
  return withFlows(call, async ({ host }) => {
    const { run_id, workspace } = await findRun(host.ledger, host.stream, runName)
    const walked = await withSentAnswers(host.ledger, await lookAtRun(host, run_id))
    const shown = nodeOf(walked, findNode(walked.flow, node))
    for (const asked of askedOfPeople(walked))
      if (isAbout(shown, asked)) noteSeen(host, walked, asked)
    const actionId = stagedBy(walked, shown.subject.nodeId)
    const effects = actionId === null ? null : await host.attempts.effects(actionId)
    const all = await takenBack(host.ledger, host.stream, run_id, walked.facts)
    const taken = all.filter(({ node_id }) => node_id === shown.subject.nodeId)
    if (call.options.isOn('json')) {
      const back = taken.length === 0 ? {} : { taken_back: taken }
      await call.terminal.out(`${JSON.stringify({ ...jsonOf(shown, effects), ...back })}\n`)
      return EXIT.yes
    }
    // The tree may hold what is hidden from actors.
    const hidesContents = host.principal.kind !== 'human'
    await print(call, shown, effects, { base: rawOfText(workspace), hidesContents })
    await call.terminal.out(takenBackText(taken, call.terminal))
    return EXIT.yes
  })
}

/** Returns whether a question to a person is about what is shown. */
function isAbout({ node, subject }: ShownNode, { node_id, review }: PersonCommand): boolean {
  return node_id === node.nodeId || review?.target === subject.nodeId
}

interface ShownNode {
  readonly walked: WalkedRun
  readonly node: CompiledNode
  /** The work that a CHECK judges, else the node itself. */
  readonly subject: CompiledNode
  /** As `flow status` names it. */
  readonly status: string
  readonly stops: readonly RunStop[]
}

function nodeOf(walked: WalkedRun, nodeId: string): ShownNode {
  const { flow } = walked
  const node = flow.nodes[flow.nodeIndex.get(nodeId) ?? -1]
  if (node === undefined) throw faultError('flow.not_waiting', nodeId)
  const { pending, work } = elementAt(walked.state.nodes, node.index)
  // A CHECK that is called judges its caller.
  const judged = pending === null ? undefined : work.pin?.target
  const subject =
    flow.nodes[node.target] ?? flow.nodes[flow.nodeIndex.get(judged ?? '') ?? -1] ?? node
  const near = new Set([nodeId, subject.nodeId])
  const all = stopsOf(walked)
  const status = nodesOf(flow, walked.state, all)[node.index]?.status ?? ''
  const stops = walked.status === 'RUNNING' ? [] : all
  const own = stops.filter(({ node_id = '' }) => near.has(node_id))
  return { walked, node, subject, status, stops: own }
}

function jsonOf({ walked, node, subject, status, stops }: ShownNode, effects: HeldEffects | null) {
  const { flow, facts, state, runId } = walked
  const { entries, work } = elementAt(state.nodes, node.index)
  const judged = elementAt(state.nodes, subject.index).work
  return {
    run_id: runId,
    node_id: node.nodeId,
    title: nodeTitle(flow, node.nodeId),
    kind: node.document.kind,
    status,
    attempts: entries,
    ...(work.pin === null ? {} : { review: work.pin }),
    ...answerOf(walked, node.nodeId),
    subject: { node_id: subject.nodeId, title: nodeTitle(flow, subject.nodeId) },
    artifact: judged.artifact,
    version: versionOf(judged, state.rules),
    changes:
      effects?.changes.map(({ path, before, after }) => ({
        path: displayOfRaw(path),
        change: before === null ? 'added' : after === null ? 'deleted' : 'modified',
      })) ?? [],
    reviews: reviewsOf(flow, facts).filter(({ node_id }) => node_id === subject.nodeId),
    stops,
  }
}

/** What a person who is asked here fills in, and the commands that hand it over. */
function answerOf(walked: WalkedRun, nodeId: string) {
  const asked = askedOfPeople(walked).find(({ node_id }) => node_id === nodeId)
  return asked === undefined ? {} : { answer: answerTemplate(asked, walked.runId) }
}

/** Longer artifacts are cut unless all of them is wanted. */
const LINES_SHOWN = 60

async function print(
  call: CommandCall,
  shown: ShownNode,
  effects: HeldEffects | null,
  place: Pick<View, 'base' | 'hidesContents'>,
): Promise<void> {
  const { terminal, options } = call
  const { paint } = terminal
  const isWhole = options.isOn('all')
  await terminal.out(headText(shown, paint))
  await terminal.out(artifactText(shown, paint, isWhole))
  await terminal.out(reviewsText(shown, paint))
  if (effects !== null) {
    await terminal.out(`\n${paint.strong('what it would change')}\n`)
    const columns = terminal.isTty ? terminal.columns : null
    const view = { paint, whole: isWhole, columns, ...place }
    // A node declares all that it may do; what it did not do is no news.
    const findings = effects.findings.filter(({ code }) => code !== 'effect.not_observed')
    const shownEffects = { ...effects, findings }
    for await (const piece of renderEffects(shownEffects, view)) await terminal.out(piece)
  }
  await terminal.out(stopsText(shown.stops, paint))
}

function headText({ walked, node, subject, status }: ShownNode, paint: Paint): string {
  const { flow, runId, state } = walked
  const { entries } = elementAt(state.nodes, node.index)
  const version = versionOf(elementAt(state.nodes, subject.index).work, state.rules)
  const { kind, phase_id } = node.document
  const judged = subject === node ? '' : `, judges ${nodeName(flow, subject.nodeId)}`
  return [
    `${paint.strong(plain(nodeName(flow, node.nodeId)))}  ${plain(flow.document.title || flow.document.flow_id)}  ${paint.dim(runId)}\n`,
    `${kind} in ${plain(phase_id)}, ${status}, attempt ${entries}${plain(judged)}\n`,
    version === null ? '' : `version ${version}\n`,
  ].join('')
}

function artifactText({ walked, subject }: ShownNode, paint: Paint, isWhole: boolean): string {
  const { artifact } = elementAt(walked.state.nodes, subject.index).work
  if (artifact === null) return '\nno artifact yet\n'
  const lines = artifact.content.replace(/\n$/, '').split('\n')
  const shown = isWhole ? lines : lines.slice(0, LINES_SHOWN)
  const left = lines.length - shown.length
  return [
    `\n${paint.strong(plain(artifact.path))}\n`,
    ...shown.map((line) => `  ${visible(line)}\n`),
    left === 0 ? '' : `  ${paint.dim(`… ${left} more lines: --all`)}\n`,
  ].join('')
}

function reviewsText({ walked, subject }: ShownNode, paint: Paint): string {
  const { flow, facts } = walked
  const given = reviewsOf(flow, facts).filter(({ node_id }) => node_id === subject.nodeId)
  if (given.length === 0) return ''
  const lines = given.flatMap((review) => [
    `  ${plain(review.check_title)}: ${review.verdict} ${review.score}${review.is_word_changed ? ', by the score and not by the word' : ''}${review.runs_work === true ? ', this reviewer may have run the work' : ''}, ${plain(review.by ?? '')}, ${review.at}\n`,
    ...(review.summary === '' ? [] : [`    ${plain(review.summary)}\n`]),
    ...review.suggestions.map(({ change }) => `    - ${plain(change)}\n`),
  ])
  return `\n${paint.strong('reviews')}\n${lines.join('')}`
}
