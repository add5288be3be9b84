/**
 * Promotions without a sandbox: a workspace, a copy of it that is changed as a rehearsal would have,
 * the list of what differs, and a stage made of the copy's own entries. Everything lies in one
 * temporary directory on the disk.
 */
import { createHash, randomUUID } from 'node:crypto'
import {
  type BigIntStats,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Digest } from '../../src/base/index.ts'
import { type Change, type EntryState, isSameState, type RawPath } from '../../src/gate/index.ts'
import { parseAttributes } from '../../src/machine/attributes.ts'
import { removeTreeSync } from '../../src/machine/remove-tree.ts'
import {
  type AppliedPromotion,
  type AppliedRollback,
  applyStage,
  type PromotionRequest,
  type Recovered,
  type RecoveryRequest,
  type RollbackRequest,
  recover,
  rollback,
  type WorkspaceLock,
  withWorkspaceLock,
} from '../../src/promotion/index.ts'
import { writeStage } from '../../src/tree/stage.ts'
import { callTool } from '../tree/tools.ts'

export interface Rig {
  readonly base: string
  readonly tree: string
  readonly state: string
  readonly preimages: string
  /** Facts, in the order of their recording; a key is recorded once. */
  readonly facts: Map<string, AppliedPromotion | AppliedRollback>
  remove(): void
}

export function makeRig(name: string): Rig {
  const base = mkdtempSync(join(tmpdir(), `writ-promotion-${name}-`))
  return openRig(base)
}

/** The same again, in another process. */
export function openRig(base: string): Rig {
  const at = (name: string): string => join(base, name)
  for (const name of ['tree', 'state', 'preimages']) mkdirSync(at(name), { recursive: true })
  return {
    base,
    tree: at('tree'),
    state: at('state'),
    preimages: at('preimages'),
    facts: new Map(),
    remove: () => removeTreeSync(base),
  }
}

export interface Rehearsed {
  readonly actionId: string
  readonly changes: readonly Change[]
  readonly stage: string
  /** The tree as the rehearsal left it. */
  readonly wanted: ReadonlyMap<RawPath, EntryState>
}

/** Does something to a copy of the tree, and stages what came of it. */
export async function rehearse(
  { base, tree }: Rig,
  change: (copy: string) => void,
  actionId: string = randomUUID(),
): Promise<Rehearsed> {
  const copy = join(base, `copy-${actionId}`)
  const made = callTool(['cp', '-a', '--', tree, copy])
  if (made.status !== 0) throw new Error(made.stderr)
  change(copy)
  const before = readTree(tree, tree)
  const wanted = readTree(copy, tree)
  const changes = changesBetween(before, wanted)
  const stage = join(base, 'stage', actionId)
  await stageFrom(copy, tree, changes, stage)
  removeTreeSync(copy)
  return { actionId, changes, stage, wanted }
}

export function changesBetween(
  before: ReadonlyMap<RawPath, EntryState>,
  after: ReadonlyMap<RawPath, EntryState>,
): Change[] {
  const changes: Change[] = []
  for (const path of new Set([...before.keys(), ...after.keys()])) {
    const change = { path, before: before.get(path) ?? null, after: after.get(path) ?? null }
    if (!isSameState(change.before, change.after)) changes.push(change)
  }
  return changes.sort((one, other) => (one.path < other.path ? -1 : 1))
}

async function stageFrom(
  copy: string,
  tree: string,
  changes: readonly Change[],
  stage: string,
): Promise<void> {
  mkdirSync(stage, { recursive: true, mode: 0o700 })
  const [from, to] = [raw(tree), raw(copy)]
  const covered = new Set<RawPath>()
  const entries: { path: RawPath; place: RawPath; isUnit: boolean }[] = []
  for (const { path, before, after } of changes) {
    const parent = path.slice(0, path.lastIndexOf('/')) as RawPath
    if (covered.has(parent) && after !== null) covered.add(path)
    if (covered.has(path) || after === null) continue
    if (before?.kind === 'directory' && after.kind === 'directory') continue
    const place = `u${entries.length}` as RawPath
    moveTo(bytes(to + path.slice(from.length)), join(stage, place), after.mode)
    entries.push({ path, place, isUnit: true })
    if (after.kind === 'directory') covered.add(path)
  }
  writeStage({ stage, entries, emptied: [] })
}

/** Out of the copy; what forbids its owner to move it is opened up for that. */
function moveTo(path: Buffer, to: string, mode: number): void {
  chmodSync(path.subarray(0, path.lastIndexOf('/')), 0o700)
  const isClosed = lstatSync(path).isDirectory() && (mode & 0o300) !== 0o300
  if (isClosed) chmodSync(path, 0o700)
  renameSync(path, to)
  if (isClosed) chmodSync(to, mode)
}

export function keepFor({ preimages }: Rig, actionId: string): string {
  return join(preimages, actionId)
}

type Tuning = Partial<Omit<PromotionRequest, 'lock'>>

export function requestFor(
  rig: Rig,
  { actionId, changes, stage }: Pick<Rehearsed, 'actionId' | 'changes' | 'stage'>,
  lock: WorkspaceLock,
  tuning: Tuning = {},
): PromotionRequest {
  return {
    actionId,
    lock,
    changes,
    stage,
    keep: keepFor(rig, actionId),
    state: rig.state,
    roots: [],
    isHalted: () => false,
    record: async (promotion) => {
      rig.facts.set(`promotion/${promotion.actionId}`, promotion)
    },
    note: { why: 'a test' },
    ...tuning,
  }
}

