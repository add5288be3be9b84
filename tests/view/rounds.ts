/**
 * Random rounds on a live view. The same commands go to workers inside a sandbox and to workers in a
 * plain directory, the shadow: both have to answer alike. People edit the real tree meanwhile, and the
 * shadow gets the same edits. Then a settle: what is pending has to be exactly the difference between
 * shadow and real tree; after promotion and pruning, processes inside have to see the shadow, and the real
 * tree has to be the shadow but for what was left out. Over 500 lines on purpose: model, commands and
 * comparison are one generator, and its seeds mean something only together.
 */
import { spawn } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Change } from '../../src/gate/index.ts'
import type { Sandbox, SandboxDriver, SandboxRequest } from '../../src/sandbox/index.ts'
import { ownIds } from '../../src/tree/index.ts'
import { type FrozenView, type LiveView, openView, type Pruned } from '../../src/view/index.ts'
import { type Peer, startInside, startOutside } from './peer.ts'
import { promote } from './promoter.ts'
import { WORKERS } from './workers.ts'

export type Random = (below: number) => number

/** mulberry32: the same seed gives the same numbers everywhere. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let word = state
    word = Math.imul(word ^ (word >>> 15), word | 1)
    word ^= word + Math.imul(word ^ (word >>> 7), word | 61)
    return ((word ^ (word >>> 14)) >>> 0) % below
  }
}

export interface Scene {
  readonly base: string
  readonly real: string
  readonly shadow: string
  readonly kept: string
  /** A file that says that the scene was filled. */
  readonly begun: string
}

export function makeScene(base: string, kept = join(base, 'kept')): Scene {
  const scene = {
    base,
    real: join(base, 'real'),
    shadow: join(base, 'shadow'),
    kept,
    begun: join(base, 'begun'),
  }
  for (const path of [scene.real, scene.shadow, scene.kept]) mkdirSync(path, { recursive: true })
  return scene
}

export function fillScene({ real, shadow }: Scene): void {
  for (const top of [real, shadow]) {
    for (const name of ['d0', 'd1', 'd0/d2', 'd1/d0']) mkdirSync(join(top, name))
    for (const name of ['f0', 'f1', 'd0/f0', 'd0/f2', 'd0/d2/f1', 'd1/f3', 'd1/d0/f0', 'b0']) {
      writeFileSync(join(top, name), `first ${name}\n`)
    }
  }
}

export function requestOf(
  { real, kept }: Scene,
  more: Partial<SandboxRequest> = {},
): SandboxRequest {
  return {
    sandboxId: `view-${process.pid}-${Math.random().toString(36).slice(2)}`,
    scopeRoots: [real],
    watchedRoots: [],
    hidden: [],
    caps: {
      cpuMs: 3_600_000,
      memoryMb: 1024,
      diskMb: 4096,
      durationMs: 3_600_000,
      processes: 128,
    },
    sockets: 'inside',
    allOwners: false,
    kept: { directory: kept },
    ...more,
  }
}

export function viewOf(sandbox: Sandbox, { real, kept }: Scene): LiveView {
  return openView(sandbox, {
    directory: kept,
    isRoot: process.getuid?.() === 0,
    ids: ownIds(),
    exclude: [],
    scopeRoots: [real],
    maxBytes: 1 << 30,
  })
}

/** Everything in a tree, as the workers list it. */
export function dump(top: string): string[] {
  const out: string[] = []
  const walk = (path: string, shown: string): void => {
    const stats = lstatSync(path)
    const mode = (stats.mode & 0o7777).toString(8)
    if (stats.isSymbolicLink()) out.push(`${shown} l ${readlinkSync(path)}`)
    else if (stats.isDirectory()) {
      out.push(`${shown} d ${mode}`)
      for (const name of readdirSync(path).sort()) walk(join(path, name), `${shown}/${name}`)
    } else out.push(`${shown} f ${mode} ${readFileSync(path).toString('hex')}`)
  }
  walk(top, '.')
  return out
}

