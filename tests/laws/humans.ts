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

  constructor(name: string) {
    this.place = new Place(name, { runs: 'warm' }).init(WORDS.ann)
  }

  /** Registers more laws in front of those of a new home. */
  laws(...laws: readonly string[]): this {
    const file = join(this.place.project, '.writ', 'laws.yaml')
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace('laws:\n', `laws:\n${laws.join('')}`))
    expect(this.as('ann', ['laws', 'accept', '--yes']).status).toBe(0)
    return this
  }

  settings(text: string): this {
    const file = join(this.place.project, '.writ', 'laws.yaml')
    writeFileSync(file, `${readFileSync(file, 'utf8')}${text}`)
    expect(this.as('ann', ['laws', 'accept', '--yes']).status).toBe(0)
    return this
  }

  /** Known, with a token; and with a passphrase unless it is said otherwise. */
  add(human: Exclude<Human, 'ann'>, hasPassphrase = true): this {
    const name = `human:${human}@local`
    expect(this.as('ann', ['principal', 'add', name]).status).toBe(0)
    const { json } = this.as('ann', ['token', 'create', name, '--json'])
    this.#tokens.set(human, json.token)
    if (hasPassphrase) expect(this.as(human, ['principal', 'pass']).status).toBe(0)
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
