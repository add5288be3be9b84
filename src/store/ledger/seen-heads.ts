/**
 * `heads.json` in the state directory: how far this machine has seen each stream of a ledger that lies
 * on a server. A server that was restored from an older backup is found out by it, before anything is
 * recorded behind facts that were there and are not.
 */
import { join } from 'node:path'
import { FaultError, fault, faultCode, showPath } from '../../base/index.ts'
import { isObject } from '../../contracts/index.ts'
import { hashText, type SignedHead } from '../../ledger/index.ts'
import { readIfThere, writeWhole } from '../../machine/index.ts'
import { rolledBack } from '../streams/rolled-back.ts'

const FILE = 'heads.json'

export interface SeenHead {
  readonly size: number
  readonly root: string
}

/** A machine that joined a moment ago has no such file. Fails if it does not say what was seen. */
export function readSeen(state: string): ReadonlyMap<string, SeenHead> {
  const file = join(state, FILE)
  const text = readIfThere(file)
  if (text === null) return new Map()
  try {
    const value: unknown = JSON.parse(text)
    const rows = isObject(value) ? Object.entries(value) : []
    // Each of them is looked at.
    if (isObject(value) && rows.every(isSeen)) return new Map(rows as [string, SeenHead][])
  } catch {
    // Said below.
  }
  const message = `${showPath(file)} was changed or damaged: it says what this machine has seen of the ledger, and without it a server that lost facts is not found out`
  const hint =
    'put the file back from a backup, or: on another machine of the home `writ ledger checkpoint > kept.txt`; here remove the file, then at once `writ ledger verify --from kept.txt`'
  const reason = 'it does not hold sizes and roots of streams'
  throw new FaultError(fault('ledger.corrupt', file, { reason }, { message, hint }))
}

function isSeen([, row]: readonly [string, unknown]): boolean {
  if (!isObject(row)) return false
  // An object of any keys; both are looked at.
  const { size, root } = row as Partial<SeenHead>
  return Number.isSafeInteger(size) && typeof root === 'string'
}

/**
 * Fails if the ledger has lost facts that this machine has seen; else notes how far it goes now, if `check`
 * lets what came since pass. What was seen is read before the server is asked: other processes note more
 * in between.
 */
export async function compareHeads(
  state: string,
  ask: () => Promise<readonly SignedHead[]>,
  check: (heads: readonly SignedHead[]) => Promise<void> = async () => undefined,
): Promise<void> {
  const seen = readSeen(state)
  const heads = await ask()
  refuseLost(seen, heads, true)
  await check(changedSince(seen, heads))
  noteHeads(state, heads)
}

/**
 * The same for readers: without a note, since they may have no right or no room to write. A stream that is
 * gone and tables that cannot be read are damage, which reading finds and names by itself. Any other
 * failure is thrown: a head that says anything else than its checkpoint must not keep this from looking.
 */
export async function refuseBehind(
  state: string,
  ask: () => Promise<readonly SignedHead[]>,
  check: (heads: readonly SignedHead[]) => Promise<void>,
): Promise<void> {
  const seen = readSeen(state)
  const heads = await ask().catch(noneOfDamaged)
  refuseLost(seen, heads, false)
  await check(changedSince(seen, heads))
}

function noneOfDamaged(error: unknown): readonly SignedHead[] {
  if (faultCode(error) === 'ledger.corrupt') return []
  throw error
}

function changedSince(
  seen: ReadonlyMap<string, SeenHead>,
  heads: readonly SignedHead[],
): readonly SignedHead[] {
  return heads.filter(({ stream, size }) => seen.get(stream)?.size !== size)
}

function refuseLost(
  seen: ReadonlyMap<string, SeenHead>,
  heads: readonly SignedHead[],
  isWhole: boolean,
): void {
  for (const [stream, before] of seen) {
    const now = heads.find((head) => head.stream === stream)
    if (now === undefined && !isWhole) continue
    const root = hashText(now?.root ?? new Uint8Array())
    const lost = lostSince(stream, before, { size: now?.size ?? 0, root })
    if (lost !== null) throw lost
  }
}

/** Why a stream is not what this machine has seen of it; null if it is, or goes on from there. */
export function lostSince(stream: string, before: SeenHead, now: SeenHead): FaultError | null {
  const isOther = now.size === before.size && now.root !== before.root
  return now.size >= before.size && !isOther ? null : rolledBack(stream, now.size, before.size)
}

/** What another process has noted meanwhile is not taken back. */
function noteHeads(state: string, heads: readonly SignedHead[]): void {
  const noted = readSeen(state)
  const rows = heads.map(({ stream, size, root }) => {
    const other = noted.get(stream)
    const isBehind = other !== undefined && other.size > size
    return [stream, isBehind ? other : { size, root: hashText(root) }]
  })
  const text = `${JSON.stringify(Object.fromEntries(rows))}\n`
  if (readIfThere(join(state, FILE)) !== text) writeWhole(join(state, FILE), text, 0o600)
}
