/**
 * The laws that hold in a home now: the file as it is, whether a human accepted it, and the lists with
 * what the file adds. A file that cannot be read or breaks its contract leaves no law standing but
 * that nothing is let through.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Digest, DOCUMENT_LIMITS, digestBytes } from '../../base/index.ts'
import { type LawOutcome, readYaml } from '../../contracts/index.ts'
import {
  DEFAULT_LISTS,
  type GateLists,
  listsDigest,
  listsText,
  withEphemeral,
} from '../../gate/index.ts'
import {
  bareLaws,
  type GateSettings,
  judgeRecorded,
  type Law,
  type LawPhase,
  type Laws,
  type LawValues,
  lawsOfDocument,
  loadLaws,
} from '../../policy/index.ts'
import type { KnownHome } from '../home/known-home.ts'
import { keepReading, keptReading } from './law-cache.ts'

export interface LawBook {
  /** The bytes of the file. */
  readonly text: string
  readonly digest: Digest
  /** Not the laws that a human registered. */
  readonly isChanged: boolean
  readonly laws: readonly Pick<Law, 'policyId' | 'tier' | 'approvals'>[]
  readonly settings: GateSettings
  readonly lists: GateLists
  /** Kept as a body beside every decision. */
  readonly listsText: string
  readonly listsDigest: Digest
  judge(phase: LawPhase, values: LawValues, overrides: ReadonlySet<string>): readonly LawOutcome[]
}

export async function openLawBook({
  directory,
  state,
  registeredLaws,
}: KnownHome): Promise<LawBook> {
  const text = readLaws(join(directory, 'laws.yaml'))
  const digest = digestBytes(text)
  const isChanged = digest !== registeredLaws
  // Nothing of a file that nobody accepted is obeyed.
  const reading = isChanged ? null : await readingOf(text, digest, join(state, CACHE))
  const laws = reading ?? bareLaws()
  const lists = withEphemeral(DEFAULT_LISTS, laws.ephemeral)
  return {
    text,
    digest,
    isChanged,
    laws: laws.laws,
    settings: laws.settings,
    lists,
    listsText: listsText(lists),
    listsDigest: listsDigest(lists),
    judge: (phase, values, overrides) =>
      judgeRecorded(isChanged ? laws : reading, phase, values, overrides),
  }
}

/** What the file stands for, read once: it spares every command the reading of YAML. */
const CACHE = 'laws.json'

/** An empty file has no laws of its own. */
async function readingOf(text: string, digest: Digest, cache: string): Promise<Laws | null> {
  if (text.trim() === '') return bareLaws()
  const kept = keptReading(cache, digest)
  const known = kept === undefined ? null : lawsOfDocument(kept)
  if (known !== null) return known
  const reading = await loadLaws(text)
  if (!reading.ok) return null
  const value = await readYaml(text, DOCUMENT_LIMITS)
  if (value.ok) keepReading(cache, digest, value.value)
  return reading.laws
}

function readLaws(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
