/**
 * The laws that hold in a home now: those that a human accepted last, from the file or, while that is
 * another one, from the body in which their bytes are kept; and the lists with what they add. Accepted
 * laws that cannot be read or break their contract leave one law: nothing is let through.
 *
 * INVARIANT (only the accepted): a law file that no human accepted has no effect.
 *
 * The reading of a law file, kept so that not every command reads YAML. The file is signed with the
 * ledger's key and names the digest of the laws it was read from.
 *
 * INVARIANT (never obeyed unsigned): a reading that was changed, or that another key signed, is not
 *   used; the laws are read from their text and the reading is written again.
 */
import { join } from 'node:path'
import {
  type Digest,
  DOCUMENT_LIMITS,
  digestBytes,
  FaultError,
  isDigest,
} from '../../base/index.ts'
import {
  type Laws as AcceptedLaws,
  isObject,
  type LawOutcome,
  readYaml,
} from '../../contracts/index.ts'
import { type GateLists, listsText, listsUnder } from '../../gate/index.ts'
import type { KnownHome } from '../../home/index.ts'
import { readableText, readIfThere, writeWhole } from '../../machine/index.ts'
import {
  bareLaws,
  type GateSettings,
  judgeRecorded,
  LAYERED,
  type Law,
  type LawGround,
  type LawPhase,
  type LawSet,
  type LawValues,
  lawsOfDocument,
  loadLaws,
  WHOLE,
} from '../../policy/index.ts'
import type { FileSeal, ObjectStore } from '../../store/index.ts'

export interface LawBook {
  /** The bytes of the accepted laws; those of the file where the accepted ones are lost. */
  readonly text: string
  readonly digest: Digest
  /** The accepted laws are neither in the file nor kept: nothing can be decided. */
  readonly isLost: boolean
  /** Of the file in the tree, where it is not the accepted one; null where it is. */
  readonly unaccepted: Digest | null
  /** Whether these are the laws that the ledger says were accepted last; null where none were. */
  isOf(accepted: AcceptedLaws | null): boolean
  readonly laws: readonly Pick<Law, 'policyId' | 'tier' | 'approvals' | 'text'>[]
  readonly settings: GateSettings
  readonly lists: GateLists
  /** Kept as a body with every decision. */
  readonly listsText: string
  readonly listsDigest: Digest
  judge(phase: LawPhase, values: LawValues, overrides: ReadonlySet<string>): readonly LawOutcome[]
}

export async function openLawBook(home: KnownHome, ledger: LawLedger): Promise<LawBook> {
  const file = readableText(join(home.directory, 'laws.yaml'))
  const fileDigest = digestBytes(file)
  const isAccepted = fileDigest === home.registeredLaws
  const kept = isAccepted ? file : await keptLaws(home.registeredLaws, ledger.objects)
  const isLost = kept === null
  const text = kept ?? file
  const digest = isLost ? fileDigest : digestBytes(text)
  const ground = home.layered ? LAYERED : WHOLE
  const cache = { file: join(home.state, CACHE), ledger }
  const { reading, laws, ...listed } = isLost
    ? withLists(null, ground)
    : await knownReading(`${home.layered} ${cache.file} ${digest}`, ground, () =>
        readingOf(text, digest, cache, ground),
      )
  return {
    text,
    digest,
    isLost,
    unaccepted: isAccepted ? null : fileDigest,
    isOf: (accepted) =>
      accepted === null ||
      (accepted.laws === digest && (accepted.layered ?? false) === home.layered),
    laws: laws.laws,
    settings: laws.settings,
    ...listed,
    judge: (phase, values, overrides) =>
      judgeRecorded(isLost ? laws : reading, phase, values, overrides),
  }
}

interface KnownLaws extends Pick<LawBook, 'lists' | 'listsText' | 'listsDigest'> {
  /** Null where the text is no law file. */
  readonly reading: LawSet | null
  readonly laws: LawSet
}

/** A process that stays opens many gates under the same laws. */
const READINGS = new Map<string, KnownLaws>()
const READINGS_MAX = 8

/** Returns the reading of a key, which holds the digest of the text; `read` makes it the first time. */
async function knownReading(
  key: string,
  ground: LawGround,
  read: () => Promise<LawSet | null>,
): Promise<KnownLaws> {
  const known = READINGS.get(key)
  if (known !== undefined) return known
  const made = withLists(await read(), ground)
  if (READINGS.size >= READINGS_MAX) READINGS.clear()
  READINGS.set(key, made)
  return made
}

function withLists(reading: LawSet | null, ground: LawGround): KnownLaws {
  const laws = reading ?? bareLaws(ground)
  const lists = listsUnder(laws)
  const text = listsText(lists)
  return { reading, laws, lists, listsText: text, listsDigest: digestBytes(text) }
}

/** What the law book needs of a ledger: its bodies, and the key that signs what is kept of laws. */
export interface LawLedger {
  readonly objects: Bodies
  seal(): Promise<FileSeal>
}

/** Where bodies are kept, each under the digest of its bytes. */
export type Bodies = Pick<ObjectStore, 'get'>

/** Returns the text of accepted laws by their digest; null if their body is missing. */
export async function keptLaws(digest: string, bodies: Bodies): Promise<string | null> {
  if (!isDigest(digest)) return null
  try {
    return new TextDecoder().decode(await bodies.get(digest))
  } catch (error) {
    if (error instanceof FaultError) return null
    throw error
  }
}

/** The parsed law file, so that not every command parses YAML. */
const CACHE = 'laws.json'

/** An empty file has no laws of its own. */
async function readingOf(
  text: string,
  digest: Digest,
  { file, ledger }: { readonly file: string; readonly ledger: LawLedger },
  ground: LawGround,
): Promise<LawSet | null> {
  if (text.trim() === '') return bareLaws(ground)
  const own = await ledger.seal()
  const kept = keptReading(file, digest, own)
  const known = kept === undefined ? null : lawsOfDocument(kept, ground)
  if (known !== null) return known
  const reading = await loadLaws(text, ground)
  if (!reading.ok) return null
  const value = await readYaml(text, DOCUMENT_LIMITS)
  if (value.ok) keepReading(file, digest, value.value, own)
  return reading.laws
}

/** Returns the document that was read from laws of this digest; undefined if none is kept. */
export function keptReading(file: string, digest: Digest, own: FileSeal): unknown {
  try {
    const kept: unknown = JSON.parse(readIfThere(file) ?? 'null')
    if (!isObject(kept)) return undefined
    // `isObject` has just said so.
    const { digest: of, document, seal } = kept as Readonly<Record<string, unknown>>
    if (of !== digest || typeof document !== 'string' || typeof seal !== 'string') return undefined
    const signature = Buffer.from(seal, 'base64')
    return own.isOwn(textOf(digest, document), signature) ? JSON.parse(document) : undefined
  } catch {
    // A file that is torn or cannot be read is one that is not there.
    return undefined
  }
}

/** Keeps a reading. A host that has no room keeps none. */
export function keepReading(file: string, digest: Digest, value: unknown, own: FileSeal): void {
  const document = JSON.stringify(value)
  try {
    const text = Buffer.from(own.sign(textOf(digest, document))).toString('base64')
    writeWhole(file, JSON.stringify({ digest, document, seal: text }), 0o600)
  } catch (error) {
    // Only errors of the system have a code that is text.
    if (typeof (error as NodeJS.ErrnoException).code !== 'string') throw error
  }
}

function textOf(digest: Digest, document: string): string {
  return `writ laws\n${digest}\n${document}\n`
}
