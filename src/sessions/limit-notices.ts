/**
 * Notices about the limits of a session (S-12a): which commands they ended, that its time is nearly over,
 * and that its budget is used up. The person gets each at once, the agent with the next answer to a
 * report of its hooks.
 */
import type { SpentBudget } from '../gateway/index.ts'
import type { EndedCommands } from '../sandbox/index.ts'
import type { SessionTerms } from './session-files.ts'

/** How long before its end the person hears of it. */
const ENDS_SOON_MS = 5 * 60 * 1000
const MINUTE_MS = 60_000
const SHORT_ID = 8
const MORE = { requests: '--requests 100', tokens: '--tokens 100000', cost: '--cost 1' } as const

export class LimitNotices {
  readonly #terms: SessionTerms
  readonly #tell: (line: string) => void
  #words: string[] = []
  #ended: EndedCommands = { memory: 0, processes: 0, disk: 0 }
  #endsAtMs = 0
  #isEndNear = false

  /** `tell` is for the person. */
  constructor(terms: SessionTerms, tell: (line: string) => void) {
    this.#terms = terms
    this.#tell = tell
  }

  /** Moves the end of the session; returns when it is. */
  extend(byMs: number): number {
    this.#endsAtMs += byMs
    this.#isEndNear = false
    return this.#endsAtMs
  }

  /** Whether its time is over, so that its processes are being ended. */
  isOver(nowMs: number): boolean {
    return nowMs >= this.#endsAtMs
  }

  /** Keeps words until a hook of the agent reports. */
  keep(words: string): void {
    this.#words.push(words)
  }

  /** What the agent has not heard yet. */
  words(): readonly string[] {
    return this.#words.splice(0)
  }

  look(ended: EndedCommands, nowMs: number): void {
    for (const cap of ['memory', 'processes', 'disk'] as const) {
      if (ended[cap] <= this.#ended[cap]) continue
      const words = limitWords(cap, this.#terms)
      this.#tell(words)
      this.#words.push(words)
    }
    this.#ended = ended
    const leftMs = this.#endsAtMs - nowMs
    if (this.#isEndNear || leftMs > ENDS_SOON_MS) return
    this.#isEndNear = true
    const left =
      leftMs < MINUTE_MS
        ? `${Math.max(1, Math.round(leftMs / 1_000))} s`
        : `${Math.round(leftMs / MINUTE_MS)} min`
    this.#tell(`the session ends in ${left}; more time: ${this.#extension('--time 2h')}`)
  }

  /** `question` is the one about it; null if the gate refused to ask. */
  spent({ budget, words }: SpentBudget, question: string | null): void {
    const given = `give more: ${this.#extension(MORE[budget])}`
    this.#tell(
      `${words}; ${question === null ? '' : `answer \`writ inbox ${question}\`, or `}${given}`,
    )
  }

  #extension(option: string): string {
    return `\`writ session extend ${this.#terms.session_id.slice(-SHORT_ID)} ${option}\``
  }
}

function limitWords(
  cap: 'disk' | 'memory' | 'processes',
  { limits }: Pick<SessionTerms, 'limits'>,
): string {
  if (cap === 'memory') {
    return `a command needed more than the ${limits.memory_mb} MB of memory of the session and was ended; \`writ run --memory\` gives more`
  }
  if (cap === 'disk') {
    return `the changes of the session take more than its ${limits.disk_mb} MB, or the disk that holds them is nearly full, so the commands that ran were ended and their files stay; remove what is not needed (\`du -sh *\`), or start again with \`writ run --disk MB\`; \`writ gc\` outside removes leftovers of writ`
  }
  return 'the session had too many processes, so the commands that ran were ended; let them start fewer at a time'
}
