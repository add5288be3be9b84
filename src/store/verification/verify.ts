/**
 * `verifyLedger(place, options)`: goes over a ledger and says whether its history holds (L-3).
 *
 *     verifyLedger({ directory }, { stream?, anchor?, pinnedKeys?, witnesses?, contracts, index?, kept?, onProgress? })
 *       → { ok, anchored, size, root, checked, problems: [{ code, seq?, message }], streams, witnessed }
 *
 * `size` and `root` are of the stream that was asked for, else of the anchor's, else of `main`;
 * `anchored` says whether every stream that was checked extends a checkpoint kept elsewhere. All
 * streams are checked unless one is named; the host's always is, because it names their first keys.
 *
 * The store is read in one snapshot, page by page. Nothing is repaired, and nothing is believed that
 * it says about itself beyond what signatures, pinned keys and the anchor bind.
 */
import { join } from 'node:path'
import { FaultError, faultError, showName } from '../../base/index.ts'
import {
  BODY_RULES,
  emptyRoot,
  hashText,
  parseCheckpoint,
  parseNote,
  parseVerifierKey,
  parseWitnessKey,
  type VerifierKey,
} from '../../ledger/index.ts'
import { failureOf } from '../database/sqlite-connection.ts'
import { readKeptAnchors } from '../ledger/kept-anchors.ts'
import type { LedgerPlace } from '../ledger/ledger.ts'
import { lostSince, readSeen, type SeenHead } from '../ledger/seen-heads.ts'
import { postgresPlaceOf, readStoreSetting } from '../ledger/store-setting.ts'
import { damageOf } from '../postgres/postgres-connection.ts'
import { withKept } from './check-kept.ts'
import { cosignedNotes } from './cosigned.ts'
import type { KnownNote } from './verify-anchors.ts'
import { BodyCheck } from './verify-index.ts'
import { openPostgresRows } from './verify-postgres.ts'
import type { LedgerRows } from './verify-rows.ts'
import { LedgerVerification, type VerifyOptions, type VerifyReport } from './verify-run.ts'
import { SqliteRows } from './verify-sqlite.ts'

/** What `writ ledger verify` exits with. A ledger that lost facts or cannot be read is a fault. */
export function exitOfReport({ ok, problems }: VerifyReport): 0 | 1 | 4 {
  if (ok) return 0
  const grave = new Set<string>(['ledger.truncated', 'ledger.corrupt', 'ledger.version'])
  return problems.some(({ code }) => grave.has(code)) ? 4 : 1
}

export async function verifyLedger(
  place: LedgerPlace,
  options: VerifyOptions,
): Promise<VerifyReport> {
  // Before the rows are read: other processes note more in between.
  const seen = readSeen(place.directory)
  const report = withSeen(await verifyHistory(place, options), seen, options)
  return options.kept === true ? withKept(report, place, options.stream) : report
}

/**
 * Adds the streams of a server that end before facts which this machine has seen. Where damage was found,
 * sizes and roots are those up to there and tell nothing.
 */
function withSeen(
  report: VerifyReport,
  seen: ReadonlyMap<string, SeenHead>,
  { stream }: VerifyOptions,
): VerifyReport {
  if (!report.ok) return report
  const lost = [...seen].flatMap(([name, before]) => {
    const now = report.streams.find((one) => one.stream === name)
    if (now === undefined && (stream !== undefined || report.streams.length === 0)) return []
    return lostSince(name, before, now ?? { size: 0, root: hashText(emptyRoot()) }) ?? []
  })
  if (lost.length === 0) return report
  const found = lost.map(({ fault: { code, message } }) => ({ code, message }))
  return { ...report, ok: false, anchored: false, problems: [...report.problems, ...found] }
}

async function verifyHistory(
  { directory }: LedgerPlace,
  options: VerifyOptions,
): Promise<VerifyReport> {
  const anchors = readAnchors(options.anchor)
  const pinned = options.pinnedKeys === undefined ? null : readPins(options.pinnedKeys)
  const { place, open, failed } = storeOf(directory)
  const rows = await open()
  try {
    const { objects } = rows
    const bodies = new BodyCheck(objects, rows, options.bodyRules ?? BODY_RULES)
    const named = options.witnesses?.map(readWitness) ?? null
    const kept = readKeptAnchors(directory)
    const cosigned = await cosignedNotes({ rows, objects, kept, named })
    const input = { place, bodies, anchors, cosigned, pinned, options }
    return await new LedgerVerification(rows, input).run()
  } catch (error) {
    const failure = failed(error)
    if (!(failure instanceof FaultError) || !isUnreadable(failure)) throw failure
    return unreadable(failure)
  } finally {
    await rows.close()
  }
}

interface VerifiedStore {
  readonly place: string
  readonly open: () => Promise<LedgerRows>
  /** The failure that an error of the store is. Bugs pass through. */
  readonly failed: (error: unknown) => unknown
}

function storeOf(directory: string): VerifiedStore {
  const setting = readStoreSetting(directory)
  if (setting.kind === 'postgres') {
    const { schema: place } = setting
    const server = postgresPlaceOf(setting)
    const open = (): Promise<LedgerRows> => openPostgresRows(server, directory)
    return { place, open, failed: (error) => damageOf(error, place, server.connection) }
  }
  const place = join(directory, 'ledger.db')
  const open = async (): Promise<LedgerRows> => new SqliteRows(directory)
  return { place, open, failed: (error) => failureOf(error, place) }
}

function isUnreadable({ fault: { code }, cause }: FaultError): boolean {
  return code === 'ledger.corrupt' && cause !== undefined
}

/** A store that cannot be read to its end has been found out as well. */
function unreadable({ fault: { code, message, details } }: FaultError): VerifyReport {
  const reason = details !== null && 'reason' in details ? `: ${details.reason}` : ''
  const problems = [{ code, message: `${message}${reason}` }]
  const root = hashText(emptyRoot())
  const none = { size: 0, root, checked: 0, problems, streams: [], witnessed: [] }
  return { ok: false, anchored: false, ...none }
}

/** Anchors are handed in: one that cannot be read is a wrong call, not a finding. */
function readAnchors(given: string | readonly string[] | undefined): readonly KnownNote[] {
  const notes = given === undefined ? [] : typeof given === 'string' ? [given] : given
  return notes.map((note) => {
    const checkpoint = parseCheckpoint(parseNote(note)?.text ?? '')
    if (checkpoint !== null && checkpoint.size > 0) return { note, checkpoint }
    throw faultError('ledger.checkpoint_malformed', 'anchor')
  })
}

function readWitness(text: string): VerifierKey {
  const key = parseWitnessKey(text.trim())
  if (key !== null) return key
  const message = `${showName(text)} is not the key of a witness`
  throw faultError('witness.key', '', message, 'writ witness list --json prints the keys')
}

function readPins(texts: readonly string[]): readonly VerifierKey[] {
  return texts.map((text) => {
    const key = parseVerifierKey(text.trim())
    if (key !== null) return key
    const message = `${showName(text)} is no public key of the form \`name+id+base64\``
    throw faultError('ledger.key_malformed', 'pinned key', message)
  })
}
