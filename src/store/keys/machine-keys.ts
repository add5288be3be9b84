/**
 * The keys of a ledger that several machines sign: the private keys of this machine, and the
 * public keys of the others, which facts of the host's stream certify.
 *
 * INVARIANT (no key certifies itself): a key counts only if a checkpoint with its certificate was kept
 * and signed by a key that counted before. The first key is one of the public keys in the key
 * directory: `writ init` or `writ machine join` put it there.
 */
import { FaultError, fault, faultError } from '../../base/index.ts'
import type { KeyRotated, MachineChange } from '../../contracts/index.ts'
import {
  checkSigners,
  decodeBase64,
  encodeBase64,
  equalBytes,
  type Fact,
  fingerprint,
  formatVerifierKey,
  HOST_STREAM,
  isWrong,
  KeySchedule,
  parseVerifierKey,
  readStoredNote,
  type VerifierKey,
  verifierFor,
  verifierKey,
} from '../../ledger/index.ts'
import { type KeyRing, type LedgerKey, publicKeyOf } from './ed25519.ts'
import { privateKeyNames, readPublicKeys } from './keys.ts'

/** A machine that signs, or did. */
export interface Machine {
  readonly name: string
  readonly fingerprint: string
  readonly key: VerifierKey
  readonly joinedAt: string
  /** Who let it in. */
  readonly by: Fact['principal']
  readonly removedAt: string | null
}

/** What a machine signed outside of the ledger, with the fingerprint of its key. */
export interface MachineSeal {
  readonly key: string
  readonly sig: string
}

export function sealWith({ publicKey, sign }: LedgerKey, text: string): MachineSeal {
  return { key: fingerprint(publicKey), sig: encodeBase64(sign(text)) }
}

/** Returns whether that key has signed the text, also if it signs no more. */
export function isSealOf(of: VerifierKey, text: string, { key, sig }: MachineSeal): boolean {
  const signature = decodeBase64(sig)
  if (fingerprint(of.publicKey) !== key || signature === null) return false
  return verifierFor(of)?.verify(text, signature) ?? false
}

/** A fact that changes keys, and the first kept checkpoint with it. */
export interface KeyFact {
  readonly text: string
  readonly kept: { readonly size: number; readonly note: string } | null
}

/** Reads the first fact of the host's stream, then every later one that changes keys, in order. */
export type ReadKeyFacts = (from: number) => Promise<readonly KeyFact[]>

/** The idempotency keys of facts that change keys begin with this, so they are found without a search. */
export const KEY_FACT = 'machine/'
/** Behind every key that begins with `KEY_FACT`. */
export const KEY_FACTS_END = 'machine0'

export function keyFactName(publicKey: Uint8Array, change: 'joined' | 'removed' | 'rotated') {
  return `${KEY_FACT}${fingerprint(publicKey)}/${change}`
}

export class MachineKeys implements KeyRing {
  readonly #private: KeyRing
  readonly #directory: string
  #schedule: KeySchedule | null = null
  readonly #machines = new Map<string, Machine>()
  /** The key that took the place of another one on its machine, by fingerprints. */
  readonly #successors = new Map<string, string>()
  #next = 0

  constructor(keys: KeyRing, directory: string) {
    this.#private = keys
    this.#directory = directory
  }

  find(name: string, keyId: number): LedgerKey | null {
    return this.#private.find(name, keyId)
  }

  current(): LedgerKey {
    return this.#private.current()
  }

  certified(name: string, keyId: number): VerifierKey | null {
    for (const { type, publicKey } of this.#schedule?.inForce ?? []) {
      const key = verifierKey(name, type, publicKey)
      if (key.keyId === keyId) return key
    }
    return null
  }

  /** Returns the origin that a stream of this ledger has; null before its keys are known. */
  originOf(stream: string): string | null {
    const host = this.#schedule?.origin.slice(0, -HOST_STREAM.length)
    return host === undefined ? null : `${host}${stream}`
  }

  /** Returns whether a machine that signs now has signed the text. */
  hasSigned(text: string, seal: MachineSeal): boolean {
    const found = this.#schedule?.inForce.find((one) => fingerprint(one.publicKey) === seal.key)
    return found !== undefined && isSealOf(found, text, seal)
  }

  seal(text: string): MachineSeal {
    return sealWith(this.own(), text)
  }

  /** Returns the key that this machine signs with. Fails if no fact lets it sign. */
  own(): LedgerKey {
    const schedule = this.#schedule
    for (const { name, keyId } of [...(schedule?.inForce ?? [])].reverse()) {
      const key = this.#private.find(name, keyId)
      if (key !== null) return key
    }
    const mine = this.#private.current()
    const machine = this.#machines.get(fingerprint(mine.publicKey))
    if (machine !== undefined && machine.removedAt !== null) throw removed(machine)
    throw unknown(mine, schedule?.origin.slice(0, -(HOST_STREAM.length + 1)) ?? null)
  }

  /** Returns the number of the first fact whose change of keys would not be known here. */
  get next(): number {
    return this.#next
  }

