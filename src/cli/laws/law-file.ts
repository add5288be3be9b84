/** Laws in a file: read with every fault, or as a command needs them that judges with them or registers them. */

import { isUtf8 } from 'node:buffer'
import { faultError, showName } from '../../base/index.ts'
import {
  LAYERED,
  type LawFault,
  type LawSet,
  loadLaws,
  type ParsedLaws,
} from '../../policy/index.ts'
import { readSource } from '../call/source.ts'

/** Returns the laws of a file; fails with its first fault and the place of that. */
export async function usableLaws(file: string, bytes?: Buffer): Promise<LawSet> {
  const { laws } = await usableReading(file, bytes)
  return laws
}

/** The same with what is legal and probably not meant. */
export async function usableReading(file: string, bytes?: Buffer) {
  const reading = bytes === undefined ? await readLawFile(file) : await readLawBytes(bytes)
  if (reading.ok) return reading
  const [first] = reading.faults
  const more = reading.faults.length - 1
  // A text that is no YAML names its place itself.
  const isPlaced = first?.code === 'document.not_json'
  const place = `${showName(file)}${isPlaced ? '' : ` at line ${first?.line}, column ${first?.column}`}`
  const message = `${place}: ${first?.message}${more === 0 ? '' : ` (and ${more} more)`}`
  throw faultError('laws.unusable', file, message, `\`writ laws check ${file}\` tells all of it`)
}

/** Reads the laws of a file, or every fault of them. */
export async function readLawFile(file: string): Promise<ParsedLaws> {
  const { bytes } = await readSource(file)
  return readLawBytes(bytes)
}

async function readLawBytes(bytes: Buffer): Promise<ParsedLaws> {
  if (isUtf8(bytes)) return loadLaws(bytes.toString('utf8'), LAYERED)
  const message = 'this is not a text file in UTF-8'
  const fault: LawFault = { code: 'document.not_json', path: '', message, line: 1, column: 1 }
  return { ok: false, faults: [fault] }
}
