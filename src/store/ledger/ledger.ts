/**
 * A ledger: facts and bodies in one state directory (`ledger.db`, `objects/`) or in PostgreSQL
 * (store-setting.ts), the keys of this machine in `keys/`, and the one way to append to it: judged,
 * bodies first, then the fact.
 */
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Pool } from 'pg'
import { FaultError, faultCode, invariant } from '../../base/index.ts'
import type { BodyDropped, MachineChange } from '../../contracts/index.ts'
import {
  type Appended,
  type BodyRule,
  type FactDraft,
  fingerprint,
  formatVerifierKey,
  HOST_STREAM,
  type LedgerEntry,
  occurredAtText,
  type Preparation,
  type Principal,
  prepareFact,
  SALT_BYTES,
  type SignedHead,
  type Store,
  type StoredObject,
  type VerifierKey,
  verifierKey,
} from '../../ledger/index.ts'
import { type Clock, type Jump, JumpWatch, SYSTEM_CLOCK } from '../../machine/index.ts'
import {
  type FileSeal,
  type KeyRing,
  type LedgerKey,
  publicKeyOf,
  sealOf,
} from '../keys/ed25519.ts'
import {
  createKey,
  makeCurrent,
  noteEnding,
  openKeys,
  privateKeyNames,
  setAsideUnused,
} from '../keys/keys.ts'
import { keyFactName, MachineKeys } from '../keys/machine-keys.ts'
import { fingerprintsOf, recordedKeys } from '../keys/recorded-keys.ts'
import { FileObjects, type ObjectStore } from '../objects/objects.ts'
import { HomeFiles, type MachineSigner } from '../postgres/home-files.ts'
import { bodyDropName } from '../postgres/home-schema.ts'
import { openServerPool } from '../postgres/postgres-connection.ts'
import { openPostgresStore, PostgresStore } from '../postgres/postgres-store.ts'
import { createLedgerFile } from '../sqlite/engine.ts'
import { SqliteStore } from '../sqlite/sqlite-store.ts'
import { InlineWriter, type Writer } from '../sqlite/writer.ts'
import { keyInUse, ledgerNameOf, wholeHeads } from '../streams/heads.ts'
import { behindBy, jumpEntry, WRIT } from './clock-jump.ts'
import { signLeftFiles } from './ended-key.ts'
import { retryWhileMoved } from './head-moved.ts'
import { createTables, type NewStore } from './server-tables.ts'
import { compareSigned } from './signed-heads.ts'
import { type PostgresSetting, postgresPlaceOf, readStoreSetting, SQLITE } from './store-setting.ts'

export interface LedgerPlace {
  /** The state directory. */
  readonly directory: string
}

interface OpenLedgerOptions extends LedgerPlace {
  readonly bodyRules?: readonly BodyRule[]
  /** The machine's own when absent. */
  readonly clock?: Clock
}

/** Who does something to the ledger itself, and through which part of writ. */
export interface Actor {
  readonly principal: Principal
  readonly source: string
}

/** What became of an entry: its fact, or why its record was refused. */
export type EntryOutcome =
  | { readonly ok: true; readonly appended: Appended }
  | Extract<Preparation, { ok: false }>

const FILE = 'ledger.db'
const KEYS = 'keys'
const OBJECTS = 'objects'

/**
 * Makes a ledger: its key, its store, and the first fact of the host's stream, which names the key.
 * `name` is the origin of its streams, each behind a slash: `example.org/writ/1` → `…/1/main`.
 */
export async function createLedger(
  { directory }: LedgerPlace,
  name: string,
  actor: Actor,
  store: NewStore = SQLITE,
): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  if (store.kind === 'sqlite') createLedgerFile(join(directory, FILE), name)
  else await createTables(directory, name, store)
  const key = createKey(join(directory, KEYS), name)
  makeCurrent(join(directory, KEYS), key)
  const ledger = await openLedger({ directory })
  try {
    const first = rotation(HOST_STREAM, `${name}/${HOST_STREAM}`, 0, null, key)
    await ledger.record({ ...actor, stream: HOST_STREAM, record: first })
  } finally {
    await ledger.close()
  }
}

export async function openLedger(options: OpenLedgerOptions): Promise<Ledger> {
  const { directory } = options
  const setting = readStoreSetting(directory)
  if (setting.kind === 'postgres') return openPostgresLedger(options, setting)
  const file = join(directory, FILE)
  const keysDirectory = join(directory, KEYS)
  const writer = new InlineWriter({ file, keys: openKeys(keysDirectory), keysDirectory })
  try {
    const store = new SqliteStore(file, writer)
    const objects = new FileObjects(join(directory, OBJECTS), true)
    const keys = openKeys(keysDirectory)
    return new Ledger(
      { store, objects, writer, keys, server: null, files: null },
      keysDirectory,
      options,
    )
  } catch (error) {
    await writer.close()
    throw error
  }
}

