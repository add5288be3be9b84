/**
 * Small files of a home in PostgreSQL, so that every machine has them: sealed credentials, and which
 * machine walks a run. Every role that reads the home can add a version of a file, so a machine signs
 * what it writes.
 *
 * INVARIANT (signed): what `get` returns was signed by a machine that a human let in and did not remove.
 *   Versions of other hands are passed over; a file that has only those is refused. The signature names
 *   the number of its version, so that an older one is not made the newest again.
 */
import type { ClientBase } from 'pg'
import { canonicalJson, FaultError, fault } from '../../base/index.ts'
import { fingerprint, type VerifierKey } from '../../ledger/index.ts'
import { type LedgerKey, publicKeyOf } from '../keys/ed25519.ts'
import { isSealOf, type MachineSeal, sealWith } from '../keys/machine-keys.ts'
import { connectionIn, damageOf } from './postgres-connection.ts'

/** Signs for this machine, and knows what other machines of the home have signed. */
export interface MachineSigner {
  /** Signs with the key of this machine. Fails if no fact lets it sign. */
  seal(text: string): Promise<MachineSeal>
  /** Whether a machine that may sign now has signed the text. */
  isSealed(text: string, seal: MachineSeal): Promise<boolean>
}

interface FileVersion {
  readonly version: number
  readonly content: string
  readonly key: string
  readonly sig: string
}

interface NamedVersion extends FileVersion {
  readonly name: string
}

/** A key that ends, and the one that signs from then on: of the same machine, or of the one that removes it. */
interface KeyRenewal {
  readonly ending: VerifierKey
  readonly key: LedgerKey
  readonly machine: 'same' | 'other'
}

const PAGE = 50
/** The server holds a lock for each until they are written. */
const FILES_AT_ONCE = 500
const TRIES_MAX = 100

export class HomeFiles {
  readonly #queries: Pick<ClientBase, 'query'>
  readonly #schema: string
  readonly #signer: MachineSigner

  constructor(queries: Pick<ClientBase, 'query'>, schema: string, signer: MachineSigner) {
    this.#queries = queries
    this.#schema = schema
    this.#signer = signer
  }

  /** Null where there is none. Fails, with the hint, if no version of it is signed. */
  async get(name: string, hint?: string): Promise<string | null> {
    const { newest, isThere } = await this.#look(name)
    if (newest !== null || !isThere) return newest?.content ?? null
    const message = `no machine that may sign for this home has signed the file \`${name}\` on the server: another hand wrote it, or its machine was removed`
    const words = hint === undefined ? { message } : { message, hint }
    throw new FaultError(fault('machine.unknown', name, null, words))
  }

  /** Writes a version, unless the newest one that is signed says the same. */
  async put(name: string, content: string): Promise<void> {
    const { newest } = await this.#look(name)
    if (newest?.content === content) return
    // A key that ended while its version was on the way: no rotation may have seen that version.
    for (let isSigned = false; !isSigned; ) {
      const written = await this.#add(name, content)
      isSigned = await this.#signer.isSealed(this.#text(name, written), written)
    }
  }

