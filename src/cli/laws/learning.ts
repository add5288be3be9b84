/**
 * `writ laws learn`: reads what humans answered to questions of agents, and writes a law file with the
 * grants that would have answered for them. Accepts nothing: `writ laws accept` does, as for any file.
 */
import { parseDocument } from 'yaml'
import type { Confirmation, Decision } from '../../contracts/index.ts'
import {
  type AnsweredChange,
  type AnsweredQuestion,
  type Change,
  compareAgain,
  displayOfRaw,
  FINDINGS_SHOWN_MAX,
  type Finding,
  type LearnedGrant,
  type Lessons,
} from '../../gate/index.ts'
import type { OpenedFact, ReplayLookup } from '../../ledger/index.ts'
import type { LedgerReader } from '../../store/index.ts'
import { counted } from '../../words/index.ts'
import type { Paint } from '../call/terminal.ts'
import { DecisionWalk, replayLookup } from '../history/decision-walk.ts'
import { evaluationOf, gatherDecision, NotKept } from '../history/past-decision.ts'
import { plain } from '../history/text.ts'

/** What a decision may say besides the missing grant. */
const PLAIN: ReadonlySet<string> = new Set([
  'effect.ungranted',
  'effect.discarded',
  'effect.build_execution',
  'effect.not_taken',
  'laws.unaccepted',
])

/** How long a denial counts against everything once the paths of its act are no longer kept. */
const UNREAD_DENIAL_MS = 30 * 24 * 60 * 60 * 1000

/**
 * The answers of humans about files of agents, oldest first: each yes from a moment on, and each no of
 * all time. A no of the last 30 days whose act is no longer kept has no list of changes.
 */
export async function answersIn(
  ledger: LedgerReader,
  stream: string,
  since: string | undefined,
  nowMs: number,
): Promise<readonly AnsweredQuestion[]> {
  const walk = new DecisionWalk(replayLookup(ledger))
  const found: AnsweredQuestion[] = []
  for await (const fact of walk.decisions(stream)) {
    // The walk gives decisions only.
    const decision = fact.payload as Decision
    if (decision.decision !== 'CONFIRM') continue
    const given = await givenAnswer(fact, decision, walk)
    if (given === null) continue
    const isNo = given.answer === 'DENIED'
    if (!isNo && since !== undefined && fact.occurred_at < since) continue
    try {
      const one = await answerTo(fact, decision, given, walk)
      if (one !== null) found.push(one)
    } catch (error) {
      if (!(error instanceof NotKept)) throw error
      // A yes that is no longer kept teaches nothing.
      if (isNo && Date.parse(given.answered_at) > nowMs - UNREAD_DENIAL_MS)
        found.push(unreadDenial(decision, given))
    }
  }
  return found
}

/** The answer of humans to a question: one no among several answers is a no. */
async function givenAnswer(
  { stream }: OpenedFact,
  { action_id, decided_at }: Decision,
  lookup: ReplayLookup,
): Promise<Confirmation | null> {
  const facts = await lookup.ofAction(stream, 'confirmation_v1', action_id)
  const answers = facts
    .filter(({ principal, payload }) => principal.kind === 'human' && payload !== null)
    // The lookup gives confirmations only.
    .map(({ payload }) => payload as Confirmation)
    .filter((one) => one.asked_at === decided_at && one.answer !== 'EXPIRED')
  return answers.find(({ answer }) => answer === 'DENIED') ?? answers[0] ?? null
}

function unreadDenial({ action_id }: Decision, { answered_at }: Confirmation): AnsweredQuestion {
  const none = { agent: '', session: null, isMeant: true, isPlain: false, changes: null }
  return { action_id, answer: 'no', at: answered_at, ...none }
}

async function answerTo(
  fact: OpenedFact,
  decision: Decision,
  given: Confirmation,
  lookup: ReplayLookup,
): Promise<AnsweredQuestion | null> {
  const { action_id, codes } = decision
  const { evaluation } = await evaluationOf(fact, decision, lookup)
  const { agent, session, host } = evaluation
  const record = await gatherDecision(fact, decision, evaluation, lookup)
  const comparison = compareAgain(record, FINDINGS_SHOWN_MAX)
  const isNo = given.answer === 'DENIED'
  // A denial of any asker counts; a yes is learned for a known agent.
  if (comparison === null || (agent === undefined && !isNo)) return null
  const { assurance, given_ahead } = given
  const isProven = assurance === 'passphrase' || assurance === 'passkey'
  return {
    action_id,
    agent: agent ?? '',
    answer: isNo ? 'no' : 'yes',
    isMeant: isProven || (assurance === 'terminal' && given_ahead !== true),
    at: given.answered_at,
    session: session?.session_id ?? null,
    isPlain: codes.every((code) => PLAIN.has(code)),
    changes: changesOf(comparison.promoted, comparison.findings, host.workspace),
  }
}

function changesOf(
  changes: readonly Change[],
  findings: readonly Finding[],
  workspace: string,
): readonly AnsweredChange[] {
  const deferred = new Set(
    findings.flatMap(({ code, path }) => (code === 'effect.deferred_execution' ? [path] : [])),
  )
  return changes.flatMap(({ path, before, after }) => {
    const text = displayOfRaw(path)
    if (!text.startsWith(`${workspace}/`)) return []
    const kind = after === null ? 'delete' : before === null ? 'create' : 'change'
    const isDeferred = deferred.has(text)
    return [{ path: text.slice(workspace.length + 1), kind, isDeferred } as const]
  })
}

const DAY_MS = 24 * 60 * 60 * 1000
const GRANT_DAYS = 90

/** The text of the law file with the grants added; comments and the rest of it stay. */
export function withGrants(text: string, grants: readonly LearnedGrant[], nowMs: number): string {
  const document = parseDocument(text.trim() === '' ? 'laws: []\n' : text)
  const until = new Date(nowMs + GRANT_DAYS * DAY_MS).toISOString()
  const rows = grants.map(({ agent, kind, glob }, index) => ({
    grant_id: `LEARNED_${until.slice(0, 10).replaceAll('-', '')}_${index + 1}`,
    actors: [`agent:${agent}`],
    [kind]: [glob],
    until,
  }))
  if (document.has('grants')) for (const row of rows) document.addIn(['grants'], row)
  else document.set('grants', rows)
  return document.toString()
}

export function lessonsText({ grants, refused }: Lessons, file: string, paint: Paint): string {
  const lines = grants.map(({ agent, kind, glob, support }) => {
    const { answers, days, sessions } = support
    const why = `${counted(answers, 'yes', 'times yes')} on ${counted(days, 'day')} in ${counted(sessions, 'session')}, never no`
    return `${paint.good('learned')}  ${plain(agent)} may ${kind} ${plain(glob)}  ${paint.dim(why)}`
  })
  const against = refused.map(({ agent, kind, glob, counter_examples }) => {
    const ids = counter_examples.join(', ')
    return `${paint.bad('not learned')}  ${plain(agent)} may ${kind} ${plain(glob)}  ${paint.dim(`a human said no to ${ids}`)}`
  })
  const none =
    'nothing to learn: no directory has 5 typed or proven answers of yes, on 3 days, in 2 sessions'
  const end =
    grants.length === 0
      ? [none]
      : [
          `written to ${file}; nothing is in force: look at it, copy it to .writ/laws.yaml, then \`writ laws accept\``,
        ]
  return `${[...lines, ...against, ...end].join('\n')}\n`
}
