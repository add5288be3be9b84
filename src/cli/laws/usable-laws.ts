/** The laws of a file that a command is about to judge with, or to register. */
import { FaultError, fault, showName } from '../../base/index.ts'
import type { Laws } from '../../policy/index.ts'
import { readLawBytes, readLawFile } from '../commands/laws-check.ts'

/** Returns the laws of a file; fails with its first fault and the place of that. */
export async function usableLaws(file: string, bytes?: Buffer): Promise<Laws> {
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
  const hint = `\`writ laws check ${file}\` tells all of it`
  throw new FaultError(fault('laws.unusable', file, null, { message, hint }))
}
