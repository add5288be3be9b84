/**
 * Verifies the files that keep the folded state of each stream (`standing/kept-standing.ts`): reads
 * every file whole, folds the facts that it claims to come from again, and compares. The files prove
 * nothing and can be built again, but a person with the key could lift a block by altering one.
 */
import { join } from 'node:path'
import { canonicalJson, showName } from '../../base/index.ts'
import { COOLDOWN_MS, type KeptTable, STANDING_VERSION, StandingFold } from '../../gate/index.ts'
import { HOST_STREAM, type Problem, parseVerifierKey, verifierFor } from '../../ledger/index.ts'
import { namesIfThere } from '../../machine/index.ts'
import type { FileSeal } from '../keys/ed25519.ts'
import { readPublicKeys } from '../keys/keys.ts'
import { checkCurrentKey } from '../keys/recorded-keys.ts'
import { type LedgerReader, openHistory } from '../ledger/export-reader.ts'
import type { LedgerPlace } from '../ledger/ledger.ts'
import {
  type Disbelieved,
  damageOf,
  KeptStanding,
  mismatch,
  openKept,
  standingFolder,
  streamOfFile,
} from '../standing/kept-standing.ts'
import { standingPage } from '../standing/standing-view.ts'
import type { VerifyReport } from './verify-run.ts'

/** Adds to the report of a valid history what is wrong with the kept files and the current key. */
export async function withKept(
  report: VerifyReport,
  place: LedgerPlace,
  stream?: string,
): Promise<VerifyReport> {
  if (!report.ok) return report
  const reader = await openHistory(place)
  try {
    const problems = [
      ...(await checkKept(place, reader, stream)),
      ...(await checkCurrentKey(join(place.directory, 'keys'), reader)),
    ]
    const anchored = report.anchored && problems.length === 0
    return problems.length === 0 ? report : { ...report, ok: false, anchored, problems }
  } finally {
    await reader.close()
  }
}

/** Returns what is wrong with the kept files, of one stream or of all. Removes none of them. */
async function checkKept(
  { directory }: LedgerPlace,
  reader: LedgerReader,
  stream?: string,
): Promise<readonly Problem[]> {
  const problems: Problem[] = []
  for (const file of namesIfThere(standingFolder(directory))) {
    const name = streamOfFile(file.replace(/\.seen$/, ''))
    if (name === null || (stream !== undefined && name !== stream)) continue
    const wrong = await checkOne(join(standingFolder(directory), file), name, directory, reader)
    if (wrong !== null) problems.push(problemOf(file, wrong))
  }
  return problems
}

async function checkOne(
  file: string,
  stream: string,
  directory: string,
  reader: LedgerReader,
): Promise<Disbelieved | null> {
  const kept = openKept(file, () => publicSeal(join(directory, 'keys')))
  if (!(kept instanceof KeptStanding)) return kept
  try {
    // What another version of writ kept is replaced at the next command, and wrong in nothing.
    if (kept.version !== STANDING_VERSION) return null
    const wrong = await mismatch(kept, reader.store, stream)
    return wrong ?? difference(kept, await foldedAgain(kept, stream, reader))
  } catch (error) {
    return damageOf(error)
  } finally {
    kept.close()
  }
}

/**
 * Of every key that the ledger has or had: commands believe the present one alone, but what an earlier
 * one signed is compared with the facts like anything else.
 */
function publicSeal(keys: string): Pick<FileSeal, 'isOwn'> {
  const verifiers = readPublicKeys(keys).flatMap((text) => {
    const key = parseVerifierKey(text)
    return (key === null ? null : verifierFor(key)) ?? []
  })
  return {
    isOwn: (text, signature) => verifiers.some((verifier) => verifier.verify(text, signature)),
  }
}

/** What is remembered does not depend on the settings. */
const OPTIONS = { confirmationMs: 0, cooldownMs: COOLDOWN_MS }

async function foldedAgain(
  { positions }: KeptStanding,
  stream: string,
  reader: LedgerReader,
): Promise<StandingFold> {
  const fold = new StandingFold(OPTIONS)
  for (const [name, { size }] of [
    [HOST_STREAM, positions.host],
    [stream, positions.stream],
  ] as const) {
    for (let from = 0; from < size; ) {
      const page = await standingPage(reader, name, from, size - from)
      for (const fact of page.facts) fold.take(fact)
      from += Math.max(1, page.size)
    }
  }
  return fold
}

function difference(kept: KeptStanding, fold: StandingFold): Disbelieved | null {
  for (const [name, part] of Object.entries(fold.parts())) {
    if (textOf(kept.brief(name)) !== textOf(part.brief())) return differs(name)
    for (const [table, rows] of Object.entries(part.tables)) {
      const key = differentKey(kept.file.table(table), rows.changes())
      if (key !== null) return differs(`${table}: ${showName(key)}`)
    }
  }
  return null
}

/** A fold that began with nothing has all its rows as changes. */
function differentKey(kept: KeptTable | null, rows: ReadonlyMap<string, unknown>): string | null {
  let count = 0
  for (const [key, value] of kept?.entries() ?? []) {
    if (!rows.has(key) || textOf(value) !== textOf(rows.get(key))) return key
    count++
  }
  if (count === rows.size) return null
  const there = new Set([...(kept?.entries() ?? [])].map(([key]) => key))
  return [...rows.keys()].find((key) => !there.has(key)) ?? null
}

function textOf(value: unknown): string {
  return canonicalJson(value ?? null)
}

function differs(where: string): Disbelieved {
  return { code: 'standing.different', reason: where }
}

function problemOf(file: string, { code, reason }: Disbelieved): Problem {
  const name = showName(join('standing', file))
  if (code === 'standing.ahead') {
    const message = `the ledger ends before facts that were already seen here: ${name} was made from them, and ${reason}. An older copy was put back, or facts were cut off. Put the newer copy of the ledger back`
    return { code, message }
  }
  if (code === 'standing.forked') {
    const message = `${name} was made from other facts than these (${reason}): the history was exchanged or written again. Compare it with a checkpoint kept elsewhere: writ ledger verify --from FILE`
    return { code, message }
  }
  const message = `${name} of the state directory is not believed (${reason}); the next command makes it again from the facts`
  return { code, message }
}
