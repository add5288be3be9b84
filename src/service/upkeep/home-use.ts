/**
 * What takes how much in the state of a home (`writ du`), and what of it is no longer needed
 * (`writ gc`). Finds by the rules of the hourly sweep; only `removeUnneeded` changes anything.
 */
import { lstatSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isUuid } from '../../base/index.ts'
import type { SandboxResult } from '../../contracts/index.ts'
import type { PendingQuestion as Pending } from '../../gate/index.ts'
import type { KnownHome } from '../../home/index.ts'
import { occurredAtText } from '../../ledger/index.ts'
import { namesIfThere, removeTree, removeTreeSync } from '../../machine/index.ts'
import type { GateSettings } from '../../policy/index.ts'
import { measureKeep, type Retention } from '../../promotion/index.ts'
import { isGone, killStragglers, sandboxBase, sandboxLeftovers } from '../../sandbox/index.ts'
import type { Ledger } from '../../store/index.ts'
import { pendingId } from '../questions/questions.ts'
import type { LedgerView } from '../records/ledger-view.ts'
import { isHeldStage, stagePlaces } from '../stage/stage-place.ts'
import {
  type ActOf,
  actOf,
  HOUR_MS,
  keptPreimages,
  removeSurplus,
  surplusAt,
  undoRetention,
} from './surplus.ts'

/** A home with what each of its streams needs. */
export interface HomeInUse {
  readonly home: KnownHome
  readonly ledger: Ledger
  readonly holdings: readonly Holdings[]
  readonly nowMs: number
}

/** Something that can be removed. */
export interface Unneeded {
  readonly kind: 'stage' | 'preimages' | 'leftover'
  readonly path: string
  readonly bytes: number
}

export type HomePart = 'ledger' | 'bodies' | 'questions' | 'flows' | 'undo' | 'caches' | 'other'

export interface HomeUse {
  readonly parts: Readonly<Record<HomePart, number>>
  readonly questions: readonly (Omit<StagedQuestion, 'sandbox_id'> & { readonly bytes: number })[]
  /** By the end of their time, the first one first. */
  readonly undo: readonly UndoRoom[]
  /** Counted in the parts as well, except for what lies outside the home. */
  readonly unneeded: readonly Unneeded[]
}

interface UndoRoom {
  readonly action_id: string
  readonly until: string
  readonly taken_back: boolean
  readonly bytes: number
}

const PARTS: Readonly<Record<string, HomePart>> = {
  'ledger.db': 'ledger',
  'ledger.db-wal': 'ledger',
  'ledger.db-shm': 'ledger',
  'ledger.db-turns': 'ledger',
  'store.json': 'ledger',
  'principals.json': 'ledger',
  keys: 'ledger',
  journal: 'ledger',
  objects: 'bodies',
  'ledger-index.db': 'caches',
  'ledger-index.db-wal': 'caches',
  'ledger-index.db-shm': 'caches',
  standing: 'caches',
  'laws.json': 'caches',
  reserve: 'caches',
}

const STAGE = 'stage'
const PREIMAGES = 'preimages'

export async function surveyHome(inUse: HomeInUse): Promise<HomeUse> {
  const { home, holdings } = inUse
  const parts = { ledger: 0, bodies: 0, questions: 0, flows: 0, undo: 0, caches: 0, other: 0 }
  for (const name of namesIfThere(home.state)) {
    if (name !== STAGE) parts[PARTS[name] ?? 'other'] += measureKeep(join(home.state, name))
  }
  const bytesOf = new Map<string, number>()
  for (const place of stagePlaces(home)) {
    for (const name of namesIfThere(place)) {
      const bytes = measureKeep(join(place, name))
      bytesOf.set(name, bytes)
      parts[stagePart(place, name)] += bytes
    }
  }
  const waiting = holdings.flatMap((each) => each.waiting)
  return {
    parts,
    questions: waiting.map(({ sandbox_id, ...question }) => {
      return { ...question, bytes: bytesOf.get(sandbox_id) ?? 0 }
    }),
    undo: undoRooms(inUse),
    unneeded: await findUnneeded(inUse),
  }
}

function stagePart(place: string, name: string): HomePart {
  if (name === PREIMAGES) return 'undo'
  if (!isUuid(name)) return 'other'
  return isHeldStage(join(place, name)) ? 'flows' : 'questions'
}

function undoRooms({ home, holdings }: HomeInUse): readonly UndoRoom[] {
  const actOf = anyActOf(holdings)
  return stagePlaces(home)
    .flatMap((place) => keptPreimages(place, actOf))
    .flatMap(({ actionId: name, bytes }) => {
      const act = actOf(name)
      if (act === null) return []
      const { actionId: action_id, undoUntil: until, rolledBackBy } = act
      return [{ action_id, until, taken_back: rolledBackBy !== null, bytes }]
    })
    .sort((one, other) => (one.until < other.until ? -1 : 1))
}

