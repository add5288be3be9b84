/**
 * Acts as tools see them: proposed through the gate, waited for, read again. The answer of a person is
 * read from the ledger and from nowhere else.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { CODES, isCode } from '../base/index.ts'
import type { SandboxResult } from '../contracts/index.ts'
import { type ActHistory, readBody } from '../history/index.ts'
import { contentOf, parseBodyMarker } from '../ledger/index.ts'
import type { GateAnswer, ProposeOptions } from '../service/index.ts'
import { resultText } from '../words/index.ts'
import type { CallerGround } from './ground.ts'
import type { ActionView } from './shapes.ts'

const OUTPUT_MAX = 50_000
const PATHS_MAX = 200
const LOOK_MS = 250
const TICK_MS = 1_000

/** What the client of a call hears of it, and how it gives up. */
export interface CallWatcher {
  readonly signal: AbortSignal
  /** Called at once, then every second while the call lasts. */
  readonly progress: (seconds: number, message: string) => Promise<void>
}

type Door = Pick<ProposeOptions, 'door' | 'declaredByApproval'> & { readonly dryRun?: boolean }

/** Takes a document the whole way, or to a question. A client that gives up ends it. */
export async function propose(
  ground: CallerGround,
  document: unknown,
  { dryRun = false, ...door }: Door,
  watcher: CallWatcher,
): Promise<ActionView> {
  const { host } = ground
  const abort = AbortSignal.any([watcher.signal, host.stop])
  const answer = await withProgress(watcher, 'checking, rehearsing and deciding', () =>
    host.rehearsals.pass(() =>
      ground.withGate((gate) => {
        abort.throwIfAborted()
        // The proposer does not answer: the question goes to the inbox.
        const confirm = async () => ({ kind: 'wait' }) as const
        return gate.propose(document, { ...door, dryRun, confirm, abort })
      }),
    ),
  )
  const { violations = [] } = answer
  if (dryRun || violations.length > 0) return answerView(answer, dryRun)
  const act = await ground.findOwn(answer.action_id)
  // Another principal used the id before: of that act nothing is shown.
  return act === null ? answerView(answer, dryRun) : actView(ground, act, answer.result)
}