export function promoteIn(
  rig: Rig,
  rehearsed: Rehearsed,
  tuning: Tuning = {},
): Promise<AppliedPromotion> {
  return withWorkspaceLock(rig.tree, { waitMs: 5000 }, (lock) =>
    applyStage(requestFor(rig, rehearsed, lock, tuning)),
  )
}

export function rollbackIn(
  rig: Rig,
  actionIds: readonly string[],
  tuning: Partial<Omit<RollbackRequest, 'lock'>> = {},
): Promise<AppliedRollback> {
  const rollbackId = tuning.rollbackId ?? randomUUID()
  return withWorkspaceLock(rig.tree, { waitMs: 5000 }, (lock) =>
    rollback({
      rollbackId,
      lock,
      actions: actionIds.map((actionId) => ({ actionId, keep: keepFor(rig, actionId) })),
      keep: keepFor(rig, `rollback-${rollbackId}`),
      state: rig.state,
      record: async (done) => {
        rig.facts.set(`rollback/${done.rollbackId}`, done)
      },
      note: null,
      ...tuning,
    }),
  )
}

export function recoverIn(
  rig: Rig,
  tuning: Partial<Omit<RecoveryRequest, 'lock'>> = {},
): Promise<Recovered[]> {
  return withWorkspaceLock(rig.tree, { waitMs: 5000 }, (lock) =>
    recover({ lock, state: rig.state, ...recording(rig), ...tuning }),
  )
}

/** The first record under a key counts, as in a ledger. */
export function recording(rig: Rig): Pick<RecoveryRequest, 'recordPromotion' | 'recordRollback'> {
  const put = (key: string, fact: AppliedPromotion | AppliedRollback): void => {
    if (!rig.facts.has(key)) rig.facts.set(key, fact)
  }
  return {
    recordPromotion: async (fact) => put(`promotion/${fact.actionId}`, fact),
    recordRollback: async (fact) => put(`rollback/${fact.rollbackId}`, fact),
  }
}

/** Every entry of a tree, named as if the tree lay at `as`. */
export function readTree(root: string, as: string): ReadonlyMap<RawPath, EntryState> {
  const attributes = readAllAttributes(root)
  const entries = new Map<RawPath, EntryState>()
  const groups = new Map<string, string>()
  const open: string[] = [raw(root)]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const stats = lstatSync(bytes(next), { bigint: true })
    const path = (raw(as) + next.slice(raw(root).length)) as RawPath
    entries.set(path, stateOf(next, stats, attributes, groups))
    if (!stats.isDirectory()) continue
    for (const name of readdirSync(bytes(next), { encoding: 'latin1' }))
      open.push(`${next}/${name}`)
  }
  return entries
}

function stateOf(
  path: string,
  stats: BigIntStats,
  attributes: ReturnType<typeof parseAttributes>,
  groups: Map<string, string>,
): EntryState {
  const kind = stats.isFile() ? 'file' : stats.isDirectory() ? 'directory' : 'symlink'
  const inode = `${stats.dev}:${stats.ino}`
  const isLinked = kind === 'file' && stats.nlink > 1n
  if (isLinked && !groups.has(inode)) groups.set(inode, path)
  return {
    kind,
    mode: Number(stats.mode & 0o7777n),
    size: kind === 'file' ? Number(stats.size) : 0,
    digest: kind === 'file' ? digestOf(readFileSync(bytes(path))) : null,
    target: kind === 'symlink' ? (readlinkSync(bytes(path), 'latin1') as RawPath) : null,
    attributes: attributes.get(path as RawPath)?.kept ?? [],
    owner: process.getuid?.() === 0 ? { uid: Number(stats.uid), gid: Number(stats.gid) } : null,
    mtimeNs: String(stats.mtimeNs),
    linkGroup: isLinked ? (groups.get(inode) ?? null) : null,
  }
}

function digestOf(contents: Uint8Array): Digest {
  return `sha256:${createHash('sha256').update(contents).digest('hex')}` as Digest
}

function readAllAttributes(root: string): ReturnType<typeof parseAttributes> {
  const args = ['-R', '-P', '-h', '-d', '-m', '-', '-e', 'hex', '--absolute-names', '--', root]
  const { stdout } = callTool(['getfattr', ...args])
  return parseAttributes(stdout, 'real')
}

export function raw(text: string): string {
  return Buffer.from(text).toString('latin1')
}

export function bytes(path: string): Buffer {
  return Buffer.from(path, 'latin1')
}

/** Paths at which a tree is not as it was wanted; times of directories are their own. */
export function unlike(rig: Rig, wanted: ReadonlyMap<RawPath, EntryState>): string[] {
  return changesBetween(readTree(rig.tree, rig.tree), wanted).map(({ path }) => path)
}

export function hasJournals({ state }: Rig): boolean {
  const directory = join(state, 'journal')
  return existsSync(directory) && readdirSync(directory).length > 0
}

/** The code of the fault that something fails with; the promise must not resolve. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
  } catch (error) {
    const { fault } = error as { readonly fault?: { readonly code: string } }
    if (fault === undefined) throw error
    return fault.code
  }
  return 'none'
}
