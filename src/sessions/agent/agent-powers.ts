/**
 * Parts of an agent's private home that run code or grant rights, as they are compared when a session
 * starts (S-8): settings key by key, every other file as a whole. Of values that look like secrets only
 * the beginning is kept.
 */
import { join } from 'node:path'
import { digestBytes } from '../../base/index.ts'
import { readConfiguration } from '../../configuration/index.ts'
import type { AgentHost } from '../../hosts/index.ts'
import { readIfThere } from '../../machine/index.ts'
import { filesBelow } from './files-below.ts'
import { isAmong, parsedGlobs } from './home-globs.ts'
import { homePowers } from './home-powers.ts'
import { withoutSecrets } from './without-secrets.ts'

interface Power {
  readonly digest: string
  /** The value of a key for a person; null for a file as a whole. */
  readonly shown: string | null
}

/** By file, then by key; a file as a whole has the key `WHOLE`. */
export type AgentPowers = Readonly<Record<string, Readonly<Record<string, Power>>>>

export interface PowerChange {
  readonly file: string
  /** Null for a file as a whole. */
  readonly key: string | null
  readonly kind: 'new' | 'changed' | 'removed'
  /** Values for a person; null where there is none, or for a file as a whole. */
  readonly before: string | null
  readonly now: string | null
}

type Keys = readonly string[]

/** No key of a document has this name: names of keys are never empty. */
const WHOLE = ''
/** Settings are small; a larger file counts as a whole. */
const SETTINGS_MAX = 256 * 1_024
/** Packages that an agent installs have files like settings, by the thousand. */
const PACKAGES = /(?:^|\/)(?:node_modules|packages|pkg)\//

/** Reads all parts of a private home as they are now. */
export async function powersOf(home: string, host: AgentHost | null): Promise<AgentPowers> {
  const { places = [], powers = [], remade = [], mixed = [] } = host?.state ?? {}
  const [globs, left] = [parsedGlobs(powers), parsedGlobs(remade)]
  const found: Record<string, Record<string, Power>> = {}
  for (const [path, digest] of Object.entries(homePowers(home, places))) {
    found[path] = { [WHOLE]: { digest, shown: null } }
  }
  for (const { path, bytes } of filesBelow(home)) {
    if (!isAmong(globs, path) || isAmong(left, path)) continue
    const parts = await partsOf(path, bytes(), isNoForm)
    if (Object.keys(parts).length > 0) found[path] = parts
  }
  for (const { file, keys } of mixed) {
    const text = readIfThere(join(home, file))
    const isPower = ({ keys: path, value }: Leaf): boolean =>
      keys.some((key) => isBelow(path, key)) && !isNothing(value)
    const parts = text === null ? {} : await partsOf(file, Buffer.from(text), isPower)
    if (Object.keys(parts).length > 0) found[file] = parts
  }
  return found
}

/** Compares two readings; `workspaces` are the directories that the agent may trust without a question. */
export function powerChanges(
  before: AgentPowers,
  now: AgentPowers,
  host: AgentHost | null,
  workspaces: Keys,
): readonly PowerChange[] {
  const files = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort()
  return files.flatMap((file) => {
    const [old, current] = [before[file] ?? {}, now[file] ?? {}]
    const names = [...new Set([...Object.keys(old), ...Object.keys(current)])].sort()
    const changed = names.filter((name) => old[name]?.digest !== current[name]?.digest)
    return changed.flatMap((name): readonly PowerChange[] => {
      const [was, is] = [old[name], current[name]]
      if (isOwnTrust(host, file, name, is, workspaces)) return []
      // A name such as `constructor` is found on every object, without a digest.
      const isNew = was?.digest === undefined
      const kind = isNew ? 'new' : is?.digest === undefined ? 'removed' : 'changed'
      const values = { before: was?.shown ?? null, now: is?.shown ?? null }
      return [{ file, key: name === WHOLE ? null : name, kind, ...values }]
    })
  })
}

