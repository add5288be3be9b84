/**
 * The smaller commands of `writ ledger …`: what prints, exports or renews what the history is
 * checked with.
 */
import { join } from 'node:path'
import { FaultError, faultError, LEVEL, showName } from '../../base/index.ts'
import {
  decodeHex,
  type FactProof,
  formatTlogProof,
  formatVerifierKey,
  inclusionPath,
  mayKnow,
  parseCheckpoint,
  parseNote,
  proveFact,
  type SignedHead,
  unknownStream,
  type VerifierKey,
  verifierKey,
  verifyInclusion,
} from '../../ledger/index.ts'
import {
  exportBundle,
  type KeptAnchor,
  ledgerNameOf,
  openKeys,
  publicKeyOf,
  readKeptAnchors,
  recordedKeys,
  signHome,
} from '../../store/index.ts'
import { type CommandCall, type Exit, reply, usageError } from '../call/command.ts'
import {
  actorOf,
  type ReadSession,
  requireHuman,
  requireWholeHost,
  streamToRead,
  withHistory,
  withHome,
} from '../call/home.ts'
import { refuseActorsFile, refuseOut, writeWhole } from '../call/output-file.ts'
import { progressBar } from '../call/terminal.ts'

/**
 * `writ ledger checkpoint`: a signed checkpoint of all streams of the home, as a note that other tools
 * read; with `--stream`, the newest one of that stream alone. Kept outside this machine it is an
 * anchor: later histories must extend it.
 */
export async function checkpoint(call: CommandCall): Promise<Exit> {
  return withHistory(call, async (session) => {
    const checkpoint = await checkpointOf(session, call)
    return reply(call, { checkpoint }, () => checkpoint)
  })
}

/** Callers of single streams get the checkpoint of their own: they must not learn of the others. */
async function checkpointOf(session: ReadSession, call: CommandCall): Promise<string> {
  const { ledger, caller, home } = session
  if (call.options.text('stream') === null && caller.streams === null) {
    return signHome(ledger.store, openKeys(join(home.state, 'keys')))
  }
  const stream = await streamToRead(session, call)
  const head = await ledger.store.head(stream)
  if (head === null) throw new FaultError(unknownStream(stream))
  return head.checkpoint
}

/**
 * `writ ledger key`: the public keys under which checkpoints are signed now, one per name: the home's
 * and each stream's. Kept outside this machine they are what `writ ledger verify --key` pins: a history
 * signed by another key does not pass then. The keys come from the facts, not from the files in `keys/`.
 */
export async function key(call: CommandCall): Promise<Exit> {
  return withHistory(call, async (session) => {
    const names = await namesOf(session)
    const recorded = await recordedKeys(session.ledger.store)
    // A list with at least one key stays one when it is reversed.
    const [current, ...retired] = [...recorded].reverse() as [VerifierKey, ...VerifierKey[]]
    const [public_key = ''] = textsOf(current, names)
    const earlier = retired.flatMap((key) => textsOf(key, names.slice(0, 1)))
    const shown = call.options.isOn('all') ? [current, ...retired] : [current]
    const keys = shown.flatMap((key) => textsOf(key, names))
    return reply(call, { public_key, earlier, keys }, () => keys.map((key) => `${key}\n`).join(''))
  })
}

/** The home's name, then the origins of the streams that the caller may know of. */
async function namesOf({ ledger, caller }: ReadSession): Promise<readonly string[]> {
  const heads = await ledger.store.heads()
  const [first] = heads as [SignedHead, ...SignedHead[]] // A ledger that was opened has a host stream.
  const known = heads.filter(({ stream }) => mayKnow(caller, stream))
  return [ledgerNameOf(first), ...known.map(({ origin }) => origin)]
}

function textsOf({ type, publicKey }: VerifierKey, names: readonly string[]): readonly string[] {
  return names.map((name) => formatVerifierKey(verifierKey(name, type, publicKey)))
}

/** `writ ledger export DIR`: a bundle that anyone can verify offline, without writ (I8). */
export async function exportTo(call: CommandCall): Promise<Exit> {
  const [dir, ...others] = call.arguments
  if (dir === undefined || others.length > 0) {
    throw usageError('name one new directory', 'writ ledger export bundle')
  }
  await refuseActorsFile(call, dir, 'a person exports it: writ ledger export DIR')
  return withHistory(call, async (session) => {
    const stream = await streamToRead(session, call)
    const bar = progressBar(call.terminal, 'exporting')
    const { size, root } = await exportBundle(session.ledger, dir, {
      stream,
      level: LEVEL,
      bodies: call.options.isOn('bodies'),
      onProgress: ({ written, total }) => bar.tick(written, total),
    })
    bar.end()
    return reply(
      call,
      { dir, size, root },
      (paint) => `${paint.good('exported')}  ${dir}  ${size} facts, root ${root}\n`,
    )
  })
}