const TOUCHING = new Set(
  'write update append replace touch rename mkdir rmdir unlink clear symlink link chmod hold map'.split(
    ' ',
  ),
)
const DIRECTORIES = ['d0', 'd1', 'd2']
const FILES = ['f0', 'f1', 'f2', 'f3', 'b0', 'b0-wal', 'b0-shm']

/** The worker that its own user cannot look at. */
const SHUT = 0

interface Slot {
  readonly worker: number
  readonly name: string
  readonly kind: 'read' | 'write' | 'directory' | 'map'
}

/** What a process that was killed left undone of a promotion. */
interface Interrupted {
  readonly changes: readonly Change[]
  readonly done: number
}

const INTERRUPTED = 'interrupted.json'

export class Rounds {
  readonly #scene: Scene
  readonly #random: Random
  readonly #driver: SandboxDriver
  readonly #log: string[] = []
  #sandbox: Sandbox | null = null
  #view: LiveView | null = null
  #inside: (Peer & { outcome: Promise<unknown> }) | null = null
  #shadow: Peer | null = null
  #slots: Slot[] = []
  #count = 0
  /** Inodes of the shadow that each worker watches. */
  readonly #watched = new Map<number, Set<number>>()
  /** Paths below the root that are in the upper layer though they are real. */
  #kept: readonly string[] = []
  /** Paths that workers opened or changed since the last settle, perhaps without a difference. */
  readonly #touched = new Set<string>()
  /** Edits of people that the view need not show yet. */
  #unseen = new Set<string>()
  readonly figures = { pruned: 0, kept: 0, changes: 0, edits: 0, busy: 0, settles: 0 }

  constructor(scene: Scene, random: Random, driver: SandboxDriver) {
    this.#scene = scene
    this.#random = random
    this.#driver = driver
  }

  get log(): readonly string[] {
    return this.#log
  }

  get view(): LiveView {
    if (this.#view === null) throw new Error('no view is open')
    return this.#view
  }

  async open(more: Partial<SandboxRequest> = {}): Promise<void> {
    this.#sandbox = await this.#driver.open(requestOf(this.#scene, more))
    this.#recover(this.#sandbox)
    this.#view = viewOf(this.#sandbox, this.#scene)
    // As a session does before it starts its agent again.
    const frozen = await this.#view.freeze()
    this.#noteKept(await frozen.prune([]))
    frozen.thaw()
    this.#inside = startInside(this.#sandbox, this.#scene.real)
    this.#shadow = startOutside(this.#scene.shadow)
    this.#slots = []
    this.#watched.clear()
    await this.#both('x', 'pid')
    await this.#inside.ask(SHUT, 'shut')
  }

  async close(): Promise<void> {
    this.#view?.close()
    await this.#sandbox?.close()
    await this.#shadow?.end()
  }

  /** Asks both sides; throws when they differ. */
  async #both(worker: number | 'x', ...words: readonly string[]): Promise<string> {
    this.#log.push([worker, ...words].join(' '))
    if (TOUCHING.has(words[0] ?? '')) for (const word of words.slice(1)) this.#touched.add(word)
    if (this.#inside === null || this.#shadow === null) throw new Error('nothing runs')
    const [inside, shadow] = await Promise.all([
      this.#inside.ask(worker, ...words),
      this.#shadow.ask(worker, ...words),
    ])
    if (inside !== shadow && words[0] !== 'pid') {
      const [one, other] = [inside.split(';'), shadow.split(';')]
      const only = (list: readonly string[], rest: readonly string[]): string =>
        list.filter((line) => !rest.includes(line)).join(' ; ')
      throw new Error(
        `${worker} ${words.join(' ')}: inside ${only(one, other)}, shadow ${only(other, one)}`,
      )
    }
    return shadow
  }

  #pick<T>(list: readonly T[]): T {
    const chosen = list[this.#random(list.length)]
    if (chosen === undefined) throw new Error('nothing to choose from')
    return chosen
  }

  #chance(percent: number): boolean {
    return this.#random(100) < percent
  }

