/**
 * A machine for the corpora: homes of developers with projects in them, and one writ for all of them.
 * Everything runs as one user: who the tests run as, or an ordinary one without rights.
 *
 * INVARIANT (bare runs stay inside): a command that is run without writ has a home of its own below the
 * ground, and no script of the corpora names a path outside its home.
 */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { copyProgram } from '../program-copy.ts'
import { asUser, ORDINARY_UID, type TestUser } from '../tree/users.ts'

/** A run that takes longer is no routine; nothing here may hang a test. */
const RUN_MS = 120_000

export interface Ended {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

/** A developer's home with the project that a task is about. */
export interface Place {
  readonly home: string
  readonly project: string
}

/** What writ answered, as far as the corpora look at it. */
export interface Answer {
  readonly decision: {
    readonly decision: 'PROMOTE' | 'CONFIRM' | 'BLOCK'
    readonly code: string
    readonly codes: readonly string[]
  }
  readonly promoted: boolean
  readonly result: {
    readonly diff: Readonly<Record<'added' | 'modified' | 'deleted', readonly { path: string }[]>>
    readonly findings: readonly { readonly code: string; readonly path?: string }[]
    readonly outputs: { readonly stderr: string }
  } | null
}

export interface Run extends Ended {
  readonly answer: Answer | null
}

const HOME_FILES = {
  '.gitconfig': '[user]\n\tname = Ann\n\temail = ann@example.org\n[init]\n\tdefaultBranch = main\n',
  '.bashrc': 'export EDITOR=vi\n',
  '.profile': '. ~/.bashrc\n',
  '.local/bin/hello': '#!/bin/sh\necho hello\n',
  '.ssh/id_ed25519': 'not a key\n',
}

/** Removed at the latest when the process ends. */
const OPEN = new Set<Ground>()
process.once('exit', () => {
  for (const ground of OPEN) ground.close()
})

export class Ground {
  readonly user: TestUser
  readonly folder: string
  /** Packages of the checkout that tasks run by path. */
  readonly packages = realpathSync('node_modules')
  readonly #program: string
  #homes = 0
  #token: string | null = null

  private constructor(user: TestUser, folder: string, program: string) {
    this.user = user
    this.folder = folder
    this.#program = program
  }

  /** A fresh one, with a home of writ under its default laws. */
  static async open(user: TestUser): Promise<Ground> {
    // Below /tmp a run would see its own empty one.
    const parent = process.getuid?.() === 0 ? '/opt' : tmpdir()
    const folder = realpathSync(mkdtempSync(join(parent, 'writ-corpus-')))
    chmodSync(folder, 0o755)
    const ground = new Ground(user, folder, copyProgram(folder))
    OPEN.add(ground)
    for (const name of ['office', 'homes', 'reports', 'starts']) ground.#directory(name)
    const place = ground.makeHome()
    // The workspace holds every project, so that no scope lies outside it.
    await ground.own(folder)
    const init = await ground.writ(place, ['init', '--no-pass', '--name', 'ann'], {
      cwd: folder,
    })
    if (init.status !== 0) throw new Error(`writ init: ${init.err}`)
    return ground
  }

