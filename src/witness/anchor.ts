/**
 * Has the checkpoints of a ledger cosigned: of every stream, and the home's statement over all of them
 * (H-9). What was cosigned becomes one fact of the host's stream (`anchor_v1`) and is kept in
 * `anchors.json`.
 *
 * A witness that is not there costs its cosignatures and nothing else. The home's statement is handed to
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
import { askWitness, type CheckpointToSign, withSignatures } from './witness-client.ts'

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
  const asked = await Promise.all(
    witnesses.map((witness) => askForAll(witness, streams, home, kept, nowMs)),
  )
  const answers = asked.flatMap((one) => one.answers)
  const fact = await recordAnswers(place, actor, [...streams, home], answers)
  return {
    cosigned: answers.map(({ witness, checkpoint, seconds }) => ({
      witness: witness.name,
      origin: checkpoint.origin,
      size: checkpoint.size,
      at: occurredAtText(seconds * 1000),
    })),
    failures: asked.flatMap((one) => one.failures),
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

async function askForAll(
  witness: PinnedWitness,
  streams: readonly CheckpointToSign[],
  home: CheckpointToSign,
  kept: readonly KeptAnchor[],
  nowMs: () => number,
): Promise<{ readonly answers: readonly Answer[]; readonly failures: readonly AnchorFailure[] }> {
  const answers: Answer[] = []
  const failures: AnchorFailure[] = []
  for (const checkpoint of [...streams, home]) {
    if (checkpoint === home && failures.length > 0) break
    const { origin } = checkpoint
    const last = kept.find((one) => one.witness === witness.name && one.origin === origin)
    try {
      const known = { size: last?.size ?? 0, seconds: last?.seconds ?? 0 }
      answers.push({
        witness,
        checkpoint,
        ...(await askWitness(witness, checkpoint, known, nowMs)),
      })
    } catch (error) {
      if (!(error instanceof FaultError)) throw error
      const { code, message, hint } = error.fault
      const said = { witness: witness.name, origin, code, message }
      failures.push(hint === undefined ? said : { ...said, hint })
      // Each further question would wait for as long.
      if (code === 'witness.unreachable') break
    }
  }
  return { answers, failures }
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
