/**
 * How a stream comes to be: with its first fact, the host's stream gets one that names the stream and
 * the key that signs it first, in the same commit.
 *
 * INVARIANT (named streams): every stream is named in the tree of the host's stream, so that a whole
 * stream cannot be taken out of the file, or slipped into it, without the host's checkpoint telling.
 */
import { randomBytes } from 'node:crypto'
import { canonicalJson, type FaultError, faultError } from '../../base/index.ts'
import type { MachineChange } from '../../contracts/index.ts'
import { type FactDraft, formatVerifierKey, HOST_STREAM, verifierKey } from '../../ledger/index.ts'
import type { Database } from '../database/sqlite-driver.ts'
import { publicKeyOf } from '../keys/ed25519.ts'
import { keyFactName, type Machine } from '../keys/machine-keys.ts'
import type { StreamState } from './stream-state.ts'

/** Returns the host's fact about a new stream, with the principal and source of its first fact. */
export function beginningDraft({ name, origin, key }: StreamState, first: FactDraft): FactDraft {
  // The texts of a draft are canonical JSON without their braces.
  const { principal } = JSON.parse(`{${first.middle}}`)
  const { source } = JSON.parse(`{${first.tail}}`)
  const payload = {
    stream: name,
    origin,
    old_key: null,
    new_key: formatVerifierKey(publicKeyOf(key, origin)),
    last_size: 0,
  }
  const record = { type: 'key_rotated_v1', payload }
  return {
    stream: HOST_STREAM,
    idempotencyKey: null,
    middle: canonicalJson({ principal, record }).slice(1, -1),
    tail: canonicalJson({ source, stream: HOST_STREAM }).slice(1, -1),
    expectedSize: null,
  }
}

/** Returns the fact of a new stream that lets another machine sign it, as the host's stream says. */
export function machineDraft(
  { name: stream, origin, growth }: StreamState,
  { name: machine, key, by: principal }: Machine,
): FactDraft {
  const named = verifierKey(origin, key.type, key.publicKey)
  const payload: MachineChange = {
    change: 'joined',
    machine,
    stream,
    origin,
    key: formatVerifierKey(named),
    size: growth.size + 1,
  }
  const idempotencyKey = keyFactName(key.publicKey, 'joined')
  const record = { type: 'machine_v1', payload, idempotency_key: idempotencyKey }
  return {
    stream,
    idempotencyKey,
    middle: canonicalJson({ principal, record }).slice(1, -1),
    tail: canonicalJson({ source: 'machine', stream }).slice(1, -1),
    expectedSize: null,
  }
}

/** What the host's fact about a stream holds: its type, and the name of the stream. */
export const BEGINNING_TYPE = '"type":"key_rotated_v1"'

export function beginningName(stream: string): string {
  return `"stream":${JSON.stringify(stream)}`
}

/**
 * Fails if a stream that has no head was begun: its rows were removed, and beginning it again would hide
 * that. The host's stream names every other one, and is the first of a ledger.
 *
 * One statement is one snapshot. The caller looked for the stream before: another process may have
 * begun it since, which is no failure.
 */
export function checkNotBegun(database: Database, stream: string): void {
  const isHost = stream === HOST_STREAM
  const isGone =
    'NOT EXISTS (SELECT 1 FROM streams AS own JOIN heads USING (stream) WHERE own.name = ?)'
  const begun = isHost
    ? database.prepare(`SELECT 1 FROM streams WHERE ${isGone} LIMIT 1`).get(stream)
    : database
        .prepare(
          `SELECT 1 FROM facts JOIN streams ON streams.name = '${HOST_STREAM}'
            WHERE facts.place >= streams.stream << 32 AND facts.place < (streams.stream + 1) << 32
              AND instr(facts.fact, ?) > 0 AND instr(facts.fact, '${BEGINNING_TYPE}') > 0
              AND ${isGone} LIMIT 1`,
        )
        .get(beginningName(stream), stream)
  if (begun !== undefined) throw lostStream(stream)
}

/** The failure that a stream without its rows is. */
export function lostStream(stream: string): FaultError {
  const message = `the stream \`${stream}\` was begun, and its facts or its newest checkpoint are gone. Put a complete copy of the ledger back; \`writ ledger verify\` says what is missing`
  return faultError('ledger.tampered', stream, message)
}

const POOL_BYTES = 4096
/** 18 hex digits are random, 2 bits of a nineteenth as well. */
const DIGITS = 19
const VARIANTS = '89ab'

/**
 * Fact ids: UUIDv7 (RFC 9562) of the time at which the fact occurred. Random digits are drawn in
 * bulk, because a writer needs tens of thousands of ids in a second.
 */
export class FactIds {
  #pool = ''
  #at = 0
  #timeMs = -1
  #time = ''

  next(timeMs: number): string {
    if (this.#at + DIGITS > this.#pool.length) {
      this.#pool = randomBytes(POOL_BYTES).toString('hex')
      this.#at = 0
    }
    const digits = this.#pool.slice(this.#at, this.#at + DIGITS)
    this.#at += DIGITS
    if (timeMs !== this.#timeMs) this.#setTime(timeMs)
    const variant = VARIANTS.charAt(Number.parseInt(digits.charAt(18), 16) % 4)
    return `${this.#time}-7${digits.slice(0, 3)}-${variant}${digits.slice(3, 6)}-${digits.slice(6, 18)}`
  }

  #setTime(timeMs: number): void {
    const hex = timeMs.toString(16).padStart(12, '0')
    this.#timeMs = timeMs
    this.#time = `${hex.slice(0, 8)}-${hex.slice(8, 12)}`
  }
}