  /** Existing paths of the shadow below the root. */
  #existing(kind: 'f' | 'd' | 'any'): string[] {
    return dump(this.#scene.shadow)
      .map((line) => line.split(' '))
      .filter(([name, is]) => name !== '.' && (kind === 'any' || is === kind))
      .map(([name = '']) => name.slice(2))
  }

  #somePath(names: readonly string[]): string {
    const parents = ['', ...this.#existing('d')].filter((path) => path.split('/').length < 4)
    const parent = this.#pick(parents)
    const name = this.#pick(names)
    return parent === '' ? name : `${parent}/${name}`
  }

  /** A command has to leave alone what people changed since the last refresh. */
  #isFree(path: string): boolean {
    return ![...this.#unseen].some(
      (edited) => path === edited || path.startsWith(`${edited}/`) || edited.startsWith(`${path}/`),
    )
  }

  #isLinked(path: string, top = this.#scene.shadow): boolean {
    const stats = statsOr(join(top, path))
    // A write through a symbolic link may reach a file with several names.
    return stats?.isSymbolicLink() === true || (stats?.isFile() === true && stats.nlink > 1)
  }

  #file(): string | null {
    const files = this.#existing('f').filter((path) => this.#isFree(path) && !this.#isLinked(path))
    return files.length === 0 ? null : this.#pick(files)
  }

  #any(): string | null {
    const all = this.#existing('any').filter((path) => this.#isFree(path))
    return all.length === 0 ? null : this.#pick(all)
  }

  async batch(): Promise<void> {
    const count = 2 + this.#random(14)
    if (this.#chance(50)) await this.#makeFolder(this.#random(WORKERS))
    for (let index = 0; index < count; index++) await this.#step(this.#random(WORKERS))
  }

  /** A new directory with files in it: a settle may promote only some of them. */
  async #makeFolder(worker: number): Promise<void> {
    const folder = this.#somePath(DIRECTORIES)
    if (!this.#isFree(folder) || existsSync(join(this.#scene.shadow, folder))) return
    await this.#both(worker, 'mkdir', folder)
    for (const name of ['f0', 'f1', 'f2']) {
      await this.#both(worker, 'write', `${folder}/${name}`, `${this.#count++}`)
    }
  }

  async #step(worker: number): Promise<void> {
    const text = `${this.#count++}.${'x'.repeat(this.#random(20))}\\`
    const [file, any] = [this.#file(), this.#any()]
    const fresh = this.#somePath(FILES)
    const folder = this.#somePath(DIRECTORIES)
    const isFresh = this.#isFree(fresh) && !this.#isLinked(fresh)
    switch (this.#random(22)) {
      case 0:
      case 1:
        return isFresh ? void (await this.#both(worker, 'write', fresh, text)) : undefined
      case 2:
        return file === null ? undefined : void (await this.#both(worker, 'update', file, text))
      case 3:
        return file === null ? undefined : void (await this.#both(worker, 'append', file, text))
      case 4:
        // A replacement that failed leaves its first name, which may have got others.
        if (!isFresh || this.#isLinked(`${fresh}.new`)) return
        return void (await this.#both(worker, 'replace', fresh, text))
      case 5:
      case 6: {
        const to = this.#chance(50) ? fresh : folder
        if (any === null || !this.#isFree(to) || this.#isLinked(any) || this.#isLinked(to)) return
        // A sandbox moves a real directory by making it again, and leaves behind what is in use; and not
        // for a process that it cannot look at.
        const isFolder = this.#existing('d').includes(any)
        if (isFolder && (worker === SHUT || this.#isUsed(any))) return
        return void (await this.#both(worker, 'rename', any, to))
      }
      case 7:
      case 8:
        return this.#isFree(folder) ? void (await this.#both(worker, 'mkdir', folder)) : undefined
      case 9:
        return this.#isFree(folder) ? void (await this.#both(worker, 'rmdir', folder)) : undefined
      case 10:
      case 11:
        return any === null ? undefined : void (await this.#both(worker, 'unlink', any))
      case 12:
        if (!this.#isFree(folder) || !existsSync(join(this.#scene.shadow, folder))) return
        return void (await this.#both(worker, 'clear', folder, this.#chance(60) ? '1' : ''))
      case 13:
        return this.#isFree(fresh)
          ? void (await this.#both(worker, 'symlink', fresh, this.#pick(FILES)))
          : undefined
      case 14:
        if (file === null || !isFresh || this.#isHeld(file)) return
        return void (await this.#both(worker, 'link', file, fresh))
      case 15: {
        if (any === null || this.#isLinked(any)) return
        const isFolder = this.#existing('d').includes(any)
        if (!isFolder && !this.#existing('f').includes(any)) return
        return void (await this.#both(
          worker,
          'chmod',
          any,
          isFolder ? '755' : this.#pick(['644', '600', '755']),
        ))
      }
      case 16:
      case 17:
        return this.#hold(worker, file, fresh, isFresh)
      case 18:
        return this.#use()
      case 19:
        return this.#release()
      case 20:
        return this.#enter(worker)
      default:
        return this.#watch(worker)
    }
  }

  #isHeld(path: string): boolean {
    const held = join(this.#scene.shadow, path)
    return this.#shadowPins().has(held)
  }

  #isUsed(directory: string): boolean {
    const at = join(this.#scene.shadow, directory)
    return (
      this.#shadowPins().has(at) || this.#isWatched(lstatSync(at).ino) || this.#holdsWatched(at)
    )
  }

  async #hold(worker: number, file: string | null, fresh: string, isFresh: boolean): Promise<void> {
    if (this.#slots.length > 6) return
    const name = `s${this.#count++}`
    const kind = this.#pick(['read', 'write', 'create', 'directory', 'map'] as const)
    const directories = this.#existing('d').filter((path) => this.#isFree(path))
    const [path, words, slot] = ((): [string | null, string[], Slot['kind']] => {
      if (kind === 'directory') {
        return [directories.length === 0 ? null : this.#pick(directories), ['holddir'], 'directory']
      }
      if (kind === 'map') return [file, ['map'], 'map']
      if (kind === 'create') return [isFresh ? fresh : null, ['hold', 'c'], 'write']
      return [file, ['hold', kind === 'read' ? 'r' : 'w'], kind]
    })()
    if (path === null) return
    const [operation = '', mode] = words
    const answer = await this.#both(
      worker,
      operation,
      path,
      name,
      ...(mode === undefined ? [] : [mode]),
    )
    if (answer.startsWith('ok')) this.#slots.push({ worker, name, kind: slot })
  }

  async #use(): Promise<void> {
    const writers = this.#slots.filter(({ kind }) => kind === 'write' || kind === 'map')
    if (writers.length === 0) return
    const { worker, name, kind } = this.#pick(writers)
    const text = `${this.#count++}`.slice(-4)
    await this.#both(worker, kind === 'map' ? 'poke' : 'put', name, text)
  }

  async #release(): Promise<void> {
    if (this.#slots.length === 0) return
    const slot = this.#pick(this.#slots)
    await this.#both(slot.worker, slot.kind === 'map' ? 'unmap' : 'drop', slot.name)
    this.#slots = this.#slots.filter((each) => each !== slot)
  }

  /** Every worker lets go of everything, so that all that is real can be pruned. */
  async rest(): Promise<void> {
    while (this.#slots.length > 0) await this.#release()
    for (let worker = 0; worker < WORKERS; worker++) {
      for (const word of ['leave', 'unwatch']) await this.#both(worker, word)
    }
    this.#watched.clear()
  }

  async #enter(worker: number): Promise<void> {
    const directories = this.#existing('d').filter((path) => this.#isFree(path))
    if (directories.length === 0 || this.#chance(40)) await this.#both(worker, 'leave')
    else await this.#both(worker, 'cd', this.#pick(directories))
  }

  async #watch(worker: number): Promise<void> {
    const any = this.#any()
    if (this.#chance(50) || any === null) {
      await this.#both(worker, 'unwatch')
      this.#watched.delete(worker)
      return
    }
    const stats = lstatSync(join(this.#scene.shadow, any))
    if (stats.isSymbolicLink()) return
    await this.#both(worker, 'watch', any)
    const watched = this.#watched.get(worker) ?? new Set()
    this.#watched.set(worker, watched.add(stats.ino))
  }

  #isWatched(inode: number): boolean {
    return [...this.#watched.values()].some((inodes) => inodes.has(inode))
  }

  /** Paths that workers of the shadow use, and everything above them. */
  #shadowPins(): Set<string> {
    const pins = new Set<string>()
    const add = (target: string): void => {
      const path = target.replace(/ \(deleted\)$/, '')
      if (!path.startsWith(this.#scene.shadow)) return
      for (let each = path; each.length >= this.#scene.shadow.length; each = dirname(each))
        pins.add(each)
    }
    for (const pid of this.#shadowPids) {
      add(linkOr(`/proc/${pid}/cwd`))
      for (const name of namesOr(`/proc/${pid}/fd`)) add(linkOr(`/proc/${pid}/fd/${name}`))
      for (const line of textOr(`/proc/${pid}/maps`).split('\n')) {
        const start = line.indexOf('/')
        if (start > 0) add(line.slice(start))
      }
    }
    return pins
  }

  #shadowPids: number[] = []

  async learnPids(): Promise<void> {
    this.#shadowPids = []
    for (let worker = 0; worker < WORKERS; worker++) {
      const answer = await this.#both(worker, 'pid')
      this.#shadowPids.push(Number(answer.split('\t')[1]))
    }
  }

  /** Whether people may edit a path so that the view has to show it after the next refresh. */
  #isEditable(path: string, pins: ReadonlySet<string>, pending: ReadonlySet<string>): boolean {
    const at = join(this.#scene.shadow, path)
    if (pins.has(at)) return false
    // Above the name may be a file by now.
    const stats = statsOr(at)
    if (stats !== undefined && (this.#isWatched(stats.ino) || this.#isLinked(path))) return false
    // The session may have removed another name of the real file, which an edit changes as well.
    if (this.#isLinked(path, this.#scene.real)) return false
    const near = (other: string): boolean =>
      other === path || other.startsWith(`${path}/`) || path.startsWith(`${other}/`)
    if (this.#kept.some(near)) return false
    for (const place of [at, join(this.#scene.real, path)]) {
      if (statsOr(place)?.isDirectory() === true && this.#holdsWatched(place)) return false
    }
    return ![...pending, ...this.#touched].some(near)
  }

  #holdsWatched(directory: string): boolean {
    return readdirSync(directory, { withFileTypes: true, recursive: true }).some((entry) => {
      const stats = lstatSync(join(entry.parentPath, entry.name))
      return this.#isWatched(stats.ino) || (stats.isFile() && stats.nlink > 1)
    })
  }

  /** Where shadow and real tree differ: what the session has pending. */
  #pending(): Set<string> {
    const { real, shadow } = this.#scene
    const [one, other] = [dump(real), dump(shadow)]
    const [reals, shadows] = [new Set(one), new Set(other)]
    const differing = [
      ...one.filter((line) => !shadows.has(line)),
      ...other.filter((line) => !reals.has(line)),
    ]
    return new Set(differing.map((line) => line.split(' ')[0]?.slice(2) ?? ''))
  }

  /** A name in a real directory in which something is pending; null without one. */
  #nextTo(pending: ReadonlySet<string>): string | null {
    const parents = [...pending]
      .map((path) => dirname(path))
      .filter((path) => path !== '.' && statsOr(join(this.#scene.real, path))?.isDirectory())
    if (parents.length === 0) return null
    return `${this.#pick(parents)}/${this.#pick([...FILES, ...DIRECTORIES])}`
  }

  /** A few edits in the real tree and in the shadow. */
  edit(isSeen: boolean): void {
    const pins = this.#shadowPins()
    const pending = this.#pending()
    for (let count = this.#random(3); count > 0; count--) {
      const other = this.#chance(60)
        ? (this.#any() ?? 'f0')
        : this.#somePath(this.#chance(50) ? FILES : DIRECTORIES)
      const path = (this.#chance(50) ? this.#nextTo(pending) : null) ?? other
      if (!this.#isEditable(path, pins, pending)) continue
      const parent = dirname(path)
      if (!existsSync(join(this.#scene.real, parent))) continue
      const way = this.#random(5)
      this.#log.push(`edit ${path} ${way}`)
      const text = `person ${this.#count++}`
      for (const top of [this.#scene.real, this.#scene.shadow]) editOne(join(top, path), way, text)
      this.figures.edits++
      if (!isSeen) this.#unseen.add(path)
    }
  }

  /** Freezes, compares, promotes, prunes and compares again. */
  async settle(options: { crash?: 'promote' | 'prune'; refreshes?: boolean } = {}): Promise<void> {
    this.#log.push('settle')
    if (options.refreshes === true) {
      await this.view.refresh()
      this.#unseen.clear()
    }
    const frozen = await this.view.freeze()
    try {
      if (this.#chance(40)) this.edit(true)
      const promoted = await this.#promote(frozen, options.crash === 'promote')
      if (options.crash === 'prune') this.#dieSoon()
      const { pruned, kept, stale } = await frozen.prune(promoted)
      this.figures.pruned += pruned.length
      this.figures.kept += kept.length
      this.figures.settles++
      const short = (path: string): string => path.slice(this.#scene.real.length + 1)
      this.#log.push(`pruned ${pruned.map(short).join(' ')}; kept ${kept.map(short).join(' ')}`)
      this.#noteKept({ kept })
      if (stale.length > 0) throw new Error(`stale: ${JSON.stringify(stale)}`)
    } finally {
      frozen.thaw()
    }
    this.#unseen.clear()
    this.#touched.clear()
    await this.compare()
  }

  /**
   * The view shows edits of entries in use only when they are free, so people leave them alone. What it
   * keeps without a use has to show them.
   */
  #noteKept({ kept }: Pick<Pruned, 'kept'>): void {
    const pins = this.#shadowPins()
    const inodes = this.#usedInodes()
    const isUsed = (path: string): boolean => {
      for (let each = path; each !== '.'; each = dirname(each)) {
        const at = join(this.#scene.shadow, each)
        const inode = statsOr(at)?.ino
        if (pins.has(at) || (inode !== undefined && inodes.has(inode))) return true
      }
      return false
    }
    this.#kept = kept.map((path) => path.slice(this.#scene.real.length + 1)).filter(isUsed)
  }

  /** Of files and directories of the shadow, also those that are used by another name. */
  #usedInodes(): Set<number> {
    const inodes = new Set([...this.#watched.values()].flatMap((watched) => [...watched]))
    for (const path of this.#shadowPins()) {
      const stats = statsOr(path)
      if (stats !== undefined && path !== this.#scene.shadow) inodes.add(stats.ino)
    }
    return inodes
  }

  /** Kills this process with SIGKILL while it prunes, or soon after. */
  #dieSoon(): void {
    const script = `sleep 0.0${String(this.#random(40)).padStart(2, '0')}; kill -9 ${process.pid}`
    spawn('sh', ['-c', script], { stdio: 'ignore', detached: true })
  }

  async #promote(frozen: FrozenView, dies: boolean): Promise<readonly Change[]> {
    const { real } = this.#scene
    const scan = await frozen.scan()
    const below = (path: string): string => path.slice(real.length + 1)
    if (scan.conflicts.length > 0) throw new Error(`conflicts: ${JSON.stringify(scan.conflicts)}`)
    if (scan.findings.some(({ code }) => code !== 'diff.link_split')) {
      throw new Error(`findings: ${JSON.stringify(scan.findings)}`)
    }
    const found = scan.changes.map(({ path }) => below(path)).sort()
    const wanted = [...this.#pending()].sort()
    if (JSON.stringify(found) !== JSON.stringify(wanted)) {
      throw new Error(`pending ${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}`)
    }
    this.figures.changes += found.length
    this.figures.busy += found.filter((path) => frozen.busy.has(join(real, path) as never)).length
    const left = this.#chance(25) && found.length > 0 ? this.#pick(found).split('/')[0] : null
    const some = new Set(this.#chance(50) ? this.#someOf(scan.changes) : [])
    const names = [...some].map(({ path }) => below(path)).join(' ')
    this.#log.push(`left ${left} ${names}, busy ${[...frozen.busy].map(below).join(' ')}`)
    const chosen = whole(
      scan.changes.filter(
        (change) =>
          !frozen.busy.has(change.path) &&
          below(change.path).split('/')[0] !== left &&
          !some.has(change),
      ),
      scan.changes,
    )
    await frozen.prepare(chosen)
    const last = dies ? this.#random(chosen.length + 1) : -1
    promote(chosen, {
      layers: this.#sandbox?.layers ?? [],
      onStep: (step) => {
        if (step === last) this.#die({ changes: chosen, done: step })
      },
    })
    if (dies) this.#die({ changes: chosen, done: Number.MAX_SAFE_INTEGER })
    return chosen
  }

  /** Some of the changes, which wait for an answer while the others are promoted. Links stay together. */
  #someOf(changes: readonly Change[]): readonly Change[] {
    return changes.filter(({ before, after }) => {
      const isLinked = (before?.linkGroup ?? after?.linkGroup ?? null) !== null
      return after?.kind === 'file' && !isLinked && this.#chance(40)
    })
  }

  #die(interrupted: Interrupted): void {
    writeFileSync(join(this.#scene.base, INTERRUPTED), JSON.stringify(interrupted))
    process.kill(process.pid, 'SIGKILL')
  }

  /** Completes an interrupted promotion, as the gate does before it opens a session. */
  #recover({ layers }: Sandbox): void {
    const text = textOr(join(this.#scene.base, INTERRUPTED))
    if (text === '') return
    const { changes, done }: Interrupted = JSON.parse(text)
    promote(changes, { layers, done })
    rmSync(join(this.#scene.base, INTERRUPTED))
  }

  /** What processes inside see, and what is real. */
  async compare(): Promise<void> {
    await this.#both('x', 'tree')
    for (let worker = 0; worker < WORKERS; worker++) {
      await this.#both(worker, 'tree')
      await this.#both(worker, 'here')
    }
    for (const { worker, name, kind } of this.#slots) {
      if (kind === 'read' || kind === 'write') await this.#both(worker, 'get', name)
    }
  }
}

/** Leaves out what depends on a change that is left out: a deletion of a directory that something stays in. */
function whole(chosen: readonly Change[], all: readonly Change[]): readonly Change[] {
  const paths = new Set(chosen.map(({ path }) => path as string))
  const left = all.filter(({ path }) => !paths.has(path))
  return chosen.filter(({ path, before, after }) => {
    const isReplaced = before?.kind === 'directory' && after?.kind !== 'directory'
    if (isReplaced && left.some((each) => each.path.startsWith(`${path}/`))) return false
    // A place below something that stays as it is.
    return !left.some(
      (each) =>
        path.startsWith(`${each.path}/`) &&
        each.after?.kind === 'directory' &&
        each.before?.kind !== 'directory',
    )
  })
}

function editOne(path: string, way: number, text: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats?.isDirectory() === true) {
    if (way < 2) rmSync(path, { recursive: true })
    else if (way === 2) {
      rmSync(path, { recursive: true })
      writeFileSync(path, text)
    } else chmodSync(path, way === 3 ? 0o700 : 0o755)
    return
  }
  if (stats === undefined) {
    if (/\/d\d$/.test(path)) mkdirSync(path)
    else writeFileSync(path, text)
    return
  }
  if (stats.isSymbolicLink() || way === 0) rmSync(path)
  else if (way === 1) appendFileSync(path, text)
  else if (way === 2) {
    writeFileSync(`${path}.person`, text)
    renameSync(`${path}.person`, path)
  } else if (way === 3) writeFileSync(path, text)
  else chmodSync(path, 0o640)
}

function statsOr(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}

function linkOr(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}

function namesOr(path: string): readonly string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

function textOr(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
