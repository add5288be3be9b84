/**
 * Keys as files: `<fingerprint>.key` (0600) holds the private key as a C2SP text, `<fingerprint>.pub`
 * the public one, which is written again where it is missing or damaged. Private key files are written
 * once and never changed; a key that was rotated away stays, because its public half is still needed. `current` holds the fingerprint of the key that signs, for
 * people to read: the first fact of a ledger is signed with it, and from then on the checkpoints say
 * whose turn it is.
 */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { FaultError, fault, faultError, showPath } from '../../base/index.ts'
import {
  fingerprint,
  formatSignerKey,
  formatVerifierKey,
  parseSignerKey,
  SIGNATURE_TYPES,
} from '../../ledger/index.ts'
import { errnoOf, namesIfThere, readIfThere, syncDirectory } from '../../machine/index.ts'
import { failureOf } from '../database/sqlite-connection.ts'
import {
  findKey,
  type KeyRing,
  keyFromSeed,
  type LedgerKey,
  newSeed,
  publicKeyOf,
} from './ed25519.ts'

const PRIVATE_MODE = 0o600
const PUBLIC_MODE = 0o644

/** Makes a key and writes it, synced. It signs nothing until it is made current or rotated to. */
export function createKey(directory: string, name: string): LedgerKey {
  const key = keyFromSeed(newSeed())
  const { keyId, publicKey } = publicKeyOf(key, name)
  const stem = join(directory, fingerprint(publicKey))
  const type = SIGNATURE_TYPES.ed25519
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    writeWhole(`${stem}.key`, formatSignerKey({ name, keyId, type, seed: key.seed }), PRIVATE_MODE)
    writeWhole(`${stem}.pub`, formatVerifierKey(publicKeyOf(key, name)), PUBLIC_MODE)
    syncDirectory(directory)
  } catch (error) {
    throw failureOf(error, directory)
  }
  return key
}

export function makeCurrent(directory: string, key: LedgerKey): void {
  try {
    writeWhole(join(directory, 'current'), fingerprint(key.publicKey), PUBLIC_MODE)
    syncDirectory(directory)
  } catch (error) {
    throw failureOf(error, directory)
  }
}

/** Names the key that a rotation ends, until every file on the server has the new signature. */
const ENDING = 'ending'

/** Notes, before the rotation is committed, which key it ends. */
export function noteEnding(directory: string, key: LedgerKey): void {
  try {
    writeWhole(join(directory, ENDING), fingerprint(key.publicKey), PUBLIC_MODE)
    syncDirectory(directory)
  } catch (error) {
    throw failureOf(error, directory)
  }
}

/** Returns the fingerprint of the key that a rotation ends or ended; null where none was left undone. */
export function readEnding(directory: string): string | null {
  return readIfThere(join(directory, ENDING))?.trim() ?? null
}

export function forgetEnding(directory: string, ended: string): void {
  // Another rotation may have begun meanwhile.
  if (readEnding(directory) === ended) rmSync(join(directory, ENDING), { force: true })
}

/** Where keys lie that no fact names: what a killed rotation left behind. */
const UNUSED = 'unused'

/**
 * Moves key files that no fact names into `unused/`. Nothing is removed: an older copy of the ledger
 * does not name the keys that came later, and reading looks there as well.
 */
export function setAsideUnused(directory: string, recorded: ReadonlySet<string>): void {
  try {
    for (const file of readdirSync(directory)) {
      const [, stem = ''] = /^([0-9a-f]{16})\.(?:key|pub)$/.exec(file) ?? []
      if (stem === '' || recorded.has(stem)) continue
      mkdirSync(join(directory, UNUSED), { recursive: true, mode: 0o700 })
      renameSync(join(directory, file), join(directory, UNUSED, file))
    }
  } catch (error) {
    throw failureOf(error, directory)
  }
}

