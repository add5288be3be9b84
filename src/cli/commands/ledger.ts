/**
 * The smaller commands of `writ ledger …`: what prints, exports or renews what the history is
 * checked with.
 */
import { FaultError, LEVEL } from '../../base/index.ts'
import { signJobsAgain } from '../../fleet/index.ts'
import {
  type FactProof,
  formatVerifierKey,
  mayKnow,
  type SignedHead,
  unknownStream,
  type VerifierKey,
  verifierKey,
} from '../../ledger/index.ts'
import {
  exportBundle,
  ledgerNameOf,
  publicKeyOf,
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
import { cosignedOf, proofFile, proofOf, writeProofs } from '../history/fact-proofs.ts'

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
  const { ledger, caller } = session
  if (call.options.text('stream') === null && caller.streams === null) {
    return signHome(ledger.store, await ledger.keys())
  }
  const stream = await streamToRead(session, call)
  const head = await ledger.store.head(stream)
  if (head === null) throw new FaultError(unknownStream(stream))
  return head.checkpoint
}

/**
 * `writ ledger key`: the public keys under which checkpoints are signed now, one per machine and name:
 * the home's and each stream's. Kept outside this machine they are what `writ ledger verify --key` pins: a history
 * signed by another key does not pass then. The keys come from the facts, not from the files in `keys/`.
 */
export async function key(call: CommandCall): Promise<Exit> {
  return withHistory(call, async (session) => {
    const names = await namesOf(session)
    const { keys: recorded, inForce } = await recordedKeys(session.ledger.store)
    const current = [...inForce].reverse()
    const retired = [...recorded].reverse().filter((key) => !inForce.includes(key))
    const [public_key = ''] = current.flatMap((key) => textsOf(key, names))
    const earlier = retired.flatMap((key) => textsOf(key, names.slice(0, 1)))
    const shown = call.options.isOn('all') ? [...current, ...retired] : current
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
  const facts = wantedFacts(call)
  return withHistory(call, async (session) => {
    const stream = await streamToRead(session, call)
    const bar = progressBar(call.terminal, 'exporting')
    if (call.options.isOn('proof')) {
      const said = await writeProofs(session, stream, facts, dir, (at, total) =>
        bar.tick(at, total),
      )
      bar.end()
      return reply(
        call,
        { dir, ...said },
        (paint) =>
          `${paint.good('exported')}  ${dir}  ${said.proofs} proofs, ${said.cosigned} with cosignatures\n`,
      )
    }
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

/** The facts that `--fact` names. */
function wantedFacts({ options }: CommandCall): readonly number[] {
  const texts = options.texts('fact')
  const isProof = options.isOn('proof')
  if (texts.every((text) => /^\d{1,15}$/.test(text)) && (isProof || texts.length === 0)) {
    if (!isProof || !options.isOn('bodies')) return texts.map(Number)
  }
  throw usageError(
    '`--fact` names a fact by its seq, and is for `--proof`; `--bodies` is for a bundle',
    'writ ledger export proofs --proof --fact 12',
  )
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

async function writeProof(
  session: ReadSession,
  call: CommandCall,
  stream: string,
  proof: FactProof,
  file: string,
): Promise<Exit> {
  const known = await cosignedOf(session, stream)
  const { text, size, cosigned } = await proofFile(session, stream, proof, known)
  await writeWhole(file, text)
  const by = cosigned ? 'with cosignatures' : 'signed by the ledger alone'
  return reply(
    call,
    { file, seq: proof.seq, size, cosigned },
    (paint) => `${paint.good('wrote')}  ${file}  over ${size} facts, ${by}\n`,
  )
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
    const { ledger } = session
    const ended = await ledger.machine()
    const key = await ledger.rotateKey(actorOf(session))
    // The key has turned, also if this fails; `writ worker list` names those that are refused.
    const jobs = await signJobsAgain(ledger, ended).catch(noneOfAway)
    const streams = await session.ledger.store.streams()
    const public_key = formatVerifierKey(publicKeyOf(key, `writ/${session.home.id}`))
    return reply(
      call,
      { public_key, streams },
      (paint) =>
        `${paint.good('rotated')}  ${streams.length} streams\n  ${public_key}\n${jobsText(jobs)}`,
    )
  })
}

function noneOfAway(error: unknown): null {
  if (error instanceof FaultError) return null
  throw error
}

function jobsText(signed: number | null): string {
  if (signed === 0) return ''
  return signed === null
    ? '  jobs of this machine that wait were not signed again: `writ worker list` names them; queue them again\n'
    : `  ${signed} waiting ${signed === 1 ? 'job' : 'jobs'} of this machine signed again\n`
}
