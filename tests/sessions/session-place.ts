/** A repository with a home of writ, and an agent in it that does what a test tells it, line by line. */
import { type ChildProcess, execFileSync } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { type Json, Place } from '../cli-gate/place.ts'

/** A wait ends when its event comes; this long only on a machine with much else to do. */
const WAIT_MS = 120_000
const LOOK_MS = 50

/** Reads commands from its standard input, runs each, and says that it has. */
export const AGENT = `
while IFS= read -r line; do
  eval "$line"
  echo "done: $line"
done
`

export class SessionPlace extends Place {
  constructor(name: string) {
    super(name, { runs: 'warm' })
    this.git('init', '-q')
    this.git('config', 'user.name', 'ann')
    this.git('config', 'user.email', 'ann@example.org')
  }

  git(...words: readonly string[]): string {
    return execFileSync('git', [...words], { cwd: this.project, encoding: 'utf8' })
  }

  /** Writes files and commits them. */
  commit(files: Readonly<Record<string, string>>): this {
    for (const [path, text] of Object.entries(files)) this.write(path, text)
    this.git('add', '-A', '--', ...Object.keys(files))
    this.git('commit', '-qm', 'first')
    return this
  }

  agentRun(options: readonly string[] = []): RunningAgent {
    return new RunningAgent(this.start(['run', ...options, '--', 'bash', '-c', AGENT]))
  }

  sessions(): Json[] {
    return this.writ(['session', 'list', '--json']).json.sessions
  }

  /** As if minutes had passed since a person looked at a question. */
  forgetLooks(): void {
    const state = join(this.folder, 'state')
    for (const name of readdirSync(state, { recursive: true, encoding: 'utf8' })) {
      if (basename(name).startsWith('looked-at-')) rmSync(join(state, name))
    }
  }

  /** Every fact of a type, its payload alone. */
  facts(type: string): Json[] {
    const { facts } = this.writ(['log', '--type', type, '--json', '--limit', '1000']).json
    return facts.map((fact: Json) => fact.record.payload)
  }

  async until(isSo: () => boolean, what: string): Promise<void> {
    const end = Date.now() + WAIT_MS
    while (!isSo()) {
      if (Date.now() > end) throw new Error(`it did not come about: ${what}`)
      await pause(LOOK_MS)
    }
  }
}

/** An agent in a session. */
export class RunningAgent {
  readonly child: ChildProcess
  readonly exited: Promise<number | null>
  out = ''
  err = ''

  constructor(child: ChildProcess) {
    this.child = child
    child.stdout?.on('data', (chunk) => {
      this.out += chunk
    })
    child.stderr?.on('data', (chunk) => {
      this.err += chunk
    })
    this.exited = new Promise((resolve) => {
      child.once('exit', (code) => resolve(code))
    })
  }

  /** Lets the agent run a command and waits until it has. */
  async does(command: string): Promise<void> {
    const before = this.out.length
    this.child.stdin?.write(`${command}\n`)
    await this.#until(() => this.out.slice(before).includes(`done: ${command}`), command)
  }

  /** Waits until a test of the shell succeeds inside; the line that is read out again does not hold the word. */
  async sees(test: string): Promise<void> {
    const word = `seen-${this.out.length}`
    const say = `printf 'seen-%s\\n' ${this.out.length}`
    await this.does(`for i in $(seq 100); do if ${test}; then ${say}; break; fi; sleep 0.1; done`)
    expect(this.out, `the agent does not see: ${test}`).toContain(word)
  }

  /** Waits until writ has said this about the session. */
  async hears(text: string): Promise<void> {
    await this.#until(() => this.err.includes(text), text)
  }

  async ends(): Promise<number | null> {
    this.child.stdin?.end()
    return this.exited
  }

  async #until(isSo: () => boolean, what: string): Promise<void> {
    const end = Date.now() + WAIT_MS
    while (!isSo()) {
      const state = `out: ${this.out}\nerr: ${this.err}`
      expect(Date.now(), `it did not come about: ${what}\n${state}`).toBeLessThan(end)
      await pause(LOOK_MS)
    }
  }
}