/** Returns everything that `removeUnneeded` may remove. */
export async function findUnneeded(inUse: HomeInUse): Promise<readonly Unneeded[]> {
  const { home, ledger, holdings, nowMs } = inUse
  const [first] = holdings
  const needs = {
    actOf: anyActOf(holdings),
    retention: first?.retention ?? { periodMs: Infinity, quotaBytes: Infinity },
    stagesBeforeMs: nowMs - HOUR_MS,
    ended: new Set(holdings.flatMap(({ expired }) => expired.map(idOfSandbox))),
    needed: new Set(
      holdings.flatMap(({ waiting, approved }) => [...waiting.map(idOfSandbox), ...approved]),
    ),
  }
  const found: Unneeded[] = []
  for (const place of stagePlaces(home)) {
    for (const { kind, path } of await surplusAt({ home, ledger }, place, needs, nowMs)) {
      found.push({ kind, path, bytes: measureKeep(path) })
    }
  }
  const leftovers = [
    ...sandboxLeftovers(sandboxBase(), stagePlaces(home)),
    ...abandonedDrafts(dirname(home.state)),
    ...[home.state, join(home.state, 'objects', 'tmp')].flatMap((folder) =>
      oldTemporaries(folder, nowMs),
    ),
  ]
  for (const path of leftovers) found.push({ kind: 'leftover', path, bytes: measureKeep(path) })
  return found
}

function idOfSandbox({ sandbox_id }: StagedQuestion): string {
  return sandbox_id
}

function anyActOf(holdings: readonly Holdings[]): Holdings['actOf'] {
  return (name) => {
    for (const { actOf } of holdings) {
      const act = actOf(name)
      if (act !== null) return act
    }
    return null
  }
}

const DRAFT = /^([0-9a-f-]{36})\.(\d+)\.tmp$/

/** Returns states that were half made or half removed when their process ended. */
function abandonedDrafts(root: string): readonly string[] {
  return namesIfThere(root)
    .filter((name) => {
      const [, id = '', pid = ''] = DRAFT.exec(name) ?? []
      return isUuid(id) && isGone(Number(pid))
    })
    .map((name) => join(root, name))
}

/** Returns files that were being written under another name an hour ago. */
function oldTemporaries(folder: string, nowMs: number): readonly string[] {
  return namesIfThere(folder)
    .filter((name) => name.endsWith('.tmp') || basename(folder) === 'tmp')
    .map((name) => join(folder, name))
    .filter((path) => {
      const stats = lstatSync(path, { throwIfNoEntry: false })
      return stats?.isFile() === true && stats.mtimeMs < nowMs - HOUR_MS
    })
}

export async function removeUnneeded(unneeded: readonly Unneeded[]): Promise<void> {
  for (const { kind, path } of unneeded) {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) continue
    if (kind !== 'leftover') removeSurplus({ kind, path, because: 'ended' })
    else if (dirname(path) === sandboxBase()) {
      killStragglers(path)
      await removeTree(path)
    } else removeTreeSync(path)
  }
}

interface StagedQuestion {
  readonly id: string
  readonly action_id: string
  readonly sandbox_id: string
  readonly expires_at: string
}

export interface Holdings {
  readonly waiting: readonly StagedQuestion[]
  /** Their time is over, and no command has recorded that yet. */
  readonly expired: readonly StagedQuestion[]
  /** Sandboxes of acts that are approved and not carried out yet. */
  readonly approved: readonly string[]
  readonly actOf: ActOf
  readonly retention: Retention
}

/**
 * What one stream still needs of the state directory: stages of questions, and pre-images for undo.
 */
export async function holdingsOf(
  view: LedgerView,
  { retention }: Pick<GateSettings, 'retention'>,
  nowMs: number,
): Promise<Holdings> {
  const standing = await view.standing()
  const approved: string[] = []
  for (const { actionId } of standing.approved()) {
    const sandbox = await sandboxOf(view, actionId)
    if (sandbox !== null) approved.push(sandbox)
  }
  return {
    waiting: await stagedQuestions(view, standing.pending(nowMs)),
    expired: await stagedQuestions(view, standing.expired(nowMs)),
    approved,
    actOf: actOf(standing),
    retention: undoRetention(retention),
  }
}

async function stagedQuestions(
  view: LedgerView,
  questions: readonly Pending[],
): Promise<readonly StagedQuestion[]> {
  const found: StagedQuestion[] = []
  for (const pending of questions) {
    const sandbox_id = (await sandboxOf(view, pending.actionId)) ?? ''
    const expires_at = occurredAtText(pending.expiresMs)
    found.push({ id: pendingId(pending), action_id: pending.actionId, sandbox_id, expires_at })
  }
  return found
}

async function sandboxOf(view: LedgerView, actionId: string): Promise<string | null> {
  const found = await view.factOf('sandbox_result_v1', actionId)
  // The fact follows its contract.
  return found === null ? null : (found.payload as SandboxResult).sandbox_id
}