  /** Signs every file of a format that had no signatures. */
  async signAll(): Promise<void> {
    const rows = await this.#rows<{ name: string; content: string }>(
      `SELECT name, content FROM @.files WHERE signer = ''`,
      [],
    )
    for (const { name, content } of rows) await this.put(name, content)
  }

  /**
   * Signs with the new key every file whose newest version the ending key has signed; returns how many that
   * were. A file that names a machine by the old key names it by the new one, where it is the same machine.
   * A file to which another hand adds a version meanwhile is left as it is: call again.
   */
  async signAgain(renewal: KeyRenewal): Promise<number> {
    const old = fingerprint(renewal.ending.publicKey)
    for (let found = 0, after = ''; ; ) {
      // One question for many files: a machine has one for each run that it ever began.
      const newest = await this.#rows<NamedVersion>(
        `SELECT name, version, content, signer AS key, sig
          FROM (SELECT DISTINCT name FROM @.files WHERE signer = $1 AND name > $2
              ORDER BY name LIMIT ${FILES_AT_ONCE}) AS own,
            LATERAL (SELECT version, content, signer, sig FROM @.files
              WHERE files.name = own.name ORDER BY version DESC LIMIT 1) AS newest
          ORDER BY name`,
        [old, after],
      )
      const signed: NamedVersion[] = []
      for (const one of newest) {
        const renewed = await this.#renewed(one, renewal)
        if (renewed !== null) signed.push(renewed)
      }
      await this.#rows(
        `SELECT @.put_file(name, version, content, signer, sig) FROM
          unnest($1::text[], $2::integer[], $3::text[], $4::text[], $5::text[])
            AS given (name, version, content, signer, sig)`,
        [
          signed.map(({ name }) => name),
          signed.map(({ version }) => version),
          signed.map(({ content }) => content),
          signed.map(({ key }) => key),
          signed.map(({ sig }) => sig),
        ],
      )
      found += signed.length
      const last = newest[FILES_AT_ONCE - 1]
      if (last === undefined) return found
      after = last.name
    }
  }

  /** The next version of a file, signed by the new key; null if the ending key has not signed its newest. */
  async #renewed(top: NamedVersion, renewal: KeyRenewal): Promise<NamedVersion | null> {
    const { name } = top
    const { ending, key, machine } = renewal
    const own = [ending, publicKeyOf(key, ending.name)]
    const isSealed: MachineSigner['isSealed'] = async (text, seal) => {
      const signer = own.find(({ publicKey }) => fingerprint(publicKey) === seal.key)
      return signer === undefined ? this.#signer.isSealed(text, seal) : isSealOf(signer, text, seal)
    }
    const isTop = await isSealed(this.#text(name, top), top)
    const newest = isTop ? top : (await this.#look(name, isSealed)).newest
    const old = fingerprint(ending.publicKey)
    if (newest?.key !== old) return null
    const isRenamed = machine === 'same' && newest.content === old
    const content = isRenamed ? fingerprint(key.publicKey) : newest.content
    const version = top.version + 1
    return { name, version, content, ...sealWith(key, this.#text(name, { version, content })) }
  }

  /** The newest version that is signed, and whether there is any. Others can add as many as they like. */
  async #look(
    name: string,
    isSealed: MachineSigner['isSealed'] = (text, seal) => this.#signer.isSealed(text, seal),
  ): Promise<{ readonly newest: FileVersion | null; isThere: boolean }> {
    for (let below = 2 ** 31 - 1, isThere = false; ; isThere = true) {
      const rows = await this.#rows<FileVersion>(
        `SELECT version, content, signer AS key, sig FROM @.files
          WHERE name = $1 AND version < $2 ORDER BY version DESC LIMIT ${PAGE}`,
        [name, below],
      )
      for (const row of rows) {
        below = row.version
        if (await isSealed(this.#text(name, row), row)) return { newest: row, isThere: true }
      }
      if (rows.length < PAGE) return { newest: null, isThere: isThere || rows.length > 0 }
    }
  }

  async #add(name: string, content: string): Promise<FileVersion> {
    for (let tries = 1; ; tries++) {
      const [last] = await this.#rows<{ version: number | null }>(
        'SELECT max(version) AS version FROM @.files WHERE name = $1',
        [name],
      )
      const version = (last?.version ?? 0) + 1
      const { key, sig } = await this.#signer.seal(this.#text(name, { version, content }))
      const [put] = await this.#rows<{ done: boolean }>(
        'SELECT @.put_file($1, $2, $3, $4, $5) AS done',
        [name, version, content, key, sig],
      )
      if (put?.done === true) return { version, content, key, sig }
      // Another hand took the number meanwhile.
      if (tries === TRIES_MAX) throw new FaultError(fault('ledger.busy', name, { waitedMs: 0 }))
    }
  }

  #text(name: string, { version, content }: Pick<FileVersion, 'version' | 'content'>): string {
    return `writ-file-v1\n${canonicalJson({ schema: this.#schema, name, version, content })}\n`
  }

  async #rows<T extends object>(sql: string, values: unknown[]): Promise<readonly T[]> {
    try {
      return (await this.#queries.query<T>(sql.replaceAll('@', this.#schema), values)).rows
    } catch (error) {
      throw damageOf(error, this.#schema, connectionIn(this.#queries))
    }
  }
}
