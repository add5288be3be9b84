/**
 * Where a command's documents come from: a file, or standard input for `-`. Bytes that are not UTF-8
 * are refused, never guessed.
 *
 * Faults about files that cannot be read or written, for every command.
 */
import { isUtf8 } from 'node:buffer'
import { createReadStream, realpathSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { isAbsolute, relative } from 'node:path'
import type { Readable } from 'node:stream'
import {
  FaultError,
  fault,
  faultError,
  GRAPH_LIMITS,
  type JsonLimits,
  type ParsedJson,
  readJson,
  showName,
  showPath,
} from '../../base/index.ts'
import { type Context, isObject, readYaml } from '../../contracts/index.ts'

interface Source {
  /** As the user wrote it; `-` is standard input. */
  readonly name: string
  readonly bytes: Buffer
}

export async function readSource(name: string): Promise<Source> {
  try {
    refuseBeyond(name)
    return { name, bytes: name === '-' ? await readAll(process.stdin) : await readFile(name) }
  } catch (thrown) {
    throw new FaultError(unreadable(name, thrown))
  }
}

/**
 * Fails if a file lies outside of the directory that `WRIT_READS_BELOW` names: the service sets it for
 * documents of requests, which may name files.
 */
function refuseBeyond(name: string): void {
  const bound = process.env['WRIT_READS_BELOW'] ?? ''
  if (bound === '' || name === '-') return
  const path = relative(realpathSync(bound), realpathSync(name))
  if (!path.startsWith('..') && !isAbsolute(path)) return
  throw Object.assign(new Error('beyond the request'), { code: 'ENOENT' })
}

/** A stream of the source's bytes, for commands that work line by line. */
export function openSource(name: string): Readable {
  return name === '-' ? process.stdin : createReadStream(name, { highWaterMark: 1 << 18 })
}

/** Reads a source strictly: YAML by its file name, JSON otherwise. */
export async function parseSource(
  { name, bytes }: Source,
  limits: JsonLimits = GRAPH_LIMITS,
): Promise<ParsedJson> {
  if (!isUtf8(bytes))
    return {
      ok: false,
      refusal: { code: 'document.not_json', path: '', message: 'the text is not UTF-8' },
    }
  const text = bytes.toString('utf8')
  return /\.ya?ml$/i.test(name) ? readYaml(text, limits) : readJson(text, limits)
}

/** The object that `--context` names; no option, no context. */
export async function readContext(name: string | null): Promise<Context> {
  if (name === null) return {}
  const reading = await parseSource(await readSource(name))
  if (!reading.ok) {
    const { code, message } = reading.refusal
    throw faultError(
      'cli.usage',
      name,
      `the context ${showName(name)} is refused: ${message} (${code})`,
    )
  }
  if (!isObject(reading.value)) {
    throw faultError('cli.usage', name, `the context ${showName(name)} is not an object`)
  }
  return reading.value
}

async function readAll(stream: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

export function unreadable(file: string, thrown: unknown): FaultError['fault'] {
  const reason = reasonOf(thrown)
  const message = `${showPath(file)} cannot be read (${reason})`
  return fault('cli.file_unreadable', file, { file, reason }, { message })
}

/** Returns the code of an error of the system, such as `ENOENT`; `unknown reason` for other errors. */
export function reasonOf(thrown: unknown): string {
  // Errors of the system have a code; other errors may lack the field.
  return (thrown as NodeJS.ErrnoException).code ?? 'unknown reason'
}
