/**
 * The port to the gate without a sandbox, for tests about runs and not about walls: an attempt works
 * in a copy of the workspace, stages are folders, a promotion copies. All of it lies in files, so
 * that it survives the death of the process that made it.
 */
import { spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type {
  Attempt,
  AttemptOrder,
  AttemptSurface,
  HeldAttempt,
  OperationAnswer,
  ParticipantCommand,
  ParticipantOutcome,
} from '../../src/host/gate/attempt-surface.ts'
import type { GateAnswer } from '../../src/host/index.ts'

type Files = ReadonlyMap<string, string>

function filesOf(root: string, folder = ''): Map<string, string> {
  const found = new Map<string, string>()
  if (!existsSync(root)) return found
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (path === '.writ') continue
    if (entry.isDirectory())
      for (const [name, digest] of filesOf(root, path)) found.set(name, digest)
    else found.set(path, digestOf(readFileSync(join(root, path))))
  }
  return found
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`
}

interface Stage {
  readonly actionId: string
  readonly manifest: string
  readonly changed: readonly string[]
  readonly deleted: readonly string[]
}

/** What has been promoted is kept, with what was there before. */
export class PlainAttempts implements AttemptSurface {
  readonly #folder: string
  readonly #workspace: string
  isConfirmed = true

  constructor(folder: string, workspace: string) {
    this.#folder = folder
    this.#workspace = workspace
    for (const name of ['held', 'done', 'work']) mkdirSync(join(folder, name), { recursive: true })
  }

  async begin(order: AttemptOrder): Promise<Attempt> {
    const view = join(this.#folder, 'work', randomUUID())
    copyTree(this.#workspace, view)
    for (const base of order.bases) this.#lay(base, view)
    for (const path of order.hidden)
      rmSync(join(view, relative(this.#workspace, path)), { recursive: true, force: true })
    return new PlainAttempt(order, view, this.#workspace, (stage) => this.#hold(stage, view))
  }

  #lay(actionId: string, view: string): void {
    const place = join(this.#folder, 'held', actionId)
    if (!existsSync(place)) return
    const stage = JSON.parse(readFileSync(join(place, 'stage.json'), 'utf8')) as Stage
    for (const path of stage.changed) copy(join(place, 'files', path), join(view, path))
    for (const path of stage.deleted) rmSync(join(view, path), { force: true })
  }

  #hold(stage: Stage, view: string): void {
    const draft = join(this.#folder, 'work', randomUUID())
    for (const path of stage.changed) copy(join(view, path), join(draft, 'files', path))
    mkdirSync(draft, { recursive: true })
    writeFileSync(join(draft, 'stage.json'), JSON.stringify(stage))
    renameSync(draft, join(this.#folder, 'held', stage.actionId))
  }

  async readStaged(bases: readonly string[], path: string): Promise<Uint8Array | null> {
    const name = relative(this.#workspace, path)
    for (const base of [...bases].reverse()) {
      const place = join(this.#folder, 'held', base)
      if (!existsSync(place)) continue
      const stage = JSON.parse(readFileSync(join(place, 'stage.json'), 'utf8')) as Stage
      if (stage.deleted.includes(name)) return null
      if (stage.changed.includes(name)) return readFileSync(join(place, 'files', name))
    }
    return existsSync(path) ? readFileSync(path) : null
  }

  async promoteHeld(actionId: string): Promise<GateAnswer> {
    const place = join(this.#folder, 'held', actionId)
    const done = join(this.#folder, 'done', actionId)
    if (existsSync(done)) return answer(actionId, true)
    if (!existsSync(place) || !this.isConfirmed) return answer(actionId, false)
    const stage = JSON.parse(readFileSync(join(place, 'stage.json'), 'utf8')) as Stage
    const before = join(place, 'before')
    if (!existsSync(before)) {
      const draft = `${before}.${randomUUID()}`
      mkdirSync(draft, { recursive: true })
      for (const path of [...stage.changed, ...stage.deleted]) {
        const real = join(this.#workspace, path)
        if (existsSync(real)) copy(real, join(draft, path))
      }
      renameSync(draft, before)
    }
    for (const path of stage.changed) copy(join(place, 'files', path), join(this.#workspace, path))
    for (const path of stage.deleted) rmSync(join(this.#workspace, path), { force: true })
    renameSync(place, done)
    return answer(actionId, true)
  }

  async rollback(actionId: string): Promise<{ readonly verified: boolean }> {
    const done = join(this.#folder, 'done', actionId)
    if (!existsSync(done)) return { verified: true }
    const stage = JSON.parse(readFileSync(join(done, 'stage.json'), 'utf8')) as Stage
    for (const path of [...stage.changed, ...stage.deleted]) {
      const kept = join(done, 'before', path)
      if (existsSync(kept)) copy(kept, join(this.#workspace, path))
      else rmSync(join(this.#workspace, path), { force: true })
    }
    rmSync(done, { recursive: true, force: true })
    return { verified: true }
  }

  async dropHeld(actionId: string): Promise<void> {
    rmSync(join(this.#folder, 'held', actionId), { recursive: true, force: true })
  }

  async held(): Promise<readonly string[]> {
    return readdirSync(join(this.#folder, 'held'))
  }
}

class PlainAttempt implements Attempt {
  readonly #order: AttemptOrder
  readonly #view: string
  readonly #workspace: string
  readonly #before: Files
  readonly #hold: (stage: Stage) => void

  constructor(order: AttemptOrder, view: string, workspace: string, hold: (stage: Stage) => void) {
    this.#order = order
    this.#view = view
    this.#workspace = workspace
    this.#before = filesOf(view)
    this.#hold = hold
  }

  run(command: ParticipantCommand): Promise<ParticipantOutcome> {
    const [program, ...words] = command.argv
    const started = performance.now()
    return new Promise((resolve, reject) => {
      const child = spawn(program, words, {
        cwd: this.#view,
        env: { PATH: process.env['PATH'], ...command.env },
        stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
        signal: this.#order.abort,
      })
      const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []]
      child.stdout.on('data', (part: Buffer) => stdout.push(part))
      child.stderr.on('data', (part: Buffer) => stderr.push(part))
      child.stdin.on('error', () => {})
      child.stdin.end(command.stdin)
      const channel = child.stdio[3] as unknown as NodeJS.ReadWriteStream
      let rest = ''
      let line = Promise.resolve()
      channel.on('error', () => {})
      channel.on('data', (part: Buffer) => {
        rest += part.toString('utf8')
        for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n')) {
          const text = rest.slice(0, end)
          rest = rest.slice(end + 1)
          line = line.then(async () => {
            channel.write(`${await command.onLine(text)}\n`)
          })
        }
      })
      child.on('error', reject)
      child.on('close', (exitCode, signal) => {
        void line.then(() =>
          resolve({
            refused: null,
            exitCode,
            signal,
            killedBy: null,
            aborted: this.#order.abort.aborted,
            stdout: Buffer.concat(stdout),
            stderr: Buffer.concat(stderr),
            isCut: false,
            seconds: (performance.now() - started) / 1000,
          }),
        )
      })
    })
  }

  async operate(operation: unknown): Promise<OperationAnswer> {
    const { type, path, content } = operation as Record<string, string>
    if (type !== 'FILE_WRITE' || path === undefined) {
      const isHarmless = type === 'LOOK'
      return { decision: isHarmless ? 'PROMOTE' : 'BLOCK', codes: [], result: null }
    }
    const file = join(this.#view, relative(this.#workspace, path))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content ?? '')
    const result = { exit_code: 0, stdout: '', stderr: '', truncated: false }
    return { decision: 'PROMOTE', codes: [], result }
  }

  async read(path: string): Promise<Uint8Array | null> {
    const file = join(this.#view, relative(this.#workspace, path))
    return existsSync(file) && statSync(file).isFile() ? readFileSync(file) : null
  }

  async write(path: string, bytes: Uint8Array): Promise<void> {
    const file = join(this.#view, relative(this.#workspace, path))
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, bytes)
  }

  async finish(): Promise<HeldAttempt> {
    const after = filesOf(this.#view)
    const { actionId } = this.#order
    const changed = [...after.keys()].filter((path) => after.get(path) !== this.#before.get(path))
    const deleted = [...this.#before.keys()].filter((path) => !after.has(path))
    const text = JSON.stringify([changed.map((path) => [path, after.get(path)]), deleted])
    const manifest = digestOf(Buffer.from(text))
    this.#hold({ actionId, manifest, changed, deleted })
    await this.abandon()
    const entries = (paths: readonly string[]) =>
      paths.map((path) => ({ path: join(this.#workspace, path) }))
    const counts = { added: changed.length, modified: 0, deleted: deleted.length }
    const diff = { added: entries(changed), modified: [], deleted: entries(deleted), counts }
    // Runs look at no other part of these.
    const held: unknown = {
      actionId,
      proposalDigest: null,
      decision: { decision: 'PROMOTE' },
      result: { diff },
      manifest,
      refusedAccesses: [],
    }
    return held as HeldAttempt
  }

  async abandon(): Promise<void> {
    rmSync(this.#view, { recursive: true, force: true })
  }
}

function answer(action_id: string, promoted: boolean): GateAnswer {
  const made: unknown = { action_id, proposal_digest: '', decision: {}, result: null, promoted }
  return made as GateAnswer
}

function copyTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const name of readdirSync(from)) {
    if (name !== '.writ') cpSync(join(from, name), join(to, name), { recursive: true })
  }
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  const draft = `${to}.${randomUUID()}.part`
  cpSync(from, draft)
  renameSync(draft, to)
}

function relative(root: string, path: string): string {
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path
}
