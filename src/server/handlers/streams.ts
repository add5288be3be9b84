/** Facts, checkpoints, proofs and tiles of the streams that the caller may know of. */
import { FaultError, faultError, showName } from '../../base/index.ts'
import { openFact, shownFact } from '../../history/index.ts'
import {
  encodeBundle,
  hashText,
  mayKnow,
  parseTilePath,
  proveFact,
  type Query,
  type SignedHead,
  TILE_HEIGHT,
  TILE_WIDTH,
  type Tile,
  unknownStream,
} from '../../ledger/index.ts'
import { keyChainOf } from '../../store/index.ts'
import type { Handler, RouteCall } from './route-call.ts'

const FACTS = 100

export const listStreams: Handler<'listStreams'> = async ({ home, caller }) => {
  const heads = await home.ledger.store.heads()
  const streams = heads
    .filter(({ stream }) => mayKnow(caller, stream))
    .map(({ stream, size, root }) => ({ stream, size, root: hashText(root) }))
  return { value: { streams } }
}

export const listFacts: Handler<'listFacts'> = async (call) => {
  const { stream } = call.params
  if (!mayKnow(call.caller, stream)) throw new FaultError(unknownStream(stream))
  const { after, limit = FACTS, order = 'oldest_first', ...named } = call.query
  const query: Query = {
    ...named,
    stream,
    limit,
    order,
    ...(after === undefined ? {} : { cursor: after }),
  }
  const page = await call.home.ledger.store.find(query)
  // A stream that is not there has no facts either; only then its head is asked for.
  if (page.facts.length === 0) await headOf(call, stream)
  const texts: string[] = []
  for (const { text } of page.facts) {
    // A fact with its payload is shown as it is written; the store has read it.
    const isWhole = !text.includes('"payload_ref":')
    texts.push(isWhole ? text : JSON.stringify(shownFact(await openFact(call.home.ledger, text))))
  }
  return { json: `{"facts":[${texts.join(',')}],"next":${JSON.stringify(page.next)}}` }
}

export const showCheckpoint: Handler<'showCheckpoint'> = async (call) => {
  const { checkpoint } = await headOf(call, call.params.stream)
  return { value: checkpoint }
}

export const proveOne: Handler<'proveFact'> = async (call) => {
  const { stream } = await headOf(call, call.params.stream)
  const { seq } = call.query
  const proof = await proveFact(call.home.ledger.store, stream, seq)
  if (proof !== null) return { value: proof }
  const message = `the stream ${showName(stream)} has no fact ${seq}`
  throw faultError('history.unknown', `${stream}/${seq}`, message)
}

export const proveKeys: Handler<'proveKeys'> = async (call) => {
  const head = await headOf(call, call.params.stream)
  const { ledger } = call.home
  const { changes, ...chain } = await keyChainOf(ledger.store, await ledger.keys(), head)
  const copied = changes.map(({ path, kept, ...change }) => {
    const first = kept === null ? null : { ...kept, path: [...kept.path] }
    return { ...change, path: [...path], kept: first }
  })
  return { value: { ...chain, changes: copied } }
}

export const readTile: Handler<'readTile'> = async (call) => {
  const head = await headOf(call, call.params.stream)
  const tile = parseTilePath(`tile/${call.params.tile}`)
  const bytes = tile === null ? null : await tileBytes(call, head, tile)
  if (bytes === null) {
    throw faultError('history.unknown', call.params.tile, 'the tree has no such tile')
  }
  // A full tile never changes.
  const isFull = tile?.width === TILE_WIDTH
  const age = isFull ? 'private, max-age=31536000, immutable' : 'private, no-cache'
  return { value: Buffer.from(bytes), headers: { 'cache-control': age } }
}

/** A stream that the caller may not know of is answered like one that is not there (L-7). */
async function headOf(
  { home, caller }: Pick<RouteCall, 'home' | 'caller'>,
  stream: string,
): Promise<SignedHead> {
  const head = mayKnow(caller, stream) ? await home.ledger.store.head(stream) : null
  if (head === null) throw new FaultError(unknownStream(stream))
  return head
}

async function tileBytes(
  { home }: Pick<RouteCall, 'home'>,
  { stream, size }: SignedHead,
  { level, index, width }: Tile,
): Promise<Uint8Array | null> {
  const { store } = home.ledger
  const height = level === 'entries' ? 0 : level * TILE_HEIGHT
  const first = index * TILE_WIDTH
  // How many complete subtrees of this height the tree has.
  const complete = Math.floor(size / 2 ** height)
  if (first + width > complete) return null
  if (level === 'entries') {
    const facts = await store.read(stream, first, width)
    return encodeBundle(facts.map(({ text }) => new TextEncoder().encode(text)))
  }
  const nodes = Array.from({ length: width }, (_none, at) => ({ level: height, index: first + at }))
  return Buffer.concat(await store.nodes(stream, nodes))
}
