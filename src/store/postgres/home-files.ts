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
import { fingerprint } from '../../ledger/index.ts'
import type { LedgerKey } from '../keys/ed25519.ts'
import { type MachineSeal, sealWith } from '../keys/machine-keys.ts'
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

const PAGE = 50
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
    await this.#add(name, content, (text) => this.#signer.seal(text))
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
   * Signs with `key` what a key has signed that is about to end, and that counts until then. A file that
   * names a machine by the old key names it by the new one, where it is the same machine.
   */
  async signAgain(ending: string, key: LedgerKey, machine: 'same' | 'other'): Promise<void> {
    const rows = await this.#rows<{ name: string }>(
      'SELECT DISTINCT name FROM @.files WHERE signer = $1',
      [ending],
    )
    for (const { name } of rows) {
      const { newest } = await this.#look(name)
      if (newest?.key !== ending) continue
      const isRenamed = machine === 'same' && newest.content === ending
      const content = isRenamed ? fingerprint(key.publicKey) : newest.content
      await this.#add(name, content, async (text) => sealWith(key, text))
    }
  }

  /** The newest version that is signed, and whether there is any. Others can add as many as they like. */
  async #look(name: string): Promise<{ readonly newest: FileVersion | null; isThere: boolean }> {
    for (let below = 2 ** 31 - 1, isThere = false; ; isThere = true) {
      const rows = await this.#rows<FileVersion>(
        `SELECT version, content, signer AS key, sig FROM @.files
          WHERE name = $1 AND version < $2 ORDER BY version DESC LIMIT ${PAGE}`,
        [name, below],
      )
      for (const row of rows) {
        below = row.version
        if (await this.#signer.isSealed(this.#text(name, row), row))
          return { newest: row, isThere: true }
      }
      if (rows.length < PAGE) return { newest: null, isThere: isThere || rows.length > 0 }
    }
  }

  async #add(
    name: string,
    content: string,
    seal: (text: string) => Promise<MachineSeal>,
  ): Promise<void> {
    for (let tries = 1; ; tries++) {
      const [last] = await this.#rows<{ version: number | null }>(
        'SELECT max(version) AS version FROM @.files WHERE name = $1',
        [name],
      )
      const version = (last?.version ?? 0) + 1
      const { key, sig } = await seal(this.#text(name, { version, content }))
      const [put] = await this.#rows<{ done: boolean }>(
        'SELECT @.put_file($1, $2, $3, $4, $5) AS done',
        [name, version, content, key, sig],
      )
      if (put?.done === true) return
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
