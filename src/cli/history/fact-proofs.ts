/** Proofs of single facts as files that other tools read (C2SP tlog-proof): index, path, checkpoint. */
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { FaultError, fault, faultError, showName } from '../../base/index.ts'
import {
  decodeHex,
  type FactProof,
  formatTlogProof,
  inclusionPath,
  parseCheckpoint,
  parseNote,
  proveFact,
  verifyInclusion,
} from '../../ledger/index.ts'
import { removeTree } from '../../machine/index.ts'
import { type KeptAnchor, readKeptAnchors, recordedAnchors } from '../../store/index.ts'
import type { ReadSession } from '../call/home.ts'
import { reasonOf } from '../call/source.ts'

interface ProofFile {
  readonly text: string
  /** Of the tree that the checkpoint is over. */
  readonly size: number
  readonly cosigned: boolean
}

interface WrittenProofs {
  readonly proofs: number
  readonly cosigned: number
}

export async function proofOf(
  { ledger }: Pick<ReadSession, 'ledger'>,
  stream: string,
  seq: number,
): Promise<FactProof> {
  const proof = await proveFact(ledger.store, stream, seq)
  if (proof !== null) return proof
  const message = `the stream ${showName(stream)} has no fact ${seq}`
  throw faultError('history.unknown', `${stream}/${seq}`, message)
}

type CosignedCheckpoint = Pick<KeptAnchor, 'size' | 'note'>

/** Returns the cosigned checkpoints of a stream: those of the facts, and those that this machine got itself. */
export async function cosignedOf(
  { ledger, home }: ReadSession,
  stream: string,
): Promise<readonly CosignedCheckpoint[]> {
  const head = await ledger.store.head(stream)
  const all = [...readKeptAnchors(home.state), ...(await recordedAnchors(ledger))]
  return all.filter(({ origin }) => origin === head?.origin)
}

/** The proof as a text, over the newest cosigned checkpoint that covers the fact, if there is one. */
export async function proofFile(
  { ledger }: ReadSession,
  stream: string,
  { seq, leaf, ...newest }: FactProof,
  known: readonly CosignedCheckpoint[],
): Promise<ProofFile> {
  const cosigned = known
    .filter(({ size }) => size > seq && size <= newest.size)
    .reduce<CosignedCheckpoint | null>(
      (most, one) => (one.size > (most?.size ?? 0) ? one : most),
      null,
    )
  const size = cosigned?.size ?? newest.size
  const checkpoint = cosigned?.note ?? newest.checkpoint
  const path = (await inclusionPath(ledger.store, stream, seq, size)).map(bytesOf)
  const { root } = parseCheckpoint(parseNote(checkpoint)?.text ?? '') ?? { root: new Uint8Array() }
  if (!verifyInclusion({ index: seq, size, leaf: bytesOf(leaf), path, root })) {
    const message = `the cosigned checkpoint of ${size} facts is not of this history`
    throw faultError('ledger.not_extended', `${stream}/${seq}`, message, 'writ ledger verify')
  }
  const text = formatTlogProof({ index: seq, path, checkpoint })
  return { text, size, cosigned: cosigned !== null }
}

/**
 * Writes `SEQ.tlog-proof` and the fact itself, `SEQ.json`, for each fact of a stream or for those asked
 * for: all of them or none, into a directory that is new or empty.
 */
export async function writeProofs(
  session: ReadSession,
  stream: string,
  wanted: readonly number[],
  directory: string,
  onProgress: (written: number, total: number) => void,
): Promise<WrittenProofs> {
  const { store } = session.ledger
  const size = (await store.head(stream))?.size ?? 0
  const seqs =
    wanted.length > 0 ? [...new Set(wanted)] : Array.from({ length: size }, (_, at) => at)
  await refuseOccupied(directory)
  const scratch = `${directory}.${randomBytes(6).toString('hex')}.part`
  let cosigned = 0
  try {
    await mkdir(dirname(directory), { recursive: true })
    await mkdir(scratch, { mode: 0o700 })
    const known = await cosignedOf(session, stream)
    for (const [done, seq] of seqs.entries()) {
      const proof = await proofFile(session, stream, await proofOf(session, stream, seq), known)
      const [fact] = await store.read(stream, seq, 1)
      await writeFile(join(scratch, `${seq}.tlog-proof`), proof.text)
      await writeFile(join(scratch, `${seq}.json`), fact?.text ?? '')
      if (proof.cosigned) cosigned++
      onProgress(done + 1, seqs.length)
    }
    await rename(scratch, directory)
  } catch (thrown) {
    await removeTree(scratch)
    if (thrown instanceof FaultError) throw thrown
    const reason = reasonOf(thrown)
    const message = `${showName(directory)} cannot be written (${reason})`
    const details = { file: directory, reason }
    throw new FaultError(fault('cli.file_unwritable', directory, details, { message }))
  }
  return { proofs: seqs.length, cosigned }
}

/** An empty directory may be taken; anything else stays as it is. */
async function refuseOccupied(directory: string): Promise<void> {
  const found = await readdir(directory).catch((error: NodeJS.ErrnoException) =>
    error.code === 'ENOENT' ? [] : [error.code],
  )
  if (found.length > 0) throw faultError('bundle.exists', directory)
}

function bytesOf(digest: string): Uint8Array {
  return decodeHex(digest.slice('sha256:'.length)) ?? new Uint8Array()
}