  close(): void {
    OPEN.delete(this)
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** A home with an empty project, or with a copy of one. */
  makeHome(project?: string): Place {
    const home = join(this.folder, 'homes', String(++this.#homes))
    const place = { home, project: join(home, 'projects', 'shop') }
    for (const [name, text] of Object.entries(HOME_FILES)) this.write(join(home, name), text)
    chmodSync(join(home, '.ssh'), 0o700)
    mkdirSync(join(home, 'projects'))
    if (project === undefined) mkdirSync(place.project)
    else cpSync(project, place.project, { recursive: true, preserveTimestamps: true })
    return place
  }

  remove({ home }: Place): void {
    rmSync(home, { recursive: true, force: true })
  }

  /** A script with a first line for the kernel may be run. */
  write(path: string, text: string): void {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    if (text.startsWith('#!')) chmodSync(path, 0o755)
  }

  /** Hands everything below over to who will run. */
  async own(path: string): Promise<void> {
    if (this.user === 'self') return
    const owner = `${ORDINARY_UID}:${ORDINARY_UID}`
    const { status, err } = await ended(['chown', '-Rh', owner, path], { cwd: '/' })
    if (status !== 0) throw new Error(`chown: ${err}`)
  }

  /** Runs a command as the user without writ. */
  bare({ home, project }: Place, argv: readonly string[]): Promise<Ended> {
    return ended([...asUser(this.user), ...argv], { cwd: project, env: this.#env(home) })
  }

  /** A shell script of a task's preparation; one that fails is a fault of the corpus. */
  async prepare(place: Place, script: string): Promise<void> {
    const { status, out, err } = await this.bare(place, ['sh', '-ec', script])
    if (status !== 0) throw new Error(`preparing ended with ${status}: ${out}${err}`)
  }

  writ(
    { home, project }: Place,
    args: readonly string[],
    { cwd = project, token, input }: { cwd?: string; token?: string; input?: string } = {},
  ): Promise<Ended> {
    const argv = [...asUser(this.user), process.execPath, this.#program, ...args]
    const env = { ...this.#env(home), ...(token === undefined ? {} : { WRIT_TOKEN: token }) }
    return ended(argv, { cwd, env, ...(input === undefined ? {} : { input }) })
  }

  /** A call that goes on while the caller does other things. */
  start({ home }: Place, args: readonly string[], cwd: string): ChildProcess {
    const [program = '', ...rest] = [...asUser(this.user), process.execPath, this.#program, ...args]
    const stdio: StdioOptions = ['pipe', 'pipe', 'ignore']
    return spawn(program, rest, { cwd, env: this.#env(home), stdio })
  }

  async exec(place: Place, options: readonly string[], argv: readonly string[]): Promise<Run> {
    const report = join(this.folder, 'reports', `${Math.random().toString(36).slice(2)}.json`)
    const run = await this.writ(place, ['exec', ...options, '--report', report, '--', ...argv])
    const answer = existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as Answer) : null
    return { ...run, answer }
  }

  /** Proposes as an agent with a token of its own, without a person to answer. */
  async propose(place: Place, proposal: unknown): Promise<Run> {
    const token = await this.#agent(place)
    const input = JSON.stringify(proposal)
    const run = await this.writ(place, ['propose', '--json', '-'], { token, input })
    return { ...run, answer: answerIn(run.out) }
  }

  async #agent(place: Place): Promise<string> {
    if (this.#token !== null) return this.#token
    const added = await this.writ(place, ['principal', 'add', 'ai:coder@local'])
    const made = await this.writ(place, ['token', 'create', 'ai:coder@local', '--json'])
    if (made.status !== 0) throw new Error(`no token: ${added.err}${made.err}`)
    this.#token = String(JSON.parse(made.out).token)
    return this.#token
  }

  #directory(name: string): void {
    const path = join(this.folder, name)
    mkdirSync(path)
    chmodSync(path, 0o777)
  }

  #env(home: string): NodeJS.ProcessEnv {
    const system = [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin', '/sbin']
    return {
      HOME: home,
      PATH: [join(home, '.local/bin'), ...new Set(system)].join(':'),
      LANG: 'C.UTF-8',
      TZ: 'UTC',
      NO_COLOR: '1',
      XDG_STATE_HOME: join(this.folder, 'office', 'state'),
      WRIT_HOME: join(this.folder, '.writ'),
    }
  }
}

function answerIn(text: string): Answer | null {
  try {
    return JSON.parse(text) as Answer
  } catch {
    return null
  }
}

interface EndedOptions {
  readonly cwd: string
  readonly env?: NodeJS.ProcessEnv
  readonly input?: string
}

/** A process to its end, or to the end of its time. */
export function ended(argv: readonly string[], options: EndedOptions): Promise<Ended> {
  const [program = '', ...args] = argv
  const { cwd, env = process.env, input = '' } = options
  const child = spawn(program, args, { cwd, env, timeout: RUN_MS, killSignal: 'SIGKILL' })
  const pieces: Record<'out' | 'err', Buffer[]> = { out: [], err: [] }
  child.stdout.on('data', (piece: Buffer) => pieces.out.push(piece))
  child.stderr.on('data', (piece: Buffer) => pieces.err.push(piece))
  // A program may end without reading its input.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return new Promise((resolved, rejected) => {
    child.on('error', rejected)
    child.on('close', (status) => {
      const text = (list: readonly Buffer[]): string => Buffer.concat(list).toString('utf8')
      resolved({ status, out: text(pieces.out), err: text(pieces.err) })
    })
  })
}
