/**
 * `verifyLedger(place, options)`: goes over a ledger and says whether its history holds (L-3).
 *
 *     verifyLedger({ directory }, { stream?, anchor?, pinnedKeys?, contracts, index?, onProgress? })
 *       → { ok, anchored, size, root, checked, problems: [{ code, seq?, message }] }
 *
 * `size` and `root` are of the stream that was asked for, else of the anchor's, else of `main`;
 * `anchored` says whether that stream was proven to extend a checkpoint kept elsewhere. All streams
 * are checked unless one is named; the host's always is, because it names the first key of each.
 *
 * The file is read in one snapshot, page by page. Nothing is repaired, and nothing is believed that
 * the file says about itself beyond what signatures, pinned keys and the anchor bind.
 */
import { join } from 'node:path'
import { fault, showName } from '../../base/index.ts'
import {
  BODY_RULES,
  emptyRoot,
  hashText,
  parseCheckpoint,
  parseNote,
  parseVerifierKey,
  StoreFailure,
  type VerifierKey,
} from '../../ledger/index.ts'
import type { LedgerPlace } from './ledger.ts'
import { failureOf, isDamage } from './sqlite.ts'
import { BodyCheck } from './verify-bodies.ts'
import {
  type KnownNote,
  LedgerVerification,
  type VerifyOptions,
  type VerifyReport,
} from './verify-run.ts'
import { SqliteRows } from './verify-sqlite.ts'

/** What `writ ledger verify` exits with. A ledger that lost facts or cannot be read is a fault. */
export function exitOfReport({ ok, problems }: VerifyReport): 0 | 1 | 4 {
  if (ok) return 0
  const grave = new Set<string>(['ledger.truncated', 'ledger.corrupt', 'ledger.version'])
  return problems.some(({ code }) => grave.has(code)) ? 4 : 1
}

export async function verifyLedger(
  { directory }: LedgerPlace,
  options: VerifyOptions,
): Promise<VerifyReport> {
  const anchors = readAnchors(options.anchor)
  const pinned = options.pinnedKeys === undefined ? null : readPins(options.pinnedKeys)
  const place = join(directory, 'ledger.db')
  const rows = new SqliteRows(directory)
  try {
    const bodies = new BodyCheck(join(directory, 'objects'), rows, options.bodyRules ?? BODY_RULES)
    const input = { place, bodies, anchors, pinned, options }
    return await new LedgerVerification(rows, input).run()
  } catch (error) {
    const failed = failureOf(error, place)
    if (!(failed instanceof StoreFailure) || !isDamage(failed.cause)) throw failed
    return unreadable(failed)
  } finally {
    await rows.close()
  }
}

/** A file that SQLite cannot read to its end has been found out as well. */
function unreadable({ fault: { code, message, details } }: StoreFailure): VerifyReport {
  const reason = details !== null && 'reason' in details ? `: ${details.reason}` : ''
  const problems = [{ code, message: `${message}${reason}` }]
  return { ok: false, anchored: false, size: 0, root: hashText(emptyRoot()), checked: 0, problems }
}

/** Anchors are handed in: one that cannot be read is a wrong call, not a finding. */
function readAnchors(given: string | readonly string[] | undefined): readonly KnownNote[] {
  const notes = given === undefined ? [] : typeof given === 'string' ? [given] : given
  return notes.map((note) => {
    const checkpoint = parseCheckpoint(parseNote(note)?.text ?? '')
    if (checkpoint !== null && checkpoint.size > 0) return { note, checkpoint }
    throw new StoreFailure(fault('ledger.checkpoint_malformed', 'anchor', null))
  })
}

function readPins(texts: readonly string[]): readonly VerifierKey[] {
  return texts.map((text) => {
    const key = parseVerifierKey(text.trim())
    if (key !== null) return key
    const message = `${showName(text)} is no public key of the form \`name+id+base64\``
    throw new StoreFailure(fault('ledger.key_malformed', 'pinned key', null, { message }))
  })
}