  #ownOrCurrent(): LedgerKey {
    try {
      return this.own()
    } catch (error) {
      if (error instanceof FaultError) return this.current()
      throw error
    }
  }

  get machines(): readonly Machine[] {
    return [...this.#machines.values()]
  }

  /** Returns the machines other than this one that sign now. */
  get others(): readonly Machine[] {
    const own = fingerprint(this.#ownOrCurrent().publicKey)
    return this.machines.filter((one) => one.removedAt === null && one.fingerprint !== own)
  }

  /** Returns what a machine is called, by the fingerprint of a key that it has or had. */
  nameOf(id: string): string | null {
    return this.#machines.get(id)?.name ?? null
  }

  /** Returns the newest key of the machine that has or had a key, by fingerprints. */
  newestOf(id: string): string {
    const next = this.#successors.get(id)
    return next === undefined ? id : this.newestOf(next)
  }

  /** Returns whether a human removed the machine that has or had a key. */
  isGone(id: string): boolean {
    return (this.#machines.get(this.newestOf(id))?.removedAt ?? null) !== null
  }

  /** Returns whether a key is one of this machine, or was. */
  isOwn(id: string): boolean {
    return privateKeyNames(this.#directory).includes(id)
  }

  /** Takes in the changes of keys since the last call. */
  async refresh(read: ReadKeyFacts): Promise<void> {
    for (const { text, kept } of await read(this.#next)) {
      // The store returns texts of facts.
      const fact = JSON.parse(text) as Fact
      if (fact.seq < this.#next) continue
      this.#take(fact, kept)
      this.#next = fact.seq + 1
    }
  }

  #take(fact: Fact, kept: KeyFact['kept']): void {
    // Records of these types are short and lie in their facts.
    const payload = fact.record.payload as KeyRotated & MachineChange
    if (fact.seq === 0) return this.#begin(payload.origin, payload.new_key, fact)
    const schedule = this.#schedule
    const isMachine = fact.record.type === 'machine_v1'
    if (schedule === null || payload.stream !== HOST_STREAM) return
    if (!isMachine && payload.old_key === null) return
    this.#checkKept(schedule, fact, kept)
    const wrong = isMachine
      ? schedule.change(payload, fact.seq)
      : schedule.rotate(payload, fact.seq)
    if (wrong !== null) throw tampered(fact.seq, wrong.message)
    const key = parseVerifierKey(isMachine ? payload.key : payload.new_key)
    if (key === null) throw tampered(fact.seq, 'the key cannot be read')
    if (isMachine && payload.change === 'removed') this.#remove(key, fact)
    else this.#add(payload, key, fact)
  }

  #begin(origin: string, text: string, fact: Fact): void {
    const key = parseVerifierKey(text)
    const isKnown = readPublicKeys(this.#directory).some((one) => {
      const known = parseVerifierKey(one)
      return known !== null && key !== null && equalBytes(known.publicKey, key.publicKey)
    })
    if (key === null || !isKnown) {
      const message = 'the first key of the ledger is not the one that this machine was given'
      throw faultError('ledger.tampered', `${HOST_STREAM}/0`, message)
    }
    this.#schedule = new KeySchedule(origin)
    this.#schedule.begin(text)
    this.#note(FIRST_MACHINE, key, fact)
  }

  /** The checkpoint with a change is signed by a key that may sign without that change. */
  #checkKept(schedule: KeySchedule, { seq }: Fact, kept: KeyFact['kept']): void {
    const checkpoint = kept === null ? null : readStoredNote(kept.note, schedule.origin)
    if (kept === null || checkpoint === null || isWrong(checkpoint)) {
      throw tampered(seq, 'the checkpoint of a change of keys is not kept')
    }
    const isOf = checkpoint.size === kept.size && kept.size > seq
    const wrong = checkSigners(kept.note, kept.size, schedule, verifierFor, 'any')
    if (!isOf || wrong !== null) throw tampered(seq, wrong?.message ?? 'it is of another size')
  }

  #add({ machine, old_key: old }: KeyRotated & MachineChange, key: VerifierKey, fact: Fact): void {
    if (machine !== undefined) return this.#note(machine, key, fact)
    const before = parseVerifierKey(old ?? '')
    if (before === null) return
    const name = this.#machines.get(fingerprint(before.publicKey))?.name ?? FIRST_MACHINE
    this.#remove(before, fact)
    this.#successors.set(fingerprint(before.publicKey), fingerprint(key.publicKey))
    this.#note(name, key, fact)
  }

  #note(name: string, key: VerifierKey, { occurred_at: joinedAt, principal: by }: Fact): void {
    const id = fingerprint(key.publicKey)
    this.#machines.set(id, { name, fingerprint: id, key, joinedAt, by, removedAt: null })
  }

  #remove({ publicKey }: VerifierKey, { occurred_at: removedAt }: Fact): void {
    const machine = this.#machines.get(fingerprint(publicKey))
    if (machine !== undefined) this.#machines.set(machine.fingerprint, { ...machine, removedAt })
  }
}

/** The machine on which the home was made has no certificate that names it. */
const FIRST_MACHINE = 'first'

function removed({ name, removedAt, fingerprint: at }: Machine): FaultError {
  const message = `this machine (${name}) was removed from the home at ${removedAt}: it can read, and records nothing`
  const hint = 'to let it in again with a new key: `writ machine join --again`'
  return new FaultError(fault('machine.removed', at, null, { message, hint }))
}

function unknown(mine: LedgerKey, ledger: string | null): FaultError {
  const id = fingerprint(mine.publicKey)
  const message =
    'this machine has not been let into the home yet: it can read, and records nothing'
  const hint =
    ledger === null
      ? 'on a machine of the home: `writ machine admit NAME KEY`; `writ machine key` prints the key here'
      : `on a machine of the home: writ machine admit NAME ${formatVerifierKey(publicKeyOf(mine, ledger))}`
  return new FaultError(fault('machine.unknown', id, null, { message, hint }))
}

function tampered(seq: number, reason: string): FaultError {
  const message = `the change of keys in ${HOST_STREAM}/${seq} does not hold: ${reason}; \`writ ledger verify\` says more`
  return faultError('ledger.tampered', `${HOST_STREAM}/${seq}`, message)
}