/** `writ ledger prove SEQ`: the path from one fact to the root of the newest signed checkpoint. */
export async function prove(call: CommandCall): Promise<Exit> {
  const [text = '', ...others] = call.arguments
  if (!/^\d{1,15}$/.test(text) || others.length > 0) {
    throw usageError('name one fact by its seq', 'writ ledger prove 12')
  }
  const out = call.options.text('out')
  if (out !== null) await refuseOut(call, out)
  return withHistory(call, async (session) => {
    const stream = await streamToRead(session, call)
    const proof = await proofOf(session, stream, Number(text))
    if (out !== null) return writeProof(session, call, stream, proof, out)
    return reply(
      call,
      proof,
      () =>
        `${[`leaf  ${proof.leaf}`, ...proof.path.map((hash) => `      ${hash}`), `root  ${proof.root}`, '', proof.checkpoint].join('\n')}`,
    )
  })
}

async function proofOf({ ledger }: ReadSession, stream: string, seq: number): Promise<FactProof> {
  const proof = await proveFact(ledger.store, stream, seq)
  if (proof !== null) return proof
  const message = `the stream ${showName(stream)} has no fact ${seq}`
  throw faultError('history.unknown', `${stream}/${seq}`, message)
}

/** Writes the proof as a C2SP tlog-proof, over a cosigned checkpoint if one covers the fact. */
async function writeProof(
  { ledger, home }: ReadSession,
  call: CommandCall,
  stream: string,
  { seq, leaf, ...newest }: FactProof,
  file: string,
): Promise<Exit> {
  const head = await ledger.store.head(stream)
  const cosigned = readKeptAnchors(home.state)
    .filter(({ origin, size }) => origin === head?.origin && size > seq && size <= newest.size)
    .reduce<KeptAnchor | null>((most, one) => (one.size > (most?.size ?? 0) ? one : most), null)
  const size = cosigned?.size ?? newest.size
  const checkpoint = cosigned?.note ?? newest.checkpoint
  const path = (await inclusionPath(ledger.store, stream, seq, size)).map(bytesOf)
  const { root } = parseCheckpoint(parseNote(checkpoint)?.text ?? '') ?? { root: new Uint8Array() }
  if (!verifyInclusion({ index: seq, size, leaf: bytesOf(leaf), path, root })) {
    const message = `the cosigned checkpoint of ${size} facts is not of this history`
    throw faultError('ledger.not_extended', `${stream}/${seq}`, message, 'writ ledger verify')
  }
  await writeWhole(file, formatTlogProof({ index: seq, path, checkpoint }))
  const said = { file, seq, size, cosigned: cosigned !== null }
  const by = cosigned === null ? 'signed by the ledger alone' : 'with cosignatures'
  return reply(
    call,
    said,
    (paint) => `${paint.good('wrote')}  ${file}  over ${size} facts, ${by}\n`,
  )
}

function bytesOf(digest: string): Uint8Array {
  return decodeHex(digest.slice('sha256:'.length)) ?? new Uint8Array()
}

/** `writ ledger reindex`: makes the query index again from the facts. */
export async function reindex(call: CommandCall): Promise<Exit> {
  return withHome(call, async ({ ledger, caller }) => {
    requireWholeHost(caller, 'making the index again')
    await ledger.store.reindex()
    const streams = await ledger.store.streams()
    return reply(call, { streams }, (paint) => `${paint.good('indexed')}  ${streams.join(', ')}\n`)
  })
}

/** `writ ledger rotate`: a new key signs from now on; each stream gets a fact that says so. */
export async function rotate(call: CommandCall): Promise<Exit> {
  return withHome(call, async (session) => {
    await requireHuman(session, call, 'rotating the key')
    const key = await session.ledger.rotateKey(actorOf(session))
    const streams = await session.ledger.store.streams()
    const public_key = formatVerifierKey(publicKeyOf(key, `writ/${session.home.id}`))
    return reply(
      call,
      { public_key, streams },
      (paint) => `${paint.good('rotated')}  ${streams.length} streams\n  ${public_key}\n`,
    )
  })
}
