/**
 * Commands of a session that need the person's credentials (S-15), such as `npm publish`: the programs in
 * `bin/held`, which come first on the PATH inside, hand them over; each is held, asked about, and run by
 * the host after a yes.
 */
import { digestDocument } from '../base/index.ts'
import type { CommandKeeper, CommandOrder, HeldCommand, HeldCommandEnd } from '../gateway/index.ts'
import type { CommandWish, SessionGround, SessionSurface } from '../service/index.ts'
import { HeldAnswers } from './held-answers.ts'

interface CommandParts {
  readonly surface: SessionSurface
  readonly ground: Pick<SessionGround, 'agent' | 'descriptor'>
  /** The scope of the session. */
  readonly trees: readonly string[]
  /** Tells the person. */
  readonly tell: (line: string) => void
}

const WORDS_MAX = 500
const INPUTS_MAX = 50
const WORD_MAX = 65_536
/** What ends or turns a line: a name could write lines of the question. */
const OF_LINES = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u

export class HeldCommands implements CommandKeeper {
  readonly #parts: CommandParts
  readonly #answers: HeldAnswers

  constructor(parts: CommandParts) {
    this.#parts = parts
    this.#answers = new HeldAnswers(parts.surface, 'command', parts.tell)
  }

  async hold({ program, document }: CommandOrder): Promise<HeldCommand | null> {
    const { surface, ground, trees } = this.#parts
    const wish = { ...readWish(program, document), trees }
    if (!surface.isHeld(wish)) return null
    const { argv, inputs } = wish
    const files = inputs.map(({ name, bytes }) => ({ name, text: bytes.toString('latin1') }))
    const key = digestDocument({ program, argv: JSON.stringify(argv), files })
    const actionId = await this.#answers.ask(key, `a command of ${program}`, () =>
      surface.command(ground, wish),
    )
    const says = `${program} is held until a person has answered: writ inbox`
    return { says, end: this.#end(key, actionId) }
  }

  async #end(key: string, actionId: string): Promise<HeldCommandEnd> {
    const { isSent, says } = await this.#answers.end(key, actionId)
    const output = isSent ? this.#parts.surface.commandOutput(actionId) : ''
    return { isDone: isSent, says, output }
  }
}

/** Reads what a program inside sent; any process of the session may have. */
function readWish(program: string, document: unknown): Omit<CommandWish, 'trees'> {
  // Every field is looked at below.
  const { argv, inputs } = (document ?? {}) as Readonly<Record<string, unknown>>
  const isList = Array.isArray(argv) && argv.length <= WORDS_MAX
  const areInputs = Array.isArray(inputs) && inputs.length <= INPUTS_MAX
  if ((program !== 'npm' && program !== 'gh') || !isList || !areInputs) throw malformed()
  return {
    program,
    argv: argv.map((word) => readWord(word, inputs.length)),
    inputs: inputs.map(readInput),
  }
}

function readWord(word: unknown, inputs: number): CommandWish['argv'][number] {
  if (isWord(word)) return word
  // Every field is looked at below.
  const { before = '', input, after = '' } = (word ?? {}) as Readonly<Record<string, unknown>>
  const isIndex = Number.isInteger(input) && Number(input) >= 0 && Number(input) < inputs
  if (!isIndex || !isWord(before) || !isWord(after)) throw malformed()
  return { before, input: Number(input), after }
}

function readInput(input: unknown): CommandWish['inputs'][number] {
  // Both fields are looked at below.
  const { name, base64 } = (input ?? {}) as Readonly<Record<string, unknown>>
  if (!isWord(name) || typeof base64 !== 'string') throw malformed()
  if (OF_LINES.test(name)) throw new Error('the name of a file that is handed over is not one line')
  return { name, bytes: Buffer.from(base64, 'base64') }
}

function isWord(word: unknown): word is string {
  return typeof word === 'string' && word.length <= WORD_MAX && !word.includes('\0')
}

function malformed(): Error {
  return new Error('this is no command that can be held')
}
