/** Workers as processes, and flows whose participants answer on the loopback. */
import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Endpoint } from '../flow-run/endpoints.ts'
import type { FleetMachine } from './fleet-rig.ts'

const PROGRAM = join(process.cwd(), 'bin', 'writ.cjs')

export class WorkerProcess {
  readonly child: ChildProcess
  // biome-ignore lint/suspicious/noExplicitAny: news are looked into by the tests
  readonly news: any[] = []
  #text = ''
  #err = ''

  constructor(machine: FleetMachine, args: readonly string[] = []) {
    const words = [PROGRAM, 'worker', '--jsonl', ...args]
    this.child = spawn(process.execPath, words, { cwd: machine.project, env: machine.env })
    this.child.stdout?.on('data', (chunk: Buffer) => {
      this.#text += chunk.toString()
      const lines = this.#text.split('\n')
      this.#text = lines.pop() ?? ''
      for (const line of lines) if (line.startsWith('{')) this.news.push(JSON.parse(line))
    })
    this.child.stderr?.on('data', (chunk: Buffer) => {
      this.#err += chunk.toString()
    })
  }

  get err(): string {
    return this.#err
  }

  /** Waits for news of a kind. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  async until(find: (news: any) => boolean, ms = 60_000): Promise<any> {
    const end = performance.now() + ms
    for (;;) {
      const found = this.news.find(find)
      if (found !== undefined) return found
      if (performance.now() > end || this.child.exitCode !== null)
        throw new Error(`no such news: ${JSON.stringify(this.news)} ${this.#err}`)
      await pause(20)
    }
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return
    const gone = new Promise((resolve) => this.child.once('exit', resolve))
    this.child.kill(signal)
    await gone
  }
}

/** A participant that works for some time and answers with an artifact. */
export function workEndpoint(workMs: number): Endpoint {
  return Endpoint.json(async () => {
    await pause(workMs)
    const artifact = { name: 'out', format: 'md', content: 'done' }
    return { body: { result_type: 'ARTIFACT', artifact } }
  })
}

/** Writes a flow of one node after another, each done at that address. */
export function writeFlow(
  machine: FleetMachine,
  name: string,
  url: string,
  { nodes = 1, labels = [] as readonly string[], node = {} as object } = {},
): string {
  const executor = { http: url, tools: 'none', ...(labels.length === 0 ? {} : { labels }) }
  const ids = Array.from({ length: nodes }, (_, index) => `n${index}`)
  const flow = {
    type: 'flow_v1',
    flow_id: name,
    title: '',
    nodes: ids.map((node_id) => ({
      node_id,
      kind: 'WORK',
      title: '',
      phase_id: 'P',
      actor: 'w',
      executor,
      max_attempts: 3,
      ...node,
    })),
    edges: ids.slice(1).map((target, index) => ({
      edge_id: `e${index}`,
      source: ids[index],
      target,
      class: 'Progress',
    })),
  }
  const file = join(machine.project, `${name}.json`)
  writeFileSync(file, JSON.stringify(flow))
  return file
}

/** A service of a machine, with how it ends and what it said last. */
export function serve(machine: FleetMachine) {
  const words = [PROGRAM, 'serve', '--listen', '127.0.0.1:0']
  const child = spawn(process.execPath, words, { cwd: machine.project, env: machine.env })
  let err = ''
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString()
  })
  const ready = new Promise<string>((resolve) =>
    child.stdout.once('data', (line: Buffer) =>
      resolve(/http:\S+\d/.exec(String(line))?.[0] ?? ''),
    ),
  )
  const ended = new Promise<readonly [number | null, string]>((resolve) =>
    child.once('exit', (status) => resolve([status, err])),
  )
  return { child, ready, ended }
}

/** A small generator of numbers, so that a seed repeats the kills. */
export function numbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