/** Under a name of its own first, so that no reader ever sees half a file. */
function writeWhole(file: string, text: string, mode: number): void {
  const temporary = `${file}.${process.pid}.tmp`
  const handle = openSync(temporary, 'w', mode)
  try {
    writeSync(handle, `${text}\n`)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  renameSync(temporary, file)
}

/** The keys of a directory. One that is not known is looked for again: another process may have made it. */
export function openKeys(directory: string): KeyRing {
  let ring = readRing(directory)
  return {
    current: () => ring.current(),
    find(name, keyId) {
      const known = ring.find(name, keyId)
      if (known !== null) return known
      ring = readRing(directory)
      return ring.find(name, keyId)
    },
  }
}

/** Returns the public keys of a directory as texts; none when there is no directory. Reads no private key. */
export function readPublicKeys(directory: string): readonly string[] {
  try {
    return [directory, join(directory, UNUSED)]
      .flatMap((one) => filesIn(one, '.pub'))
      .map((file) => readFileSync(file, 'utf8').trim())
  } catch (error) {
    throw failureOf(error, directory)
  }
}

/** Returns the fingerprints of the private keys of a directory, also of those that sign no more. */
export function privateKeyNames(directory: string): readonly string[] {
  return [directory, join(directory, UNUSED)]
    .flatMap((one) => filesIn(one, '.key'))
    .map((file) => basename(file, '.key'))
}

/** A file of the directory of keys is not there. */
function keyMissing(directory: string, name: string, cause?: unknown): FaultError {
  const file = join(directory, name)
  const message = `the key file ${showPath(file)} is missing, so nothing can be signed and recorded`
  const hint =
    'put the file back from a backup; if it is lost, `writ init --new` begins a new history and leaves the old one readable'
  const words = { message, hint }
  return new FaultError(fault('ledger.key_missing', file, { key: name }, words), { cause })
}

function missingKeys(error: unknown, directory: string): unknown {
  if (errnoOf(error) !== 'ENOENT') return failureOf(error, directory)
  return keyMissing(directory, 'current', error)
}

function readRing(directory: string): KeyRing {
  try {
    const files = [directory, join(directory, UNUSED)].flatMap((one) => filesIn(one, '.key'))
    const keys = new Map(files.map((file) => [basename(file, '.key'), readPair(file)]))
    if (keys.size === 0) {
      throw keyMissing(directory, '*.key')
    }
    return {
      find: (name, keyId) => findKey([...keys.values()], name, keyId),
      current() {
        const wanted = readCurrent(directory)
        const key = keys.get(wanted)
        if (key !== undefined) return key
        throw keyMissing(directory, `${wanted}.key`)
      },
    }
  } catch (error) {
    throw missingKeys(error, directory)
  }
}

function filesIn(directory: string, ending: '.key' | '.pub'): readonly string[] {
  return namesIfThere(directory)
    .filter((file) => file.endsWith(ending))
    .map((file) => join(directory, file))
}

/** Returns the fingerprint that `current` holds. */
export function readCurrent(directory: string): string {
  try {
    return readFileSync(join(directory, 'current'), 'utf8').trim()
  } catch (error) {
    throw missingKeys(error, directory)
  }
}

/** Reads a private key, and writes its public half again if that file is missing or says otherwise. */
function readPair(file: string): LedgerKey {
  const { key, name } = readKey(file)
  const publicFile = file.replace(/key$/, 'pub')
  const text = formatVerifierKey(publicKeyOf(key, name))
  if (!holds(publicFile, text)) restore(publicFile, text)
  return key
}

function holds(file: string, text: string): boolean {
  try {
    return readFileSync(file, 'utf8').trim() === text
  } catch {
    return false
  }
}

function restore(file: string, text: string): void {
  try {
    writeWhole(file, text, PUBLIC_MODE)
  } catch (error) {
    // On a disk that is full or read-only: signing does not need it.
    if (errnoOf(error) === null) throw error
  }
}

interface NamedKey {
  readonly key: LedgerKey
  readonly name: string
}

function readKey(file: string): NamedKey {
  const mode = statSync(file).mode & 0o777
  if ((mode & 0o077) !== 0) {
    throw new FaultError(
      fault(
        'ledger.key_exposed',
        file,
        { file, mode: mode.toString(8) },
        {
          message: `others can read the private key ${showPath(file)}`,
          hint: `chmod 600 ${file}`,
        },
      ),
    )
  }
  const parsed = parseSignerKey(readFileSync(file, 'utf8').trim())
  const key = parsed === null ? null : keyFromSeed(parsed.seed)
  if (parsed === null || key === null || publicKeyOf(key, parsed.name).keyId !== parsed.keyId) {
    throw faultError('ledger.key_malformed', file, `${showPath(file)} does not hold a private key`)
  }
  return { key, name: parsed.name }
}
