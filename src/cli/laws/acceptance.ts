/**
 * A person accepts laws: sees what they change, then says yes. The digest of the bytes that were shown
 * is the one that is registered, so a file that changes meanwhile is not accepted with them.
 */
import { isUtf8 } from 'node:buffer'
import { existsSync } from 'node:fs'
import { type Digest, digestBytes, faultError, showName } from '../../base/index.ts'
import {
  bareLaws,
  LAYERED,
  type LawDifference,
  type LawFault,
  type LawSet,
  lawDifferences,
  loadLaws,
  type ParsedLaws,
} from '../../policy/index.ts'
import { visible, visibleName } from '../../words/index.ts'
import type { CommandCall } from '../call/command.ts'
import { canAsk } from '../call/passphrase.ts'
import { readSource } from '../call/source.ts'
import type { Paint } from '../call/terminal.ts'
import { askLine } from '../gate/answer-line.ts'

/** A law file as it was read once. */
export interface ReadLaws {
  readonly file: string
  readonly digest: Digest
  readonly laws: LawSet
}

/** Refuses a file with a fault; a home without a file has the default laws. */
export async function lawsToAccept(file: string): Promise<ReadLaws> {
  if (!existsSync(file)) return { file, digest: digestBytes(''), laws: bareLaws(LAYERED) }
  const { bytes } = await readSource(file)
  return { file, digest: digestBytes(bytes), laws: await usableLaws(file, bytes) }
}

/** Shows what the laws change and asks; true without a question where they change nothing. */
export async function agreesToLaws(
  call: CommandCall,
  before: LawSet | null,
  { file, laws }: ReadLaws,
): Promise<boolean> {
  const changes = lawDifferences(before ?? bareLaws(LAYERED), laws)
  if (changes.length === 0) return true
  const than = before === null ? 'the default laws' : 'the laws in force'
  const heading = existsSync(file)
    ? `${visibleName(file)} differs from ${than}:`
    : `${visibleName(file)} is gone. Accepting that leaves the default laws alone in force, which changes:`
  const { terminal, options } = call
  const lines = changes.map((change) => differenceLine(change, terminal.paintError))
  terminal.err(`${[heading, ...lines].join('\n')}\n`)
  if (options.isOn('yes')) return true
  if (canAsk() && !options.isOn('json')) return askYes()
  const message = 'there is no terminal to ask at, and no `--yes`, so these laws were not accepted'
  const hint = 'read the changes above; to accept them: `writ laws accept --yes`'
  throw faultError('confirm.not_given', file, message, hint)
}

export async function askYes(): Promise<boolean> {
  const line = await askLine('Accept these laws? [y/N] ')
  return typeof line === 'object' && /^y(?:es)?$/i.test(line.text.trim())
}

function differenceLine({ kind, name, before, after }: LawDifference, paint: Paint): string {
  const painted = { removed: paint.bad, changed: paint.accent, added: paint.good }[kind]
  const old = before === null || kind === 'removed' ? [] : [`    before  ${visible(before)}`]
  const now = after === null ? [] : [`    now     ${visible(after)}`]
  const words = [...old, ...now]
  return [`  ${painted(kind)}  ${visible(name)}`, ...words].join('\n')
}

/**
 * Laws in a file: read with every fault, or as a command needs them that judges with them or
 * registers them. Returns the laws of a file; fails with its first fault and the place of that.
 */
async function usableLaws(file: string, bytes?: Buffer): Promise<LawSet> {
  const { laws } = await usableReading(file, bytes)
  return laws
}

/** The same with what is legal and probably not meant. */
export async function usableReading(file: string, bytes?: Buffer) {
  const reading =
    bytes === undefined ? (await readLawFile(file)).reading : await readLawBytes(bytes)
  if (reading.ok) return reading
  const [first] = reading.faults
  const more = reading.faults.length - 1
  // A text that is no YAML names its place itself.
  const isPlaced = first?.code === 'document.not_json'
  const place = `${showName(file)}${isPlaced ? '' : ` at line ${first?.line}, column ${first?.column}`}`
  const message = `${place}: ${first?.message}${more === 0 ? '' : ` (and ${more} more)`}`
  throw faultError('laws.unusable', file, message, `\`writ laws check ${file}\` tells all of it`)
}

/** Reads the laws of a file, or every fault of them, with the digest of what was read. */
export async function readLawFile(
  file: string,
): Promise<{ readonly reading: ParsedLaws; readonly digest: Digest }> {
  const { bytes } = await readSource(file)
  return { reading: await readLawBytes(bytes), digest: digestBytes(bytes) }
}

async function readLawBytes(bytes: Buffer): Promise<ParsedLaws> {
  if (isUtf8(bytes)) return loadLaws(bytes.toString('utf8'), LAYERED)
  const message = 'this is not a text file in UTF-8'
  const fault: LawFault = { code: 'document.not_json', path: '', message, line: 1, column: 1 }
  return { ok: false, faults: [fault] }
}
