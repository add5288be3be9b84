/**
 * Which programs ran in a session between two settles (S-5), for agents whose hooks report nothing: each
 * with the programs that started it. Seen by looking now and then, so a program that ends at once can be
 * missed; the one that started it is there then. What an agent runs is its own choice: this says who
 * wrote, and allows nothing.
 */
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

interface RunProgram {
  readonly parent: number
  readonly argv: readonly string[]
}

type ReadProgram = (pid: number) => RunProgram | null

const PROGRAMS_MAX = 40
const WORDS_MAX = 6
const TEXT_MAX = 160
const DEPTH_MAX = 8
/** Values of words that look like a secret are left out. */
const SECRET = /^(-*[\w-]*(?:token|secret|passw(?:or)?d|key|auth)[\w-]*[=:]).+/i
const SECRET_OPTION = /^--?[\w-]*(?:token|secret|passw(?:or)?d|key|auth)[\w-]*$/i

export class ProgramWatch {
  readonly #read: ReadProgram
  readonly #texts = new Set<string>()

  constructor(read: ReadProgram = readProgram) {
    this.#read = read
  }

  /** Looks at the processes of a session. */
  look(processes: readonly number[]): void {
    const found = new Map(
      processes.flatMap((pid) => {
        const program = this.#read(pid)
        return program === null || program.argv.length === 0 ? [] : [[pid, program] as const]
      }),
    )
    for (const program of found.values()) {
      if (this.#texts.size < PROGRAMS_MAX) this.#texts.add(textOf(program, found))
    }
  }

  /** Those seen since `clear` was called last. */
  get seen(): readonly string[] {
    return [...this.#texts]
  }

  /** Called when what they changed is settled. */
  clear(): void {
    this.#texts.clear()
  }
}

/** `bash > npm > node build.js`. */
function textOf(program: RunProgram, all: ReadonlyMap<number, RunProgram>): string {
  const names: string[] = []
  let above = all.get(program.parent)
  for (let depth = 0; above !== undefined && depth < DEPTH_MAX; depth++) {
    names.unshift(basename(above.argv[0] ?? ''))
    above = all.get(above.parent)
  }
  const [first = '', ...rest] = program.argv
  const words = [basename(first), ...withoutSecrets(rest).slice(0, WORDS_MAX)].join(' ')
  const text = [...names, words].join(' > ').replaceAll(/\p{Cc}+/gu, ' ')
  return text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX - 1)}…`
}

function withoutSecrets(words: readonly string[]): readonly string[] {
  return words.map((word, index) =>
    SECRET_OPTION.test(words[index - 1] ?? '') ? '…' : word.replace(SECRET, '$1…'),
  )
}

function readProgram(pid: number): RunProgram | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1] ?? 0)
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    return { parent, argv: words.slice(0, -1) }
  } catch {
    // It ended meanwhile.
    return null
  }
}
