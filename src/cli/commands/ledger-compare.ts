/**
 * `writ ledger compare A B`: what two checkpoints say of each other. Two of one size with different
 * roots are a fork, and the two notes together prove it to anyone. Needs no home.
 *
 * Signatures are believed only for keys that are named with `--key`; without one the answer says so.
 */
import { fault, showName } from '../../base/index.ts'
import {
  type Checkpoint,
  compareCheckpoints,
  encodeHex,
  openCheckpoint,
  parseCheckpoint,
  parseNote,
  parseVerifierKey,
  type Verifier,
  verifierFor,
} from '../../ledger/index.ts'
import { type Call, EXIT, type Exit, Stop } from '../command.ts'
import { readSource } from '../source.ts'

export async function run(call: Call): Promise<Exit> {
  const [first, second, ...others] = call.arguments
  if (first === undefined || second === undefined || others.length > 0) {
    throw new Stop(fault('cli.usage', '', null, { message: 'name two checkpoint files' }))
  }
  const verifiers = call.options.texts('key').map(verifierOf)
  const [ours, theirs] = [await read(first, verifiers), await read(second, verifiers)]
  const relation = compareCheckpoints(ours, theirs)
  const answer = {
    relation,
    signed: verifiers.length > 0,
    ours: shape(ours),
    theirs: shape(theirs),
  }
  const { terminal, options } = call
  await terminal.out(
    options.isOn('json') ? `${JSON.stringify(answer)}\n` : `${SENTENCES[relation]}\n`,
  )
  if (verifiers.length === 0 && !options.isOn('json')) {
    terminal.err('the signatures were not checked; name the public key with `--key`\n')
  }
  return relation === 'fork' || relation === 'strangers' ? EXIT.no : EXIT.yes
}

const SENTENCES = {
  same: 'same: both speak of one history',
  older: 'older: the first is of an earlier size; `writ ledger verify --from` proves the extension',
  newer: 'newer: the first is of a later size; `writ ledger verify --from` proves the extension',
  fork: 'fork: one size, two roots; somebody keeps two histories, and these two notes prove it',
  strangers: 'strangers: the checkpoints are of different ledgers or streams',
} as const

function verifierOf(text: string): Verifier {
  const key = parseVerifierKey(text)
  const verifier = key === null ? null : verifierFor(key)
  if (verifier !== null) return verifier
  const message = `${showName(text)} is not a public key of a signed note`
  throw new Stop(fault('ledger.key_malformed', '', null, { message }))
}

async function read(name: string, verifiers: readonly Verifier[]): Promise<Checkpoint> {
  const note = (await readSource(name)).bytes.toString('utf8')
  if (verifiers.length > 0) {
    const opened = openCheckpoint(note, verifiers)
    if (opened.ok) return opened.checkpoint
    throw new Stop(opened.fault)
  }
  const checkpoint = parseCheckpoint(parseNote(note)?.text ?? '')
  if (checkpoint !== null) return checkpoint
  const message = `${showName(name)} does not hold a checkpoint`
  throw new Stop(fault('ledger.checkpoint_malformed', name, null, { message }))
}

function shape({ origin, size, root }: Checkpoint) {
  return { origin, size, root: `sha256:${encodeHex(root)}` }
}