async function withProgress<T>(
  watcher: CallWatcher,
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  const began = Date.now()
  const tell = (): void => {
    const seconds = Math.round((Date.now() - began) / 1_000)
    // A client that is gone hears nothing; its call ends by the signal.
    watcher.progress(seconds, `${what}, ${seconds} s`).catch(() => undefined)
  }
  tell()
  const timer = setInterval(tell, TICK_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

/** An act of the caller, after its question was answered or the time was over. */
export async function waitFor(
  ground: CallerGround,
  id: string,
  seconds: number,
  watcher: CallWatcher,
): Promise<ActionView> {
  const until = Date.now() + seconds * 1_000
  return withProgress(watcher, 'waiting for the answer of a person', async () => {
    for (;;) {
      const act = await ground.ownAct(id)
      const isOpen = act.outcome === 'waiting' || act.outcome === 'unknown'
      const isOver = Date.now() >= until || watcher.signal.aborted || ground.host.stop.aborted
      if (!isOpen || isOver) return actView(ground, act, null)
      await pause(LOOK_MS, undefined, { signal: watcher.signal }).catch(() => undefined)
    }
  })
}

/** `shown` is the result with its outputs, where the caller has it at hand. */
async function actView(
  ground: CallerGround,
  act: ActHistory,
  shown: SandboxResult | null,
): Promise<ActionView> {
  const { id, outcome, at, decision } = act
  const result = shown ?? act.result?.payload ?? null
  const question = outcome === 'waiting' ? await questionOf(ground, id) : null
  const codes = [...(decision?.payload.codes ?? [])]
  const words = says(outcome, codes, result)
  return {
    says: question === null ? words : `${words} ${question.answer}`,
    action_id: id,
    status: outcome,
    decision: decision?.payload.decision ?? null,
    codes,
    at,
    ...(await resultView(ground, result)),
    question,
    violations: [],
  }
}

/** A document that broke its contract, or a dry run: neither changes anything. */
function answerView(answer: GateAnswer, dryRun: boolean): ActionView {
  const { action_id, decision, result, violations = [] } = answer
  const status = violations.length > 0 ? 'refused' : dryRun ? 'dry run' : 'blocked'
  const [first] = violations
  const words =
    first === undefined
      ? `Nothing was recorded or changed; it would be decided ${decision.decision}.`
      : `The proposal breaks its contract at ${first.path || '/'}: ${first.message}. Nothing was changed.`
  return {
    says: words,
    action_id,
    status,
    decision: decision.decision,
    codes: [...decision.codes],
    at: null,
    effects: effectsOf(result),
    exit_code: result?.execution.exit_code ?? null,
    stdout: cut(result?.outputs.stdout ?? ''),
    stderr: cut(result?.outputs.stderr ?? ''),
    question: null,
    violations: violations.map(({ code, path, message }) => ({ code, path, message })),
  }
}

async function resultView(ground: CallerGround, result: SandboxResult | null) {
  const { stdout = '', stderr = '' } = result?.outputs ?? {}
  return {
    effects: effectsOf(result),
    exit_code: result?.execution.exit_code ?? null,
    stdout: cut(await outputText(ground, stdout)),
    stderr: cut(await outputText(ground, stderr)),
  }
}

function effectsOf(result: SandboxResult | null): ActionView['effects'] {
  if (result === null) return { added: 0, modified: 0, deleted: 0, paths: [] }
  const { counts, added, modified, deleted } = result.diff
  const paths = [...deleted, ...modified, ...added].map(({ path }) => path)
  return { ...counts, paths: paths.slice(0, PATHS_MAX) }
}

/** The ledger may keep an output as a body. */
async function outputText({ host }: CallerGround, text: string): Promise<string> {
  const marker = parseBodyMarker(text)
  if (marker === null) return text
  const bytes = await readBody(host.home.ledger, marker.digest)
  return bytes === null ? '' : new TextDecoder().decode(contentOf(bytes))
}

function cut(text: string): string {
  return text.length <= OUTPUT_MAX ? text : `${text.slice(0, OUTPUT_MAX)}\n[cut]`
}

async function questionOf(ground: CallerGround, id: string): Promise<ActionView['question']> {
  const found = await ground.withGate(async (gate) =>
    (await gate.pending()).find(({ action_id }) => action_id === id),
  )
  if (found === undefined) return null
  return questionView(ground, found.id, found.expires_at)
}

/** How a person answers; no tool does. */
export function questionView(
  { host }: CallerGround,
  id: string,
  expires_at: string,
): NonNullable<ActionView['question']> {
  const link = host.console === null ? '' : `, or opens ${questionAddress(host.console, id)}`
  const answer = `A person answers: writ inbox ${id}, then writ approve ${id} or writ deny ${id}${link}; until ${expires_at}. action_status shows the answer.`
  return { id, expires_at, answer }
}

export function questionAddress(console: string, id: string): string {
  return new URL(`questions/${encodeURIComponent(id)}`, console).href
}

const OUTCOMES: Readonly<Record<ActHistory['outcome'], string>> = {
  promoted: 'Promoted: the effects are real.',
  'no effects': 'Done; it changed nothing.',
  waiting: 'It waits for a person; nothing is changed yet.',
  denied: 'A person said no; nothing was changed.',
  expired: 'No person answered in time; nothing was changed.',
  superseded: 'A newer proposal of the same took its place; nothing was changed.',
  blocked: 'Blocked; nothing was changed.',
  failed: 'The command failed and changed nothing.',
  undone: 'It was promoted, and taken back later.',
  'put back': 'Its promotion was put back; nothing is changed.',
  approved: 'A person approved it; it is not promoted yet.',
  held: 'It is held by a flow.',
  unfinished: 'It is decided and not promoted yet.',
  interrupted: 'Its promotion was interrupted: a person runs `writ recover`.',
  unknown: 'It is under way.',
}

function says(
  outcome: ActHistory['outcome'],
  codes: readonly string[],
  result: SandboxResult | null,
): string {
  const effects = result === null ? '' : ` Effects: ${resultText(result)}.`
  const isWhy = outcome === 'blocked' || outcome === 'waiting' || outcome === 'failed'
  const why = isWhy
    ? codes.map((code) => `${isCode(code) ? CODES[code].says : 'a law'} (${code})`)
    : []
  return `${OUTCOMES[outcome]}${why.length === 0 ? '' : ` Why: ${why.join('; ')}.`}${effects}`
}