async function openPostgresLedger(
  options: OpenLedgerOptions,
  setting: PostgresSetting,
): Promise<Ledger> {
  const { directory } = options
  const keysDirectory = join(directory, KEYS)
  const keys = new MachineKeys(openKeys(keysDirectory), keysDirectory)
  const store = await openPostgresStore({ ...postgresPlaceOf(setting), keys })
  try {
    await compareSigned(directory, store, keys)
    await store.refresh(keys)
  } catch (error) {
    await store.close()
    throw error
  }
  const parts = { store, objects: store.objects(join(directory, OBJECTS)), writer: store, keys }
  const { schema } = setting
  const place = postgresPlaceOf(setting)
  const signer: MachineSigner = {
    seal: async (text) => {
      await store.refresh(keys)
      return keys.seal(text)
    },
    isSealed: async (text, seal) => {
      await store.refresh(keys)
      return keys.hasSigned(text, seal)
    },
  }
  const server: HomeServer = {
    schema,
    queries: store.queries,
    openPool: (connectionsMax, user) => openServerPool(place, connectionsMax, user),
    ...signer,
  }
  const files = new HomeFiles(store.queries, schema, signer)
  await signLeftFiles(keysDirectory, keys, files).catch(ignoreFailure)
  return new Ledger({ ...parts, server, files }, keysDirectory, options)
}

/** Of a machine that reads only. */
const NO_SIGNER: ReadonlySet<string> = new Set(['machine.unknown', 'machine.removed'])

/** The server on which a home lies, for what else is kept there. */
export interface HomeServer extends MachineSigner {
  readonly schema: string
  readonly queries: PostgresStore['queries']
  /** Connections of their own, for a process that takes jobs. */
  openPool(connectionsMax: number, user?: string): Promise<Pool>
}

/** Of a command that only reads: it signs nothing. */
export type ReadServer = Pick<HomeServer, 'schema' | 'queries' | 'isSealed'>

interface LedgerParts {
  readonly server: HomeServer | null
  readonly store: Store
  readonly objects: ObjectStore
  readonly writer: Writer
  readonly keys: KeyRing
  readonly files: HomeFiles | null
}

export class Ledger {
  readonly store: Store
  readonly objects: ObjectStore
  /** Small files of the home that every machine needs; null where it has one machine. */
  readonly files: HomeFiles | null
  /** Null where the facts lie in a file. */
  readonly server: HomeServer | null
  readonly #keys: KeyRing
  readonly #writer: Writer
  readonly #keysDirectory: string
  readonly #bodyRules: readonly BodyRule[] | undefined
  readonly #clock: Clock
  readonly #watch: JumpWatch
  /** Seen, and not recorded yet. */
  #jump: Jump | null = null

  /** Use `openLedger`. */
  constructor(
    { store, objects, writer, keys, files, server }: LedgerParts,
    keysDirectory: string,
    { bodyRules, clock = SYSTEM_CLOCK }: Pick<OpenLedgerOptions, 'bodyRules' | 'clock'>,
  ) {
    this.store = store
    this.objects = objects
    this.files = files
    this.server = server
    this.#keys = keys
    this.#writer = writer
    this.#keysDirectory = keysDirectory
    this.#bodyRules = bodyRules
    this.#clock = clock
    this.#watch = new JumpWatch(clock)
  }

  /** Judges an entry and records it. What is refused is an answer; what fails is a FaultError. */
  async record(entry: LedgerEntry, expectedSize?: number): Promise<EntryOutcome> {
    const prepared = this.#prepare(entry, expectedSize)
    if (!prepared.ok) return prepared
    // INVARIANT (bodies first): a fact never names a body that a crash could have lost.
    await Promise.all(prepared.objects.map((object) => this.objects.put(object)))
    const [appended] = await this.#append([prepared.draft])
    invariant(appended !== undefined, 'a draft that was appended is answered')
    await this.#dropUnnamed(prepared, appended)
    return { ok: true, appended }
  }

