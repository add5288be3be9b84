/** Homes with several humans, each with a token and a passphrase of their own, and a law for them. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Around, type Ended, Place } from '../cli-gate/place.ts'

export const WORDS = {
  ann: 'ann says these long words',
  bob: 'bob says other long words',
  cid: 'cid has a third of them',
} as const
export type Human = keyof typeof WORDS

export const PASS = ['--pass-fd', '3'] as const

/** Below `prod/` several humans approve; below `deep/` three. */
export function severalLaw(glob: string, id: string, approvals: number): string {
  return `  - policy_id: ${id}
    tier: 2
    policy_expr: touches('${glob}')
    priority: 60
    override_mode: merge
    violation_action: confirm
    approvals: ${approvals}
`
}

export class Humans {
  readonly place: Place
  readonly #tokens = new Map<Human, string>()
  /** Besides Ann, who have a passphrase. */
  readonly #proven: Human[] = []

  constructor(name: string) {
    this.place = new Place(name, { runs: 'warm' }).init(WORDS.ann)
  }

  /** Registers more laws in front of those of a new home. */
  laws(...laws: readonly string[]): this {
    const file = join(this.place.project, '.writ', 'laws.yaml')
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace('laws:\n', `laws:\n${laws.join('')}`))
    this.all(['laws', 'accept', '--yes'])
    return this
  }

  /** Everyone with a passphrase types it, until it is done: one, or as many as a law wants. */
  all(args: readonly string[]): Ended {
    const proven = ['ann', ...this.#proven] as const
    const ends: Ended[] = []
    for (const human of proven) {
      const ended = this.as(human, args)
      ends.push(ended)
      if (ended.status === 0) return ended
      expect(ended.status, ended.out + ended.err).toBe(3)
    }
    throw new Error(`not enough humans for ${args.join(' ')}: ${ends.at(-1)?.err}`)
  }

  settings(text: string): this {
    const file = join(this.place.project, '.writ', 'laws.yaml')
    writeFileSync(file, `${readFileSync(file, 'utf8')}${text}`)
    this.all(['laws', 'accept', '--yes'])
    return this
  }

  /** Known, with a token; and with a passphrase unless it is said otherwise. */
  add(human: Exclude<Human, 'ann'>, hasPassphrase = true): this {
    const name = `human:${human}@local`
    this.all(['principal', 'add', name])
    const { json } = this.as('ann', ['token', 'create', name, '--json'])
    this.#tokens.set(human, json.token)
    if (!hasPassphrase) return this
    for (const other of ['ann', ...this.#proven] as const) {
      expect(this.as(other, ['principal', 'endorse', name]).status).toBe(0)
    }
    expect(this.as(human, ['principal', 'pass']).status).toBe(0)
    this.#proven.push(human)
    return this
  }

  token(human: Human): string | undefined {
    return this.#tokens.get(human)
  }

  /** With the token and the passphrase of this human. */
  as(human: Human, args: readonly string[], around: Around = {}): Ended {
    const token = this.#tokens.get(human)
    return this.place.writ([...args, ...PASS], {
      passphrase: WORDS[human],
      ...(token === undefined ? {} : { token }),
      ...around,
    })
  }

  /** Something below a directory that a law watches; the question waits. */
  ask(path: string, text = 'x'): { readonly id: string; readonly actionId: string } {
    const folder = path.split('/').slice(0, -1).join('/')
    const script = `mkdir -p ${folder}; echo ${text} > ${path}`
    const ended = this.place.exec([], script)
    expect(ended.status, ended.err).toBe(75)
    const { id, action_id: actionId } = this.place.pending().at(-1)
    return { id, actionId }
  }

  remove(): void {
    this.place.remove()
  }
}
