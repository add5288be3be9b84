/**
 * What speaks of a stream from outside of its facts: checkpoints that were kept elsewhere, or that
 * witnesses cosigned; and what a report says of them.
 */
import { faultError } from '../../base/index.ts'
import {
  type Checkpoint,
  type ExpectedRoot,
  formatVerifierKey,
  HOST_STREAM,
  hashText,
  headsOfHome,
  MAIN_STREAM,
  occurredAtText,
  type StreamVerification,
  type Wrong,
} from '../../ledger/index.ts'
import type { CosignedNotes } from './cosigned.ts'
import type { StreamRow } from './verify-rows.ts'

/** One stream that was gone over. */
export interface VerifiedStream {
  readonly stream: string
  readonly size: number
  readonly root: string
  /**
   * `extends`: the stream extends a checkpoint kept elsewhere. `begun_since`: the host's stream names
   * it behind its own anchor. `none`: no anchor speaks of it.
   */
  readonly anchor: 'extends' | 'begun_since' | 'none'
}

/** What a witness cosigned of a stream that was gone over, the largest checkpoint of each. */
export interface WitnessedStream {
  readonly witness: string
  /** Its public key as a text. */
  readonly key: string
  readonly stream: string
  readonly size: number
  /** By the clock of the witness. */
  readonly at: string
}

/** A note that could be read. */
export interface KnownNote {
  readonly note: string
  readonly checkpoint: Checkpoint
}

/** What a note from elsewhere says of one stream. */
export interface Anchor extends KnownNote {
  /** The name under which the keys signed it: the stream's origin, or the ledger's name. */
  readonly signedAs: string
  /** Whether it anchors the stream, or only has to agree with it. */
  readonly isAnchor: boolean
}

/** A stream under verification with everything that speaks of it. */
export interface Examined {
  readonly row: StreamRow
  readonly head: KnownNote | null
  readonly kept: readonly KnownNote[]
  readonly anchors: readonly Anchor[]
  readonly verification: StreamVerification
}

/**
 * Returns what a note says of each stream: of one, or of all when it is the home's checkpoint. Of a
 * home's checkpoint a witness has proven only that the host's stream grew: the other lines must agree
 * with their streams, but anchor them only if a person kept the note.
 */
export function anchorsOf(
  { note, checkpoint }: KnownNote,
  row: StreamRow | undefined,
  by: 'kept' | 'cosigned',
): readonly Anchor[] {
  const { origin: signedAs } = checkpoint
  if (row === undefined || signedAs !== row.origin.slice(0, -(row.name.length + 1))) {
    return [{ note, checkpoint, signedAs, isAnchor: true }]
  }
  const heads = headsOfHome(checkpoint)
  if (heads === null) throw faultError('ledger.checkpoint_malformed', 'anchor')
  return heads.map(({ stream, size, root }) => {
    const origin = `${signedAs}/${stream}`
    const isAnchor = by === 'kept' || stream === HOST_STREAM
    return { note, signedAs, isAnchor, checkpoint: { origin, size, root, extensions: [] } }
  })
}

export function lostStream({ origin, size }: Checkpoint): Wrong {
  const message = `the checkpoint kept elsewhere counts ${size} facts of \`${origin}\`, which is not there`
  return { code: 'ledger.stream_missing', message }
}

export function foreignAnchor({ origin }: Checkpoint): Wrong {
  const message = `no stream that was verified has the origin \`${origin}\``
  return { code: 'ledger.anchor_foreign', message }
}

/** Returns the streams with what anchors them. */
export function streamsOf(examined: readonly Examined[]): readonly VerifiedStream[] {
  const host = examined.find(({ row }) => isHost(row))
  const hostSizes = host?.anchors.map(({ checkpoint }) => checkpoint.size) ?? []
  const begunSince = host?.verification.beginnings
    .filter(({ seq }) => hostSizes.length > 0 && seq >= Math.max(...hostSizes))
    .map(({ stream }) => stream)
  return examined.map(({ row: { name: stream }, anchors, verification }) => ({
    stream,
    size: verification.size,
    root: hashText(verification.root()),
    anchor: anchors.some(({ isAnchor }) => isAnchor)
      ? 'extends'
      : begunSince?.includes(stream) === true
        ? 'begun_since'
        : 'none',
  }))
}

/** Who cosigned what of the streams that were gone over. */
export function witnessedOf(
  examined: readonly Examined[],
  { notes }: CosignedNotes,
): readonly WitnessedStream[] {
  return examined.flatMap(({ row: { name: stream, origin } }) =>
    notes
      .filter(({ checkpoint }) => checkpoint.origin === origin)
      .map(({ witness, checkpoint: { size }, seconds }) => ({
        witness: witness.name,
        key: formatVerifierKey(witness),
        stream,
        size,
        at: occurredAtText(seconds * 1000),
      })),
  )
}

/** The roots that the facts must pass through, in the order of their sizes. */
export function expectedRoots(
  kept: readonly KnownNote[],
  anchors: readonly KnownNote[],
  headSize: number,
): readonly ExpectedRoot[] {
  const own = kept.map(({ checkpoint: { size, root } }): ExpectedRoot => {
    const message = `the checkpoint kept at the size ${size} has another root than the facts`
    const lost = `a checkpoint is kept for ${size} facts`
    return {
      size,
      root,
      otherwise: { code: 'ledger.root', message },
      unreached: { code: 'ledger.truncated', message: lost },
    }
  })
  const foreign = anchors.map(({ checkpoint: { size, root } }): ExpectedRoot => {
    // Two checkpoints of one size with different roots prove a fork to anyone.
    const code = size === headSize ? 'ledger.forked' : 'ledger.not_extended'
    const message = `the first ${size} facts have another root than the checkpoint kept elsewhere`
    const lost = `the checkpoint kept elsewhere counts ${size} facts`
    return {
      size,
      root,
      otherwise: { code, message },
      unreached: { code: 'ledger.truncated', message: lost },
    }
  })
  return [...own, ...foreign].sort((a, b) => a.size - b.size)
}

export function isHost({ name }: StreamRow): boolean {
  return name === HOST_STREAM
}

/** The stream that an anchor speaks of; `main` before others. */
export function anchoredStream(examined: readonly Examined[]): string | undefined {
  const names = examined.filter(({ anchors }) => anchors.length > 0).map(({ row }) => row.name)
  return names.includes(MAIN_STREAM) ? MAIN_STREAM : names[0]
}
