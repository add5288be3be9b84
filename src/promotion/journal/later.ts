/**
 * Acts that stand on another one: promoted after it, and they changed a path that it changed, put
 * something into a directory that it made, or took a directory away that it needs. Rolling the older
 * act back first would leave these without what they displaced, also where the bytes are the same again.
 */
import { type Change, parentOfRaw, type RawPath } from '../../gate/index.ts'
import { planLines } from './exchange.ts'
import { readHead } from './journal.ts'
import { sharedBy } from './shared-directory.ts'

/** An act with the directory of its pre-images. */
export interface KeptAct {
  readonly id: string
  readonly keep: string
}

export interface LaterAct extends KeptAct {
  readonly beganAtMs: number
}

/** Those of `kept` that stand on the chosen ones or on one another, oldest first. */
export function laterActs(chosen: readonly KeptAct[], kept: readonly KeptAct[]): LaterAct[] {
  const ids = new Set(chosen.map(({ id }) => id))
  const ground = new Touched()
  const dated = [...chosen, ...kept.filter(({ id }) => !ids.has(id))]
    .flatMap((act) => {
      const beganAtMs = beganAt(act.keep)
      return beganAtMs === null ? [] : [{ ...act, beganAtMs }]
    })
    .sort((one, other) => one.beganAtMs - other.beganAtMs)
  const first = dated.findIndex(({ id }) => ids.has(id))
  const since = dated.slice(Math.max(first, 0))
  if (since.every(({ id }) => ids.has(id))) return []
  const later: LaterAct[] = []
  for (const act of since) {
    if (!ids.has(act.id)) {
      if (!ground.isUnder(act.keep)) continue
      later.push(act)
    }
    for (const change of plannedChanges(act.keep)) ground.add(change)
  }
  return later
}

/** What some acts changed. */
class Touched {
  readonly #paths = new Set<RawPath>()
  readonly #made = new Set<RawPath>()
  readonly #above = new Set<RawPath>()

  add({ path, before, after }: Change): void {
    this.#paths.add(path)
    if (after?.kind === 'directory' && before?.kind !== 'directory') this.#made.add(path)
    for (const each of ancestorsOf(path)) {
      if (this.#above.has(each)) break
      this.#above.add(each)
    }
  }

  isUnder(keep: string): boolean {
    // A directory that both acts made is no ground of either.
    const shared = new Set(sharedBy(keep).map(({ path }) => path))
    for (const change of plannedChanges(keep)) if (this.#meets(change, shared)) return true
    return false
  }

  #meets({ path, before, after }: Change, shared: ReadonlySet<RawPath>): boolean {
    if (this.#paths.has(path)) return true
    const takesDirectory = before?.kind === 'directory' && after?.kind !== 'directory'
    if (takesDirectory && this.#above.has(path)) return true
    if (after === null || this.#made.size === 0) return false
    for (const each of ancestorsOf(path)) {
      if (this.#made.has(each) && !shared.has(each)) return true
    }
    return false
  }
}

function* ancestorsOf(path: RawPath): Generator<RawPath> {
  for (let next = parentOfRaw(path); next !== '/' && next !== ''; next = parentOfRaw(next)) {
    yield next
  }
}

/** Null when there is no plan, or it is that of a rollback. */
function beganAt(keep: string): number | null {
  const head = readHead(keep)
  return head?.kind === 'promotion' ? head.beganAtMs : null
}

function* plannedChanges(keep: string): Generator<Change> {
  for (const line of planLines(keep)) if ('change' in line) yield line.change
}
