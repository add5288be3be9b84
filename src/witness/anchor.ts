/**
 * Has the checkpoints of a ledger cosigned: of every stream, and the home's statement over all of them
 * (H-9). What was cosigned becomes one fact of the host's stream (`anchor_v1`) and is kept in
 * `anchors.json`.
 *
 * A witness that is not there costs its cosignatures and nothing else. One that holds another history
 * ends the anchoring: no further witness is asked, and nothing is recorded. The home's statement is handed to
 * a witness only after it has cosigned every stream: it lists their sizes, of which the witness checks
 * none but the host's.
 */
import { FaultError, invariant } from '../base/index.ts'
import type { AnchorRecord } from '../contracts/index.ts'
import {
  type Appended,
  decodeHex,
  HOST_STREAM,
  occurredAtText,
  parseCheckpoint,
  parseNote,
  proveExtension,
  type Signature,
} from '../ledger/index.ts'
import {
  type Actor,
  type KeptAnchor,
  keepAnchors,
  type Ledger,
  readKeptAnchors,
  signHome,
} from '../store/index.ts'
import type { PinnedWitness } from './pins.ts'
import {
  askSize,
  askWitness,
  type CheckpointToSign,
  type LastAnswer,
  withSignatures,
} from './witness-client.ts'

export interface AnchorPlace {
  readonly ledger: Ledger
  /** The state directory of the home. */
  readonly state: string
}

interface AnchorFailure {
  readonly witness: string
  readonly origin: string
  readonly code: string
  readonly message: string
  readonly hint?: string
}

export interface AnchorReport {
  readonly cosigned: readonly {
    readonly witness: string
    readonly origin: string
    readonly size: number
    readonly at: string
  }[]
  readonly failures: readonly AnchorFailure[]
  /** The fact that holds the cosignatures; null when there are none. */
  readonly fact: Appended | null
}

interface Answer {
  readonly witness: PinnedWitness
  readonly checkpoint: CheckpointToSign
  readonly signature: Signature
  readonly seconds: number
}

export async function anchorLedger(
  place: AnchorPlace,
  actor: Actor,
  witnesses: readonly PinnedWitness[],
  nowMs: () => number,
): Promise<AnchorReport> {
  const streams = await streamCheckpoints(place)
  const home = await homeCheckpoint(place)
  const kept = readKeptAnchors(place.state)
  // Every size is asked for before anything is cosigned: an old copy must not lock the newer one out.
  const all: Inquiry[] = []
  const isKnown = ({ name }: PinnedWitness): boolean => kept.some((one) => one.witness === name)
  for (const group of [witnesses.filter(isKnown), witnesses.filter((one) => !isKnown(one))]) {
    // One that has cosigned nothing yet would begin with what it is handed.
    if (all.some(isAtOdds)) break
    all.push(...(await Promise.all(group.map((one) => inquire(one, streams, kept, nowMs)))))
  }
  for (const one of all) {
    if (!all.some(isAtOdds)) await askForAll(one, home, kept, nowMs)
  }
  const answers = all.flatMap((one) => one.answers)
  const isSound = !all.some(isAtOdds)
  const fact = isSound ? await recordAnswers(place, actor, [...streams, home], answers) : null
  return {
    cosigned: answers.map(({ witness, checkpoint, seconds }) => ({
      witness: witness.name,
      origin: checkpoint.origin,
      size: checkpoint.size,
      at: occurredAtText(seconds * 1000),
    })),
    failures: all.flatMap((one) => one.failures),
    fact,
  }
}

async function streamCheckpoints({ ledger }: AnchorPlace): Promise<readonly CheckpointToSign[]> {
  const heads = await ledger.store.heads()
  return heads.map(({ stream, origin, size, checkpoint: note }) => ({
    origin,
    size,
    note,
    prove: (from) => extension(ledger, stream, from, size),
  }))
}

/** A checkpoint of the host's stream under the ledger's name; its other lines name the other streams. */
async function homeCheckpoint({ ledger }: AnchorPlace): Promise<CheckpointToSign> {
  const note = await signHome(ledger.store, await ledger.keys())
  const checkpoint = parseCheckpoint(parseNote(note)?.text ?? '')
  invariant(checkpoint !== null, 'a statement that was just signed is a checkpoint')
  const { origin, size } = checkpoint
  return { origin, size, note, prove: (from) => extension(ledger, HOST_STREAM, from, size) }
}

async function extension(
  { store }: Ledger,
  stream: string,
  from: number,
  to: number,
): Promise<readonly Uint8Array[]> {
  const proof = await proveExtension(store, stream, from, to)
  invariant(proof !== null, 'a stream has every size below its own')
  return proof.path.map((hash) => decodeHex(hash.slice('sha256:'.length)) ?? new Uint8Array())
}

