/**
 * Asks a witness for a cosignature, and believes nothing that its pinned key did not sign.
 *
 * A witness that knows another size says so (409): the proof is made from there, once. It knows more
 * facts than this ledger has: the ledger was rolled back. It cannot follow the proof, or has another
 * root of the same size: the ledger was forked. Both are failures that a person has to look at.
 */
import { FaultError, fault, faultError, showName } from '../base/index.ts'
import {
  cosignedAt,
  formatNote,
  formatWitnessRequest,
  parseNote,
  type Signature,
} from '../ledger/index.ts'
import type { PinnedWitness } from './pins.ts'

export interface CheckpointToSign {
  readonly origin: string
  readonly size: number
  /** Signed by the ledger. */
  readonly note: string
  /** Proves the extension from a smaller size, which is at least 1. */
  prove(from: number): Promise<readonly Uint8Array[]>
}

/** What this ledger kept of an earlier answer; zeros when there is none. */
export interface LastAnswer {
  readonly size: number
  readonly seconds: number
}

interface Cosigned {
  readonly signature: Signature
  readonly seconds: number
}

const ANSWER_MS = 10_000
const ANSWER_BYTES_MAX = 65_536
/** How far the clock of a witness may be from ours. */
const CLOCK_SECONDS = 300
const TRIES = 3

export async function askWitness(
  witness: PinnedWitness,
  checkpoint: CheckpointToSign,
  last: LastAnswer,
  nowMs: () => number,
): Promise<Cosigned> {
  let oldSize = Math.min(last.size, checkpoint.size)
  for (let tries = 0; tries < TRIES; tries++) {
    const answer = await ask(witness, checkpoint, oldSize, last, nowMs)
    if (typeof answer !== 'number') return answer
    oldSize = answer
  }
  throw unreachable(witness, 'it names another size at every request')
}

/**
 * Which size the witness has cosigned: the request that claims none is answered with it, and cosigned only
 * by a witness that has none.
 */
export function askSize(
  witness: PinnedWitness,
  checkpoint: CheckpointToSign,
  last: LastAnswer,
  nowMs: () => number,
): Promise<Cosigned | number> {
  return ask(witness, checkpoint, 0, last, nowMs)
}

/** One request; the size that the witness knows where it is another than `oldSize`. */
async function ask(
  witness: PinnedWitness,
  checkpoint: CheckpointToSign,
  oldSize: number,
  last: LastAnswer,
  nowMs: () => number,
): Promise<Cosigned | number> {
  const { size, note } = checkpoint
  const proof = oldSize === 0 || oldSize === size ? [] : await checkpoint.prove(oldSize)
  const begunAt = nowMs()
  const answer = await send(witness, formatWitnessRequest({ oldSize, proof, note }))
  if (answer.status === 200) {
    const cosigned = readCosignature(witness, checkpoint, answer.text)
    refuseTime(witness, cosigned, last, begunAt, nowMs())
    return cosigned
  }
  if (answer.status !== 409) throw refusal(witness, checkpoint, oldSize, answer)
  const known = sizeIn(witness, answer)
  if (known > size) throw rolledBack(witness, checkpoint, known)
  if (known === oldSize) throw forked(witness, checkpoint, known)
  return known
}

interface WitnessReply {
  readonly status: number
  readonly type: string
  readonly text: string
}

async function send(witness: PinnedWitness, body: string): Promise<WitnessReply> {
  try {
    const answer = await fetch(`${witness.url}/add-checkpoint`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS),
      body,
    })
    const type = answer.headers.get('content-type') ?? ''
    return { status: answer.status, type, text: await textOf(answer) }
  } catch (error) {
    // `fetch` says why in the cause; without one the error itself is the reason.
    const { message, cause } = error as Error & { readonly cause?: { readonly code?: string } }
    throw unreachable(witness, cause?.code ?? message)
  }
}

