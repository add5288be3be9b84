/**
 * A project, and an actor that proposes acts in it: root, or an ordinary user without groups and
 * capabilities. A human with a passphrase answers.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, closeSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Around, type Ended, type Json, Place } from '../cli-gate/place.ts'
import { descriptor, type Wanted } from '../gate/document.ts'
import { TEST_UID, userWrapper } from '../sandbox/drive.ts'

export type Who = 'root' | 'user'
export const BOTH_USERS: readonly Who[] = ['root', 'user']

const PASSPHRASE = 'correct horse battery'

export interface ActWanted extends Wanted {
  readonly hosts?: readonly string[]
  readonly ui?: boolean
  readonly rollback?: 'filesystem_snapshot' | 'compensation'
}

export class Actor {
  readonly place: Place
  readonly #through: readonly string[]

  /** `packages`: those that a copy of the program needs besides. */
  constructor(who: Who, name: string, packages: readonly string[] = []) {
    this.place = new Place(`${name}-${who}`)
    if (who === 'user') {
      this.place.copyProgram(packages)
      // The wrapper's last words set another home than the one of this test.
      this.#through = userWrapper('user').slice(0, -2)
      chmodSync(this.place.folder, 0o755)
    } else this.#through = []
    this.place.write('work/keep.txt')
    this.own()
    const init = ['init', '--name', 'ann', '--pass-fd', '3']
    const { status, err } = this.writ(init, { passphrase: PASSPHRASE })
    expect(status, err).toBe(0)
  }

  hasObject(digest: string): boolean {
    const name = digest.slice('sha256:'.length)
    const found = readdirSync(join(this.place.folder, 'state'), { recursive: true }) as string[]
    return found.some((path) => path.replaceAll('/', '').endsWith(name) || path.endsWith(name))
  }

  /** Gives every file that the test wrote to the actor. */
  own(): void {
    if (this.#through.length === 0) return
    execFileSync('chown', ['-R', `${TEST_UID}:${TEST_UID}`, this.place.folder])
  }

  /** A line under the settings of the laws, accepted by the human. */
  setting(line: string): void {
    const laws = this.at('.writ/laws.yaml')
    const text = readFileSync(laws, 'utf8')
    writeFileSync(laws, text.replace(/^settings:\n/m, `settings:\n  ${line}\n`))
    const accept = ['laws', 'accept', '--yes', '--pass-fd', '3']
    const { status, err } = this.writ(accept, { passphrase: PASSPHRASE })
    expect(status, err).toBe(0)
  }

  writ(args: readonly string[], around: Around = {}): Ended {
    return this.place.writ(args, { isWarm: true, ...around, through: this.#through })
  }

  at(path: string): string {
    return join(this.place.project, path)
  }

  write(path: string, content: string): string {
    const file = this.place.write(path, content)
    this.own()
    return file
  }

  text(path: string): string {
    return this.place.text(path)
  }

  proposal(operation: Json, wanted: ActWanted = {}): Json {
    const made = descriptor(this.place, operation.type, wanted)
    this.#declare(made, wanted)
    return { descriptor: made, operation }
  }

  composite(children: readonly Json[], wanted: ActWanted = {}): Json {
    const made = descriptor(this.place, 'MULTI_STEP_COMPOSITE', wanted)
    this.#declare(made, wanted)
    const sum = (name: string): number =>
      children.reduce((total, child) => total + child.descriptor.resources[name], 0)
    for (const name of Object.keys(made.resources)) made.resources[name] = sum(name)
    return { descriptor: made, children }
  }

  #declare(made: Json, { hosts, ui, rollback }: ActWanted): void {
    if (hosts !== undefined) {
      made.scope.network = { required: true, hosts: [...hosts] }
      made.effects.network = true
      made.sandbox.allow_network = true
      made.risk_level = 'HIGH'
    }
    if (ui === true) {
      made.scope.ui.required = true
      made.risk_level = 'HIGH'
    }
    if (rollback !== undefined) made.rollback.rollback_type = rollback
  }

  propose(proposal: Json, around: Around = {}): Ended {
    return this.writ(['propose', '-', '--json'], { ...around, input: JSON.stringify(proposal) })
  }

  /** Says yes with the passphrase. */
  approve(id: string, around: Around = {}): Ended {
    const args = ['approve', id, '--pass-fd', '3', '--json']
    return this.writ(args, { ...around, passphrase: PASSPHRASE })
  }

  /** The same in a process that the test can end. */
  startApproval(id: string): ChildProcess {
    const secret = join(this.place.folder, 'secret-of-start')
    writeFileSync(secret, `${PASSPHRASE}\n`)
    const args = ['approve', id, '--pass-fd', '3', '--json']
    const [program, ...rest] = this.place.argv(args, { through: this.#through })
    const handle = openSync(secret, 'r')
    const child = spawn(program, rest, {
      cwd: this.place.project,
      env: this.place.env(),
      stdio: ['ignore', 'ignore', 'ignore', handle],
    })
    closeSync(handle)
    return child
  }

  /** A call that goes on while others are made. */
  async later(args: readonly string[]): Promise<{ readonly status: number; readonly out: string }> {
    const [program, ...rest] = this.place.argv(args, { through: this.#through })
    const child = spawn(program, rest, { cwd: this.place.project, env: this.place.env() })
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => {
      out += chunk.toString('utf8')
    })
    const [status] = await once(child, 'close')
    return { status, out }
  }

  rollback(id: string): Ended {
    const args = ['rollback', id, '--json']
    return this.writ(args, { passphrase: PASSPHRASE })
  }

  /** Proposes, approves if there is a question, and returns the last answer. */
  act(proposal: Json, around: Around = {}): Ended {
    const proposed = this.propose(proposal, around)
    if (proposed.status !== 3) return proposed
    return this.approve(proposed.json.pending.id, around)
  }

  facts(type: string): Json[] {
    const { json } = this.writ(['log', '--json', '--type', type])
    return json.facts.map((fact: Json) => fact.record.payload)
  }

  /** Every decision computed again from the record. */
  replay(): Ended {
    return this.writ(['replay', '--json'])
  }

  remove(): void {
    this.place.remove()
  }
}
