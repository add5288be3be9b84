/**
 * Asks which changes to keep when a person's run changed their home outside the scope: all, only the
 * scope, or none. The effects themselves are shown and asked about afterwards. Without an answer all
 * changes wait in the inbox.
 */
import type {
  Confirm,
  GateAnswer,
  HomeChoice,
  LawWords,
  ProposeOptions,
} from '../../service/index.ts'
import { counted, grouped } from '../../words/index.ts'
import { canAsk } from '../call/passphrase.ts'
import { findingWords } from '../effects/entry-text.ts'
import { reasonLines } from '../effects/question-text.ts'
import { obeysSequences, resetFor, type SeenOutput } from '../effects/reset.ts'
import { askWord } from '../gate/answer-line.ts'
import type { ConfirmationContext } from '../gate/confirm.ts'
import { isPiped } from '../gate/confirm.ts'

type LiveRun = NonNullable<ProposeOptions['live']>

const SHOWN_MAX = 20

export class HomeQuestion {
  readonly #asking: ConfirmationContext
  readonly #live: { readonly wasEnded: boolean; readonly seen: SeenOutput }
  #choice: HomeChoice | null = null
  /** Whether the person was asked, and so knows what is kept. */
  wasAsked = false

  constructor(
    asking: ConfirmationContext,
    live: { readonly wasEnded: boolean; readonly seen: SeenOutput },
  ) {
    this.#asking = asking
    this.#live = live
  }

  /** Returns the same run; it asks about the home if a person is at the terminal. */
  asking(run: LiveRun): LiveRun {
    const { call, session, isBelowAgent } = this.#asking
    const isPersons = session.caller.principal.kind === 'human' && !isBelowAgent
    const isHere = !isPiped()
    if (!isPersons || !canAsk() || !isHere || call.options.isOn('yes')) return run
    return {
      ...run,
      chooseHome: (left) => this.#ask(left),
      onHomeRefused: (code, laws) => this.#refused(code, laws),
    }
  }

  /** Answers without asking if the person chose to keep none of the changes, or to answer later. */
  confirming(confirm: Confirm): Confirm {
    return async (question) => {
      if (this.#choice === 'none') return { kind: 'no' }
      return this.#choice === 'later' ? { kind: 'wait' } : confirm(question)
    }
  }

  /** Returns what a yes to the waiting question keeps, and how to keep less. */
  advice({ pending, result }: GateAnswer): readonly string[] {
    const isKept = result?.findings.some(({ code }) => code === 'effect.home_kept') ?? false
    if (pending === undefined || !isKept) return []
    const { id } = pending
    return [
      `\`writ approve ${id}\` keeps all of them; to keep only the scope: \`writ deny ${id}\`, run the command again and answer \`s\``,
    ]
  }

  async #ask(left: Parameters<NonNullable<LiveRun['chooseHome']>>[0]): Promise<HomeChoice> {
    if (this.#live.wasEnded) return 'scope'
    this.wasAsked = true
    const { terminal } = this.#asking.call
    if (obeysSequences(process.env['TERM'])) terminal.err(resetFor(this.#live.seen))
    const lines = left
      .slice(0, SHOWN_MAX)
      .map((finding) => `  ${findingWords(finding).where ?? ''}`)
    const more = left.length - SHOWN_MAX
    const heading = `The command also changed ${counted(left.length, 'path')} of your home outside the scope`
    const rest = more > 0 ? [`  and ${grouped(more)} more`] : []
    terminal.err(`${[terminal.paintError.strong(heading), ...lines, ...rest].join('\n')}\n`)
    this.#choice = await askWord(PROMPT, readChoice)
    return this.#choice
  }

  #refused(code: string, laws: readonly LawWords[]): void {
    const { terminal } = this.#asking.call
    const texts = new Map(laws.map(({ policy_id, text }) => [policy_id, text]))
    const [why = ''] = reasonLines([code], texts, terminal.paintError)
    terminal.err(
      `the changes to your home cannot be kept, only the scope is asked about:\n${why}\n`,
    )
  }
}

const PROMPT = '\nkeep which changes? [all, s: only the scope, N: none, later] '

const WORDS: ReadonlyMap<string, HomeChoice> = new Map([
  ['a', 'all'],
  ['all', 'all'],
  ['s', 'scope'],
  ['scope', 'scope'],
  ['', 'none'],
  ['n', 'none'],
  ['no', 'none'],
  ['none', 'none'],
  ['l', 'later'],
  ['later', 'later'],
])

/** Returns what a person typed; null for a word that is no answer. */
function readChoice(line: string): HomeChoice | null {
  return WORDS.get(line.trim().toLowerCase()) ?? null
}
