/**
 * Finds the secrets of a participant in what it leaves behind (F-5b): as they are, and as base64, hex,
 * percent-encoding, JSON and UTF-16 write them, also inside a longer text of that encoding. A secret that
 * is compressed, encrypted or spelt in another way is not found.
 */
import { Buffer } from 'node:buffer'
import { closeSync, readSync } from 'node:fs'
import { type Change, displayOfRaw, textOfRaw } from '../../gate/index.ts'
import { openEntry } from '../../machine/index.ts'
import type { Layer } from '../../sandbox/index.ts'

export type SecretValues = Readonly<Record<string, string>>

/** Shorter values, and shorter spellings of them, would be found in everything. */
export const SECRET_MIN = 4
const SPELLING_MIN = 6
const PART_BYTES = 1024 * 1024

/** The spellings of a secret in a text, the longest first; none for a value that is too short. */
function secretSpellings(value: string): readonly string[] {
  if (value.length < SECRET_MIN) return []
  const bytes = Buffer.from(value)
  const percent = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
  const others = [
    ...base64Spellings(bytes),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    encodeURIComponent(value),
    percent,
    percent.toUpperCase(),
  ].filter(({ length }) => length >= SPELLING_MIN)
  const forms = new Set([value, JSON.stringify(value).slice(1, -1), ...others])
  return [...forms].sort((one, other) => other.length - one.length)
}

/**
 * What of the base64 of any text is due to these bytes alone, in both alphabets. A text can begin at one
 * of three places within a group; characters that also hold bits of a neighbour are left out.
 */
function base64Spellings(bytes: Buffer): readonly string[] {
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    const bits = (before + bytes.length) * 8
    const own = encoded.slice(before === 0 ? 0 : before + 1, Math.floor(bits / 6))
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')]
  })
}

interface Needle {
  readonly name: string
  readonly bytes: Buffer
}

/**
 * Returns the changed entries that hold a secret, in their content, their name or their target, by a
 * path that does not show it.
 */
export function leaksIn(
  secrets: SecretValues,
  changes: readonly Change[],
  layers: readonly Layer[],
): readonly string[] {
  const needles = needlesOf(secrets)
  if (needles.length === 0) return []
  return changes.flatMap((change) => {
    const { path, after } = change
    if (after === null) return []
    const isLeaking =
      holds(Buffer.from(`${displayOfRaw(path)}\n${JSON.stringify(after)}`), needles) ||
      (after.kind === 'file' && isInFile(path, layers, needles))
    return isLeaking ? [withoutSpellings(displayOfRaw(path), secrets)] : []
  })
}

function needlesOf(secrets: SecretValues): readonly Needle[] {
  return Object.entries(secrets).flatMap(([name, value]) => {
    const wide = value.length < SECRET_MIN ? [] : [{ name, bytes: Buffer.from(value, 'utf16le') }]
    return [...secretSpellings(value).map((form) => ({ name, bytes: Buffer.from(form) })), ...wide]
  })
}

/** Returns a text with the name of each secret in the place of its spellings. */
export function withoutSpellings(text: string, secrets: SecretValues): string {
  let clean = text
  // The longer first: a secret that holds another one is taken out as a whole.
  const entries = Object.entries(secrets).sort(([, a], [, b]) => b.length - a.length)
  for (const [name, value] of entries) {
    for (const form of secretSpellings(value)) clean = clean.replaceAll(form, `[secret ${name}]`)
  }
  return clean
}

function holds(bytes: Buffer, needles: readonly Needle[]): boolean {
  return needles.some((needle) => bytes.includes(needle.bytes))
}

function isInFile(
  path: Change['path'],
  layers: readonly Layer[],
  needles: readonly Needle[],
): boolean {
  const text = textOfRaw(path)
  const [layer] = layers
    .filter(({ root }) => text?.startsWith(`${root}/`) ?? false)
    .sort((one, other) => other.root.length - one.root.length)
  // A file that cannot be looked into may hold anything.
  if (layer === undefined || text === null) return true
  const file = openEntry(`${layer.merged}${text.slice(layer.root.length)}`, 'read')
  try {
    return isInParts(file, needles)
  } finally {
    closeSync(file)
  }
}

/** Reads part by part, each with the end of the one before; once as it is and once without white space. */
function isInParts(file: number, needles: readonly Needle[]): boolean {
  const overlap = Math.max(...needles.map(({ bytes }) => bytes.length)) - 1
  let [plain, dense] = [Buffer.alloc(0), Buffer.alloc(0)]
  const part = Buffer.allocUnsafe(PART_BYTES)
  for (;;) {
    const count = readSync(file, part)
    if (count === 0) return false
    const read = part.subarray(0, count)
    plain = Buffer.concat([plain, read])
    dense = Buffer.concat([dense, withoutSpace(read)])
    if (holds(plain, needles) || holds(dense, needles)) return true
    plain = plain.subarray(Math.max(0, plain.length - overlap))
    dense = dense.subarray(Math.max(0, dense.length - overlap))
  }
}

/** Encoders break long lines. */
function withoutSpace(bytes: Buffer): Buffer {
  const kept = Buffer.allocUnsafe(bytes.length)
  let length = 0
  for (const byte of bytes) if (byte > 0x20) kept[length++] = byte
  return kept.subarray(0, length)
}