/** Whether a key says only that the agent trusts a directory in which a person started it, or no more. */
function isOwnTrust(
  host: AgentHost | null,
  file: string,
  name: string,
  power: Power | undefined,
  workspaces: Keys,
): boolean {
  return (host?.state.trusts ?? []).some(
    (trust) =>
      trust.file === file &&
      workspaces.some((path) => keyName(trust.key(path)) === name) &&
      (power === undefined ||
        trust.values.some((value) => powerOf(name, value).digest === power.digest)),
  )
}

/** Hosts note the form of their settings when they write them again. */
const FORM_KEYS: ReadonlySet<string | undefined> = new Set(['$version', '$schema'])

function isNoForm({ keys }: Leaf): boolean {
  return !(keys.length === 1 && FORM_KEYS.has(keys[0]))
}

/** What hosts note of each new project before a person has granted anything. */
function isNothing(value: unknown): boolean {
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
  return isEmpty || value === false || value === null
}

/**
 * Settings count by their values, since hosts write them again in another layout. A file that cannot be
 * read as settings counts by its bytes.
 */
async function partsOf(
  path: string,
  bytes: Uint8Array,
  isPower: (leaf: Leaf) => boolean,
): Promise<Record<string, Power>> {
  const table = await tableOf(path, bytes)
  if (table === null) return { [WHOLE]: { digest: digestBytes(bytes), shown: null } }
  const leaves = [...leavesOf(table, [])].filter(isPower)
  return Object.fromEntries(
    leaves.map(({ keys, value }) => [keyName(keys), powerOf(keyName(keys), value)]),
  )
}

/** A line that is a comment as a whole: Copilot begins its JSON with some. */
const COMMENT_LINE = /^[ \t]*\/\/.*$/gm

/** Null if the file is no table of settings, or one that nests too deeply to be compared by keys. */
async function tableOf(path: string, bytes: Uint8Array): Promise<object | null> {
  const [, format] = /\.(json|toml)$/.exec(path) ?? []
  if (format === undefined || bytes.length > SETTINGS_MAX || PACKAGES.test(path)) return null
  const text = Buffer.from(bytes).toString('utf8')
  try {
    const value = format === 'toml' ? await tomlValue(text) : readJsonLines(text)
    JSON.stringify(value, withoutBigints)
    return isTable(value) ? value : null
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return null
    throw error
  }
}

function readJsonLines(text: string): unknown {
  return JSON.parse(text.replace(COMMENT_LINE, ''))
}

async function tomlValue(text: string): Promise<unknown> {
  const read = await readConfiguration(text, 'toml')
  return read.ok ? read.value : null
}

function isTable(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
  )
}

interface Leaf {
  readonly keys: Keys
  readonly value: unknown
}

/** Deeper values count as one. */
const DEPTH_MAX = 32

/** The values of a document that are no tables, or empty ones; a list is one value. */
function* leavesOf(value: unknown, keys: Keys): Generator<Leaf> {
  const entries = isTable(value) && keys.length < DEPTH_MAX ? Object.entries(value) : []
  for (const [key, inner] of entries) yield* leavesOf(inner, [...keys, key])
  if (entries.length === 0 && keys.length > 0) yield { keys, value }
}

/** Whether a path of keys is the named one or below it; `*` is any key. */
function isBelow(path: Keys, named: Keys): boolean {
  return named.every(
    (key, index) => path[index] !== undefined && (key === '*' || key === path[index]),
  )
}

function powerOf(name: string, value: unknown): Power {
  const text = JSON.stringify(value, withoutBigints) ?? ''
  return { digest: digestBytes(Buffer.from(text)), shown: withoutSecrets(name, text) }
}

/** TOML has whole numbers that JSON has no form for. */
function withoutBigints(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

const PLAIN_KEY = /^[\w-]+$/

/** Keys with points between them; others than plain words in quotation marks. */
function keyName(keys: Keys): string {
  return keys.map((key) => (PLAIN_KEY.test(key) ? key : JSON.stringify(key))).join('.')
}
