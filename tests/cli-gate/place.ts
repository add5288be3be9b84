/**
 * A project with a home, a state and a user directory of its own, and ways to call writ in it: as a
 * plain process, and as a person at a terminal.
 */
import { type ChildProcess, type StdioPipe, spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { ensureBuilt } from '../built.ts'
import { sharedProgram } from '../program-copy.ts'
import { warmProgram } from '../warm-program.ts'

const PROGRAM = join(process.cwd(), 'bin', 'writ.cjs')
const PERSON = join(process.cwd(), 'tests', 'cli-gate', 'person.py')
const SECONDS = 60

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by the tests
export type Json = any

export interface Ended {
  readonly status: number | null
  readonly out: string
  readonly err: string
  readonly json: Json
  readonly lastLine: string
}

export interface Around {
  readonly token?: string
  readonly input?: string | Buffer
  readonly cwd?: string
  readonly passphrase?: string
  readonly env?: Record<string, string>
  /** How long it may take; a minute without it. */
  readonly seconds?: number
  /** Words in front of the program, such as another name to be known by. */
  readonly through?: readonly string[]
  /** Whether a process that stays answers; without it, a run and a call with words in front start one. */
  readonly isWarm?: boolean
}

/** Commands that run what they are given. */
const RUNNERS = ['exec', 'propose', 'flow', 'schedule', 'demo']

export type Step =
  | { readonly expect: string }
  | { readonly send: string }
  | { readonly resize: readonly [number, number] }
  | { readonly signal: number }
  | { readonly pause: number }
  | { readonly write: string }
  /** Waits for a file. */
  | { readonly await: string }
  /** Fails when this is there already. */
  | { readonly absent: string }
  /** The terminal goes away; the last step. */
  | { readonly hangup: true }

export interface Mode {
  readonly echo: boolean
  readonly lines: boolean
}

export interface Seen {
  readonly output: string
  readonly status: number | null
  /** The first expectation that did not come true. */
  readonly failed: string | null
  /** How the terminal was left. */
  readonly mode: Mode
  /** How it was at each expectation. */
  readonly modes: readonly Mode[]
}

export class Place {
  readonly folder: string
  readonly project: string
  readonly home: string
  /** Processes that end with the place, also after a test that failed. */
  readonly #started: ChildProcess[] = []
  readonly #runs: 'own' | 'warm'

  /** The built program; a copy where the checkout is not for everybody's eyes. */
  program = PROGRAM

  /** `runs`: whether a run, such as `writ exec`, starts a process too, or the one that stays has it. */
  constructor(name: string, { runs = 'own' }: { readonly runs?: 'own' | 'warm' } = {}) {
    ensureBuilt()
    this.#runs = runs
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), `writ-cli-gate-${name}-`)))
    this.project = join(this.folder, 'project')
    this.home = join(this.folder, 'home')
    mkdirSync(join(this.project, '.git'), { recursive: true })
    mkdirSync(this.home)
  }

  init(passphrase?: string, options: readonly string[] = []): this {
    const args = passphrase === undefined ? ['--no-pass'] : ['--pass-fd', '3']
    const around = passphrase === undefined ? {} : { passphrase }
    const { status, err } = this.writ(['init', '--name', 'ann', ...args, ...options], around)
    expect(status, err).toBe(0)
    return this
  }

  /** For another user, who may not be able to read the checkout. */
  copyProgram(packages: readonly string[] = []): void {
    this.program = sharedProgram(packages)
  }

  remove(): void {
    for (const child of this.#started) child.kill('SIGKILL')
    rmSync(this.folder, { recursive: true, force: true })
  }

  env(around: Around = {}): NodeJS.ProcessEnv {
    const { WRIT_TOKEN: _token, WRIT_HOME: _home, WRIT_URL: _url, ...rest } = process.env
    return {
      ...rest,
      HOME: this.home,
      XDG_STATE_HOME: join(this.folder, 'state'),
      NO_COLOR: '1',
      PAGER: 'cat',
      ...around.env,
      ...(around.token === undefined ? {} : { WRIT_TOKEN: around.token }),
    }
  }

  argv(args: readonly string[], around: Around = {}): readonly [string, ...string[]] {
    const words = [...(around.through ?? []), process.execPath, this.program, ...args]
    const [first = process.execPath, ...rest] = words
    return [first, ...rest]
  }

  writ(args: readonly string[], around: Around = {}): Ended {
    const isRun = this.#runs === 'own' && RUNNERS.includes(args[0] ?? '')
    // Words in front and options of Node hold for a process from its start.
    const isApart = around.through !== undefined || around.env?.['NODE_OPTIONS'] !== undefined
    const isOwn = isRun || isApart
    return (around.isWarm ?? !isOwn) ? this.#warm(args, around) : this.#own(args, around)
  }

  /** In a process that stays. */
  #warm(argv: readonly string[], around: Around): Ended {
    const { status, out, err } = warmProgram(this.program, around.through).call({
      argv,
      cwd: around.cwd ?? this.project,
      env: this.env(around),
      input: around.input ?? '',
      secret: around.passphrase ?? null,
      timeoutMs: (around.seconds ?? SECONDS) * 1000,
    })
    return endedAs(status, out, err)
  }

  /** In a process of its own. */
  #own(args: readonly string[], around: Around): Ended {
    const secret = join(this.folder, 'secret')
    if (around.passphrase !== undefined) writeFileSync(secret, `${around.passphrase}\n`)
    const descriptor = around.passphrase === undefined ? null : openSync(secret, 'r')
    const [program, ...rest] = this.argv(args, around)
    try {
      const { status, stdout, stderr } = spawnSync(program, rest, {
        cwd: around.cwd ?? this.project,
        input: around.input ?? '',
        stdio: ['pipe', 'pipe', 'pipe', ...(descriptor === null ? [] : [descriptor])],
        env: this.env(around),
        timeout: (around.seconds ?? SECONDS) * 1000,
        maxBuffer: 1 << 28,
      })
      return endedAs(status, stdout.toString('utf8'), stderr.toString('utf8'))
    } finally {
      if (descriptor !== null) closeSync(descriptor)
    }
  }

  exec(options: readonly string[], script: string, around: Around = {}): Ended {
    return this.writ(['exec', ...options, '--', 'sh', '-c', script], around)
  }

  /** A run that goes on while the test does other things. */
  start(args: readonly string[], around: Around = {}): ChildProcess {
    const [program, ...rest] = this.argv(args, around)
    const { cwd = this.project } = around
    const stdio: StdioPipe[] = ['pipe', 'pipe', 'pipe']
    const child = spawn(program, rest, { cwd, env: this.env(around), stdio })
    this.#started.push(child)
    return child
  }

  /** The same for a person whose steps take as long as what the test does meanwhile. */
  personMeanwhile(argv: readonly string[], steps: readonly Step[], seconds: number): Promise<Seen> {
    const env = { TERM: 'xterm-256color', ...this.env() }
    const order = { argv, cwd: this.project, env, seconds, rows: 40, columns: 120, steps }
    const child = spawn('/usr/bin/python3', [PERSON], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#started.push(child)
    child.stdin.end(JSON.stringify(order))
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
    })
    return new Promise((resolve) => {
      child.once('exit', () => resolve(JSON.parse(text) as Seen)) // person.py prints one.
    })
  }

  /** The same on a terminal, with a person who follows the steps. */
  person(args: readonly string[], steps: readonly Step[], around: Around = {}): Seen {
    return this.at(this.argv(args, around), steps, around)
  }

  /** Any program at a terminal. */
  at(argv: readonly string[], steps: readonly Step[], around: Around = {}): Seen {
    const order = {
      argv,
      cwd: around.cwd ?? this.project,
      env: { TERM: 'xterm-256color', ...this.env(around) },
      seconds: SECONDS / 2,
      rows: 31,
      columns: 101,
      steps,
    }
    const ended = spawnSync('/usr/bin/python3', [PERSON], {
      input: JSON.stringify(order),
      encoding: 'utf8',
      timeout: SECONDS * 1000,
      maxBuffer: 1 << 28,
    })
    if (ended.status !== 0) throw new Error(`python3 is needed for a terminal: ${ended.stderr}`)
    return JSON.parse(ended.stdout) as Seen
  }

  execAsPerson(options: readonly string[], script: string, steps: readonly Step[]): Seen {
    return this.person(['exec', ...options, '--', 'sh', '-c', script], steps)
  }

  write(path: string, content = `${path}\n`): string {
    const file = join(this.project, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
    return file
  }

  has(path: string): boolean {
    return existsSync(join(this.project, path))
  }

  text(path: string): string {
    return readFileSync(join(this.project, path), 'utf8')
  }

  token(principal: string, ...streams: string[]): string {
    const named = streams.flatMap((stream) => ['--stream', stream])
    expect(this.writ(['principal', 'add', principal, ...named]).status).toBe(0)
    return this.writ(['token', 'create', principal, '--json']).json.token
  }

  pending(): Json[] {
    return this.writ(['inbox', '--json']).json.pending
  }
}

function endedAs(status: number | null, out: string, err: string): Ended {
  return { status, out, err, json: read(out), lastLine: err.trimEnd().split('\n').at(-1) ?? '' }
}

function read(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