/** What one witness was asked, and what it said. */
interface Inquiry {
  readonly witness: PinnedWitness
  readonly answers: Answer[]
  readonly failures: AnchorFailure[]
  /** Streams that it has still to cosign, with the sizes that it knows. */
  readonly known: Map<CheckpointToSign, number>
}

/** A person has to look: the ledger and the witness hold different histories. */
export function isGrave({ code }: Pick<AnchorFailure, 'code'>): boolean {
  return code === 'witness.forked' || code === 'witness.rolled_back'
}

function isAtOdds({ failures }: Inquiry): boolean {
  return failures.some(isGrave)
}

async function inquire(
  witness: PinnedWitness,
  streams: readonly CheckpointToSign[],
  kept: readonly KeptAnchor[],
  nowMs: () => number,
): Promise<Inquiry> {
  const inquiry: Inquiry = { witness, answers: [], failures: [], known: new Map() }
  for (const checkpoint of streams) {
    const goesOn = await noting(inquiry, checkpoint, async () => {
      const last = lastAnswer(kept, witness, checkpoint)
      const answer = await askSize(witness, checkpoint, last, nowMs)
      if (typeof answer === 'number') inquiry.known.set(checkpoint, answer)
      else inquiry.answers.push({ witness, checkpoint, ...answer })
    })
    if (!goesOn) break
  }
  return inquiry
}

/** Streams that the witness knows in another size than was kept here go first: they may be forked. */
async function askForAll(
  inquiry: Inquiry,
  home: CheckpointToSign,
  kept: readonly KeptAnchor[],
  nowMs: () => number,
): Promise<void> {
  const { witness, known, failures, answers } = inquiry
  if (failures.some(({ code }) => code === UNREACHABLE)) return
  const isMoved = ([one, size]: readonly [CheckpointToSign, number]): boolean =>
    lastAnswer(kept, witness, one).size !== size
  const streams = [...known].sort((a, b) => Number(isMoved(b)) - Number(isMoved(a)))
  for (const [checkpoint, size] of [...streams, [home, null] as const]) {
    if (checkpoint === home && failures.length > 0) break
    const goesOn = await noting(inquiry, checkpoint, async () => {
      const last = lastAnswer(kept, witness, checkpoint)
      const from = { ...last, size: size ?? last.size }
      answers.push({ witness, checkpoint, ...(await askWitness(witness, checkpoint, from, nowMs)) })
    })
    if (!goesOn) break
  }
}

function lastAnswer(
  kept: readonly KeptAnchor[],
  { name }: PinnedWitness,
  { origin }: CheckpointToSign,
): LastAnswer {
  const last = kept.find((one) => one.witness === name && one.origin === origin)
  return { size: last?.size ?? 0, seconds: last?.seconds ?? 0 }
}

const UNREACHABLE = 'witness.unreachable'

/** Notes why a question failed. Returns whether another one makes sense. */
async function noting(
  { witness, failures }: Inquiry,
  { origin }: CheckpointToSign,
  question: () => Promise<void>,
): Promise<boolean> {
  try {
    await question()
    return true
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    const { code, message, hint } = error.fault
    const failure = { witness: witness.name, origin, code, message }
    failures.push(hint === undefined ? failure : { ...failure, hint })
    // Each further question would wait for as long.
    return code !== UNREACHABLE && !isGrave(failure)
  }
}

async function recordAnswers(
  { ledger, state }: AnchorPlace,
  { principal, source }: Actor,
  checkpoints: readonly CheckpointToSign[],
  answers: readonly Answer[],
): Promise<Appended | null> {
  if (answers.length === 0) return null
  const notes = new Map(
    checkpoints.flatMap((checkpoint) => {
      const own = answers.filter((one) => one.checkpoint === checkpoint)
      const signatures = own.map(({ signature }) => signature)
      if (own.length === 0) return []
      return [[checkpoint, withSignatures(checkpoint.note, signatures)] as const]
    }),
  )
  const payload: AnchorRecord = {
    checkpoints: [...notes].map(([{ origin, size }, note]) => ({ origin, size, note })),
    witnesses: witnessesIn(answers),
  }
  const record = { type: 'anchor_v1', payload }
  const recorded = await ledger.record({ stream: HOST_STREAM, principal, source, record })
  invariant(recorded.ok, 'a record that writ made itself follows its contract')
  keepAnchors(
    state,
    answers.map(({ witness, checkpoint, seconds }) => ({
      witness: witness.name,
      origin: checkpoint.origin,
      size: checkpoint.size,
      seconds,
      note: notes.get(checkpoint) ?? checkpoint.note,
    })),
  )
  return recorded.appended
}

function witnessesIn(answers: readonly Answer[]): AnchorRecord['witnesses'] {
  return [...new Set(answers.map(({ witness }) => witness))].map((witness) => {
    const own = answers.filter((one) => one.witness === witness)
    const first = Math.min(...own.map(({ seconds }) => seconds))
    const { name, keyText: key } = witness
    return { name, key, cosigned: own.length, at: occurredAtText(first * 1000) }
  })
}