  /**
   * Records several entries in one commit: all of them become facts, or the first refusal is returned.
   * Fails with `ledger.head_moved` if the stream of the first entry has another size than
   * `expectedSize`. Writes bodies at once, but facts only after `after` resolves; if it rejects, none.
   */
  async recordAll(
    entries: readonly LedgerEntry[],
    expectedSize?: number,
    after?: Promise<unknown>,
  ): Promise<
    | { readonly ok: true; readonly appended: readonly Appended[] }
    | Extract<Preparation, { ok: false }>
  > {
    const all: Prepared[] = []
    for (const [index, entry] of entries.entries()) {
      const prepared = this.#prepare(entry, index === 0 ? expectedSize : undefined)
      if (!prepared.ok) return prepared
      all.push(prepared)
    }
    const objects = all.flatMap((prepared) => prepared.objects)
    await Promise.all([...objects.map((object) => this.objects.put(object)), after])
    const appended = await this.#append(all.map(({ draft }) => draft))
    for (const [index, prepared] of all.entries())
      await this.#dropUnnamed(prepared, appended[index])
    return { ok: true, appended }
  }

  /**
   * Drops the bodies of a draft whose key was used before: the fact of the first time names bodies with
   * other salts. A store that appended this very draft and tried again reports it as repeated too, so
   * looks at the fact first.
   */
  async #dropUnnamed({ objects, bodies }: Prepared, appended: Appended | undefined): Promise<void> {
    if (appended?.repeated !== true || bodies.length === 0) return
    const { stream, seq } = appended
    const page = { stream, cursor: seq - 1, limit: 1, order: 'oldest_first' } as const
    const [first] = (await this.store.find(page)).facts
    if (first?.seq !== seq || objects.some(({ digest }) => first.text.includes(digest))) return
    // A server drops no body without a fact. The entry is recorded, also if that one is not.
    if (this.files !== null) await this.#noteUnnamed(stream, bodies).catch(ignoreFailure)
    for (const { digest } of bodies) await this.objects.drop(digest).catch(ignoreFailure)
  }

  async #noteUnnamed(stream: string, bodies: readonly StoredObject[]): Promise<void> {
    const dropped_at = occurredAtText(this.#clock.nowMs())
    const drafts = bodies.map(({ digest: body, bytes }) => {
      const payload: BodyDropped = { body, bytes: bytes.length, rule: 'repeated', dropped_at }
      const record = { type: 'body_dropped_v1', payload }
      return this.#draft({ ...WRIT, stream, record, idempotencyKey: bodyDropName(body) })
    })
    await this.store.append(drafts)
  }

  /**
   * Appends the drafts, and a fact on the host's stream for each clock jump. A jump that this process
   * noticed is written before the drafts. A clock that is behind the history shows only in the times
   * of the appended facts, so its fact is written after them.
   */
  async #append(drafts: readonly FactDraft[]): Promise<readonly Appended[]> {
    this.#jump ??= this.#watch.look()
    if (this.#jump !== null)
      await this.store.append([this.#draft(jumpEntry(this.#jump, 'process'))])
    this.#jump = null
    const appended = await this.store.append(drafts)
    const behind = behindBy(appended, this.#clock.nowMs())
    // The drafts are recorded even if this append fails; the next call finds the clock behind again.
    if (behind !== null) {
      const draft = this.#draft(jumpEntry(behind, 'history'))
      await this.store.append([draft]).catch(ignoreFailure)
    }
    return appended
  }

  /**
   * Makes a new key and turns every stream to it in one commit. Each stream gets a fact that names the
   * last size the old key may sign: the size with that fact, whose checkpoint carries both signatures.
   */
  async rotateKey({ principal, source }: Actor): Promise<LedgerKey> {
    const { host, key: old } = await this.#keyInUse()
    // Verification compares it with the facts, also when this process is killed on its way.
    makeCurrent(this.#keysDirectory, old)
    setAsideUnused(this.#keysDirectory, fingerprintsOf((await recordedKeys(this.store)).keys))
    const key = createKey(this.#keysDirectory, ledgerNameOf(host))
    // First: until the key counts, readers pass over what it has signed, and the other does still.
    const ending = publicKeyOf(old, ledgerNameOf(host))
    await this.files?.signAgain({ ending, key, machine: 'same' })
    if (this.files !== null) noteEnding(this.#keysDirectory, old)
    await retryWhileMoved(async () => {
      const idempotencyKey = keyFactName(key.publicKey, 'rotated')
      const drafts = (await wholeHeads(this.store)).map(({ stream, origin, size }) => {
        const record = rotation(stream, origin, size + 1, old, key)
        return this.#draft({ stream, source, principal, record, idempotencyKey }, size)
      })
      await this.#writer.rotate(drafts, key)
    })
    makeCurrent(this.#keysDirectory, key)
    // The key has turned. What is missed here is done by the next process that opens the home.
    await this.#signLeft().catch(ignoreFailure)
    return key
  }

  async #signLeft(): Promise<void> {
    const keys = await this.keys()
    if (keys instanceof MachineKeys && this.files !== null)
      await signLeftFiles(this.#keysDirectory, keys, this.files)
  }

  /**
   * Lets a machine sign every stream, or ends that, in one commit. Only ledgers in PostgreSQL have
   * machines.
   */
  async changeMachine(
    { principal, source }: Actor,
    change: MachineChange['change'],
    machine: string,
    { type, publicKey }: Pick<VerifierKey, 'type' | 'publicKey'>,
  ): Promise<void> {
    if (change === 'removed') {
      const { host, key } = await this.#keyInUse()
      const ending = verifierKey(ledgerNameOf(host), type, publicKey)
      await this.files?.signAgain({ ending, key, machine: 'other' })
    }
    const idempotencyKey = keyFactName(publicKey, change)
    await retryWhileMoved(async () => {
      const drafts = (await wholeHeads(this.store)).map(({ stream, origin, size }) => {
        const key = formatVerifierKey(verifierKey(origin, type, publicKey))
        const payload: MachineChange = { change, machine, stream, origin, key, size: size + 1 }
        const record = { type: 'machine_v1', payload }
        return this.#draft({ stream, source, principal, record, idempotencyKey }, size)
      })
      await this.#writer.rotate(drafts, 'same')
    })
    await this.keys()
  }

  /** The private keys here, and what facts say about those of other machines. */
  async keys(): Promise<KeyRing> {
    if (this.#keys instanceof MachineKeys && this.store instanceof PostgresStore)
      await this.store.refresh(this.#keys)
    return this.#keys
  }

  /** The fingerprint of the key that this machine signs with: its name among the machines. */
  async machine(): Promise<string> {
    const { key } = await this.#keyInUse()
    return fingerprint(key.publicKey)
  }

  /** The same as the facts last said; null where the home has one machine, or this one may not sign. */
  get signer(): string | null {
    if (!(this.#keys instanceof MachineKeys)) return null
    try {
      return fingerprint(this.#keys.own().publicKey)
    } catch (error) {
      ignoreFailure(error)
      return null
    }
  }

  /** Returns every name that this machine has or had: it got another one with each key. */
  machineNames(): readonly string[] {
    return privateKeyNames(this.#keysDirectory)
  }

  /** Of the key that signs now, as the ledger itself names it; of one that may not sign the machine's own. */
  async seal(): Promise<FileSeal> {
    try {
      return sealOf((await this.#keyInUse()).key)
    } catch (error) {
      // What is derived on a machine is its own, also before it may record, and afterwards.
      if (!NO_SIGNER.has(faultCode(error) ?? '')) throw error
      return sealOf(this.#keys.current())
    }
  }

  async #keyInUse(): Promise<{ readonly host: SignedHead; readonly key: LedgerKey }> {
    const host = await this.store.head(HOST_STREAM)
    invariant(host !== null, 'a ledger that was opened has a host stream')
    return { host, key: keyInUse(host, await this.keys()) }
  }

  /**
   * Fails if the server has lost facts that this machine has seen, or has some that no machine has
   * signed; else notes how far the ledger goes. A process that stays calls it now and then.
   */
  async compareHeads(): Promise<void> {
    const [store, keys] = [this.store, this.#keys]
    if (store instanceof PostgresStore && keys instanceof MachineKeys)
      await compareSigned(dirname(this.#keysDirectory), store, keys)
  }

  async close(): Promise<void> {
    // What is noted late is compared with late: a fault here would hide how the command ended.
    await this.compareHeads().catch(ignoreFailure)
    await this.store.close()
  }

  #draft(entry: LedgerEntry, expectedSize?: number): FactDraft {
    const prepared = this.#prepare(entry, expectedSize)
    invariant(prepared.ok, 'a record that writ made itself follows its contract')
    return prepared.draft
  }

  #prepare(entry: LedgerEntry, expectedSize: number | undefined): Preparation {
    return prepareFact(entry, {
      salt: () => randomBytes(SALT_BYTES),
      ...(this.#bodyRules === undefined ? {} : { bodyRules: this.#bodyRules }),
      ...(expectedSize === undefined ? {} : { expectedSize }),
    })
  }
}

type Prepared = Extract<Preparation, { ok: true }>

function ignoreFailure(error: unknown): void {
  if (!(error instanceof FaultError)) throw error
}

function rotation(
  stream: string,
  origin: string,
  lastSize: number,
  old: LedgerKey | null,
  key: LedgerKey,
): LedgerEntry['record'] {
  const text = (one: LedgerKey): string => formatVerifierKey(publicKeyOf(one, origin))
  const oldKey = old === null ? null : text(old)
  const payload = { stream, origin, old_key: oldKey, new_key: text(key), last_size: lastSize }
  return { type: 'key_rotated_v1', payload }
}
