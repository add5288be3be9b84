/**
 * Keeps the order of a planning until its end. The answers are on the ledger, so that an interrupted
 * planning goes on from there.
 *
 * INVARIANT (one at a time): the process that plans holds the lock of the folder. The kernel releases it
 * when that process ends, also after a crash.
 */
import { join } from 'node:path'
import { type FaultError, faultCode, faultError, showName } from '../base/index.ts'
import type { Participant } from '../contracts/index.ts'
import type { Home } from '../home/index.ts'
import type { Principal } from '../ledger/index.ts'
import {
  makeFolder,
  namesIfThere,
  readIfThere,
  removeTreeSync,
  writeWhole,
} from '../machine/index.ts'
import { withWorkspaceLock } from '../promotion/index.ts'

const PLANNING_ID = /^plan-[0-9a-f-]{36}$/

/** The order of a planning. Participants name their secrets and do not hold them. */
export interface PlanningTerms {
  readonly goal: string
  /** Absolute, and real. */
  readonly workspace: string
  readonly planner: Participant
  readonly reviewer: Participant
  /** Names that tasks may be given to. */
  readonly owners: readonly string[]
  /** Where the caller wants an approved plan; handed back to the caller, and not used here. */
  readonly out: string | null
}

interface Kept {
  readonly stream: string
  /** Who began it; earlier versions did not write it down. */
  readonly by?: Principal
  readonly terms: PlanningTerms
}

export class PlanningFolder {
  readonly id: string
  readonly #folder: string

  constructor({ state }: Pick<Home, 'state'>, id: string) {
    // Ids become names of folders: anything else could lead elsewhere.
    if (!PLANNING_ID.test(id)) throw noPlanning(id)
    this.id = id
    this.#folder = join(state, 'plannings', id)
  }

  /** Writes the order; durable before the first participant is asked. */
  begin(stream: string, by: Principal, terms: PlanningTerms): void {
    makeFolder(this.#folder, 0o700)
    const kept: Kept = { stream, by, terms }
    writeWhole(join(this.#folder, 'order.json'), JSON.stringify(kept), 0o600)
  }

  terms(stream: string): PlanningTerms | null {
    return this.order(stream)?.terms ?? null
  }

  /** Null when it has ended, never was, or is another stream's. */
  order(stream: string): Kept | null {
    const text = readIfThere(join(this.#folder, 'order.json'))
    if (text === null) return null
    // Written whole, by `begin`.
    const kept = JSON.parse(text) as Kept
    return kept.stream === stream ? kept : null
  }

  /** Fails with `flow.taken` when another process plans this. */
  async locked<T>(work: () => Promise<T>): Promise<T> {
    let isHeld = false
    try {
      return await withWorkspaceLock(this.#folder, { waitMs: 0 }, () => {
        isHeld = true
        return work()
      })
    } catch (error) {
      if (isHeld || faultCode(error) !== 'workspace.busy') throw error
      const message = `another process is at the planning ${showName(this.id)}`
      throw faultError('flow.taken', this.id, message)
    }
  }

  end(): void {
    removeTreeSync(this.#folder)
  }
}

/** The one planning that is meant: by a part of its id that no other has, or the newest. */
export function findPlanning(
  home: Pick<Home, 'state'>,
  stream: string,
  part: string | null,
): PlanningFolder {
  const open = namesIfThere(join(home.state, 'plannings'))
    .filter((name) => PLANNING_ID.test(name))
    .map((name) => new PlanningFolder(home, name))
    .filter((folder) => folder.terms(stream) !== null)
  // Ids begin with their time.
  const meant = part === null ? open.slice(-1) : open.filter(({ id }) => id.includes(part))
  const [found] = meant
  if (found === undefined || meant.length > 1) throw noPlanning(part ?? '')
  return found
}

function noPlanning(part: string): FaultError {
  const message =
    part === ''
      ? 'no planning was interrupted'
      : `no one planning that was interrupted is called ${showName(part)}`
  return faultError('flow.unknown_run', part, message)
}
