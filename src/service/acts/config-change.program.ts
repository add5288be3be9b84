/**
 * Runs inside a sandbox: reads a configuration, edits it, and overwrites the same file, so that mode,
 * owner and links stay. Nothing is written unless the whole change can be made. Failures leave by their
 * exit status; the words are for people.
 */
import { closeSync, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import {
  type ConfigurationChange,
  type ConfigurationFailure,
  editConfiguration,
  exitStatusOf,
} from '../../configuration/index.ts'
import { takeRequest } from './request.ts'

const BYTES_MAX = 16 * 1024 * 1024

interface ConfigChangeRequest extends ConfigurationChange {
  readonly path: string
}

class Stop extends Error {
  readonly failure: ConfigurationFailure

  constructor(failure: ConfigurationFailure, message: string) {
    super(message)
    this.failure = failure
  }
}

function read(path: string): { readonly text: string } {
  let handle: number
  try {
    handle = openSync(path, 'r')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException // Thrown by openSync.
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new Stop('config.no_file', 'there is no such file')
    throw error
  }
  try {
    const found = fstatSync(handle)
    if (!found.isFile()) throw new Stop('config.not_file', 'this is no file')
    if (found.size > BYTES_MAX) throw new Stop('config.too_large', `more than ${BYTES_MAX} bytes`)
    return { text: decode(readFileSync(handle)) }
  } finally {
    closeSync(handle)
  }
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new Stop('config.encoding', 'the bytes are not UTF-8')
  }
}

async function main({ path, ...change }: ConfigChangeRequest): Promise<void> {
  const { text } = read(path)
  const edited = await editConfiguration(text, change)
  if (!edited.ok) {
    const place = edited.keys.length === 0 ? '' : ` at ${JSON.stringify(edited.keys)}`
    throw new Stop(edited.code, `${edited.message}${place}`)
  }
  if (edited.text !== text) writeFileSync(path, edited.text)
}

try {
  await main(takeRequest<ConfigChangeRequest>())
} catch (error) {
  if (!(error instanceof Stop)) throw error
  process.stderr.write(`${error.failure}: ${error.message}\n`)
  process.exitCode = exitStatusOf(error.failure)
}