async function textOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > ANSWER_BYTES_MAX) throw new Error('its answer is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function sizeIn(witness: PinnedWitness, { type, text }: WitnessReply): number {
  const [, digits] = /^(0|[1-9]\d{0,15})\n$/.exec(text) ?? []
  if (digits !== undefined && type.startsWith('text/x.tlog.size')) return Number(digits)
  throw unreachable(witness, 'it answers 409 without a size')
}

/** Of all lines only the one of the pinned key counts. */
function readCosignature(
  witness: PinnedWitness,
  { note }: CheckpointToSign,
  lines: string,
): Cosigned {
  const { text = '' } = parseNote(note) ?? {}
  const answered = parseNote(`${text}\n${lines}`)
  for (const signature of answered?.signatures ?? []) {
    const seconds = cosignedAt(text, signature, witness.key)
    if (seconds !== null) return { signature, seconds }
  }
  const message = `the witness ${showName(witness.name)} answered without a valid cosignature of the key that is pinned`
  const hint = `ask its operator for its key; writ witness list shows the pinned one`
  throw faultError('witness.signature', witness.name, message, hint)
}

function refuseTime(
  { name }: PinnedWitness,
  { seconds }: Cosigned,
  last: LastAnswer,
  begunMs: number,
  endedMs: number,
): void {
  const isNow =
    seconds >= begunMs / 1000 - CLOCK_SECONDS && seconds <= endedMs / 1000 + CLOCK_SECONDS
  if (isNow && seconds >= last.seconds) return
  const said = new Date(Math.min(seconds * 1000, 8.64e15)).toISOString()
  const message = `the witness ${showName(name)} dates its cosignature ${said}, which is not the time of the request`
  throw faultError('witness.time', name, message, 'compare the clocks of both machines')
}

function rolledBack(
  { name }: PinnedWitness,
  { origin, size }: CheckpointToSign,
  known: number,
): FaultError {
  const message = `the witness ${showName(name)} has cosigned ${known} facts of ${showName(origin)}, and this ledger has ${size}: it is an old copy, or facts were removed`
  const hint = 'compare it with your backups; writ ledger verify'
  return faultError('witness.rolled_back', origin, message, hint)
}

function forked({ name }: PinnedWitness, { origin }: CheckpointToSign, known: number): FaultError {
  const message = `the first ${known} facts of ${showName(origin)} are not those that the witness ${showName(name)} has cosigned: there are two histories`
  const hint = 'compare checkpoints: writ ledger compare; writ ledger verify'
  return faultError('witness.forked', origin, message, hint)
}

function refusal(
  witness: PinnedWitness,
  checkpoint: CheckpointToSign,
  oldSize: number,
  { status }: WitnessReply,
): FaultError {
  const { name } = witness
  if (status === 422 && oldSize > 0) return forked(witness, checkpoint, oldSize)
  if (status !== 403 && status !== 404) return unreachable(witness, `it answers ${status}`)
  const { origin } = checkpoint
  const message =
    status === 404
      ? `the witness ${showName(name)} does not know the log ${showName(origin)}`
      : `the witness ${showName(name)} does not accept the signature of ${showName(origin)}`
  const hint =
    'on the machine of the witness: writ witness add-log KEY --streams, with the first key of `writ ledger key`'
  return faultError('witness.refused', origin, message, hint)
}

function unreachable({ name, url }: PinnedWitness, reason: string): FaultError {
  const message = `the witness ${showName(name)} at ${showName(url)} did not cosign (${reason})`
  const hint = 'the next writ ledger anchor asks it again'
  return new FaultError(fault('witness.unreachable', name, null, { message, hint }))
}

/** The note with further signatures. */
export function withSignatures(note: string, signatures: readonly Signature[]): string {
  const parsed = parseNote(note)
  if (parsed === null) throw faultError('ledger.note_malformed', '')
  return formatNote({ ...parsed, signatures: [...parsed.signatures, ...signatures] })
}
