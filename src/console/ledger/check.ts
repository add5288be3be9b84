/**
 * Verifies the ledger in this browser: every entry is fetched as bytes and hashed here, the root is
 * computed here, and the signature is checked here with the keys of the home.
 */
import {
  checkFactProof,
  decodeBundle,
  decodeHex,
  encodeHex,
  equalBytes,
  factLeaf,
  openCheckpoint,
  parseVerifierKey,
  RightEdge,
  TILE_WIDTH,
  tilePath,
  type Verifier,
  verifierFor,
} from '../../ledger/index.ts'
import { pageKey } from '../app/page-key.ts'
import { client } from '../app/service.ts'
import { type ProofStep, proofSteps } from './proof-steps.ts'

async function verifiersOfHome(): Promise<readonly Verifier[]> {
  const { value } = await client.listKeys({ query: {} })
  return value.keys.flatMap((text) => {
    const key = parseVerifierKey(text)
    const verifier = key === null ? null : verifierFor(key)
    return verifier === null ? [] : [verifier]
  })
}

/** Returns the entries of one bundle as the bytes that the tree is made of. */
async function entriesOf(
  stream: string,
  index: number,
  size: number,
): Promise<readonly Uint8Array[]> {
  const width = Math.min(TILE_WIDTH, size - index * TILE_WIDTH)
  const path = tilePath({ level: 'entries', index, width })
  const address = `/v1/streams/${encodeURIComponent(stream)}/${path}`
  const answer = await fetch(address, { headers: { 'writ-page-key': pageKey() ?? '' } })
  if (!answer.ok) throw new TypeError(`the tile ${path} cannot be read`)
  const entries = decodeBundle(new Uint8Array(await answer.arrayBuffer()))
  if (entries === null || entries.length !== width)
    throw new TypeError(`the tile ${path} is broken`)
  return entries
}

export interface FactCheck {
  readonly seq: number
  /** Whether the fact is in the tree that the home signed. */
  readonly isProven: boolean
  readonly size: number
  readonly root: string
  readonly signedBy: readonly string[]
  readonly leaf: string
  /** From the fact up to the root. */
  readonly steps: readonly ProofStep[]
}

/** Checks that a fact is in the tree that the home signed, and returns each hash on the way to its root. */
export async function checkFact(stream: string, seq: number): Promise<FactCheck> {
  const { value: proof } = await client.proveFact({ params: { stream }, query: { seq } })
  const entries = await entriesOf(stream, Math.floor(seq / TILE_WIDTH), proof.size)
  const text = new TextDecoder().decode(entries[seq % TILE_WIDTH])
  const verifiers = await verifiersOfHome()
  const opened = openCheckpoint(proof.checkpoint, verifiers)
  const leaf = factLeaf(text)
  return {
    seq,
    // Digests came as texts, which the check itself looks at.
    isProven: checkFactProof(proof as never, text, verifiers),
    size: proof.size,
    root: opened.ok ? encodeHex(opened.checkpoint.root) : '',
    signedBy: opened.ok ? opened.verified.map(({ name }) => name) : [],
    leaf: encodeHex(leaf),
    steps: proofSteps(seq, proof.size, leaf, proof.path.map(bytesOf)),
  }
}

function bytesOf(digest: string): Uint8Array {
  return decodeHex(digest.slice('sha256:'.length)) ?? new Uint8Array()
}

export interface StreamCheck {
  readonly stream: string
  readonly size: number
  readonly root: string
  readonly isRootEqual: boolean
  readonly signedBy: readonly string[]
}

export async function checkStream(
  stream: string,
  tell: (done: number, size: number) => void,
): Promise<StreamCheck> {
  const { value: note } = await client.showCheckpoint({ params: { stream } })
  const opened = openCheckpoint(note, await verifiersOfHome())
  if (!opened.ok) throw new TypeError(opened.fault.message)
  const { size, root } = opened.checkpoint
  const edge = new RightEdge()
  for (let index = 0; index * TILE_WIDTH < size; index += 1) {
    for (const entry of await entriesOf(stream, index, size)) edge.append(factLeaf(entry))
    tell(Math.min(size, (index + 1) * TILE_WIDTH), size)
  }
  const computed = edge.root()
  return {
    stream,
    size,
    root: encodeHex(computed),
    isRootEqual: equalBytes(computed, root),
    signedBy: opened.verified.map(({ name }) => name),
  }
}
