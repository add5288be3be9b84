/**
 * `writ ledger verify` and `writ ledger compare`: whether the history holds, and whether two
 * checkpoints agree.
 */
import { FaultError, faultError, showName } from '../../base/index.ts'
import { openHome } from '../../home/index.ts'
import {
  type Checkpoint,
  compareCheckpoints,
  encodeHex,
  formatVerifierKey,
  openCheckpoint,
  parseCheckpoint,
  parseNote,
  parseVerifierKey,
  type Verifier,
  type VerifierKey,
  verifierFor,
  verifierKey,
} from '../../ledger/index.ts'
import {
  exitOfReport,
  type VerifiedStream,
  type VerifyReport,
  verifyLedger,
} from '../../store/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { callerOf, ofKnownHome, withLedger } from '../call/home.ts'
import { readSource } from '../call/source.ts'
import { progressBar, surroundings } from '../call/terminal.ts'
import { pinnedKeys } from '../history/option-values.ts'

/**
 * `writ ledger verify`: goes over the whole history and says whether it holds. Reads the file without
 * opening it as a ledger, because a tampered one is what it is for. Without a checkpoint kept elsewhere
 * it proves consistency only, and says so. Folds all facts again and compares the result with the kept
 * standing.
 */
export async function verify(call: CommandCall): Promise<Exit> {
  const { options, terminal } = call
  const around = surroundings()
  const home = openHome(around, options.text('home'))
  // Only the bearer of a token has to be looked up, and a tenant may not see the whole.
  if (around.env['WRIT_TOKEN'] !== undefined) {
    await withLedger(home, async (_ledger, register) => {
      if (callerOf(around, register, 'read').streams === null) return
      throw faultError('principal.scope', '', 'verification goes over the whole host')
    })
  }
  const stream = options.text('stream')
  const anchor = await Promise.all(
    options.texts('from').map(async (name) => (await readSource(name)).bytes.toString('utf8')),
  )
  const witnesses = options.texts('witness')
  const bar = progressBar(terminal, 'verifying')
  const place = { directory: home.state }
  const verified = verifyLedger(place, {
    ...(stream === null ? {} : { stream }),
    ...(anchor.length === 0 ? {} : { anchor }),
    ...(options.texts('key').length === 0 ? {} : { pinnedKeys: pinnedKeys(call) }),
    ...(witnesses.length === 0 ? {} : { witnesses }),
    contracts: !options.isOn('no-contracts'),
    index: true,
    kept: true,
    onProgress: ({ checked, total }) => bar.tick(checked, total),
  })
  const report = await ofKnownHome(home, verified)
  bar.end()
  await tell(call, report)
  // A checkpoint that leaves streams out proves nothing of them.
  const isPartly = report.ok && anchor.length + witnesses.length > 0 && !report.anchored
  return isPartly ? EXIT.waiting : exitOfReport(report)
}

async function tell({ options, terminal }: CommandCall, report: VerifyReport): Promise<void> {
  if (options.isOn('json')) return terminal.out(`${JSON.stringify(report)}\n`)
  const { paint } = terminal
  const { ok, size, root, checked, problems } = report
  const lines = [
    `${ok ? paint.good('holds') : paint.bad('broken')}  ${checked} facts checked, size ${size}`,
    `  root  ${root}`,
    ...(ok ? [`  ${anchorWords(report)}`] : []),
    ...report.witnessed.map(
      ({ witness, stream, size, at }) =>
        `  witnessed  ${stream}, ${size} facts, by ${showName(witness)} at ${at}`,
    ),
    ...problems.map(
      ({ code, seq, message }) =>
        `  ${seq === undefined ? '' : `seq ${seq}  `}${paint.accent(code)}  ${message}`,
    ),
  ]
  return terminal.out(`${lines.join('\n')}\n`)
}

const KEEP =
  'keep one of all streams: `writ ledger checkpoint > FILE`, or have it cosigned: `writ ledger anchor`'

function anchorWords({ anchored, streams, witnessed }: VerifyReport): string {
  const named = (anchor: VerifiedStream['anchor']): string =>
    streams.flatMap((one) => (one.anchor === anchor ? [one.stream] : [])).join(', ')
  const [held, since, none] = [named('extends'), named('begun_since'), named('none')]
  if (held === '') {
    return `not anchored: consistent in itself; a rewrite with the stolen key, or an old copy, is not excluded (${KEEP})`
  }
  if (!anchored) {
    return `not anchored: only ${held} extends the checkpoint that was kept; not covered: ${none} (${KEEP})`
  }
  const later = since === '' ? '' : `; begun since: ${since}`
  const what = witnessed.length === 0 ? 'the checkpoint that was kept' : 'what was kept or cosigned'
  return `anchored: the history extends ${what} (${held}${later})`
}

/**
 * `writ ledger compare A B`: what two checkpoints say of each other. Two of one size with different
 * roots are a fork, and the two notes together prove it to anyone. Needs no home.
 *
 * Signatures are believed only for keys that are named with `--key`; without one the answer says so.
 */
export async function compare(call: CommandCall): Promise<Exit> {
  const [first, second, ...others] = call.arguments
  if (first === undefined || second === undefined || others.length > 0) {
    throw usageError('name two checkpoint files')
  }
  const keys = pinnedKeys(call).map(keyOf)
  const [ours, theirs] = [await read(first, keys), await read(second, keys)]
  const relation = compareCheckpoints(ours, theirs)
  const answer = {
    relation,
    signed: keys.length > 0,
    ours: shape(ours),
    theirs: shape(theirs),
  }
  const { terminal, options } = call
  await terminal.out(
    options.isOn('json') ? `${JSON.stringify(answer)}\n` : `${SENTENCES[relation]}\n`,
  )
  if (keys.length === 0 && !options.isOn('json')) {
    terminal.err(
      'the signatures were not checked; name the public keys with `--key "$(writ ledger key --all)"`\n',
    )
  }
  return relation === 'fork' || relation === 'strangers' ? EXIT.no : EXIT.yes
}

const SENTENCES = {
  same: 'same: both speak of one history',
  older: 'older: the first is of an earlier size; `writ ledger verify --from` proves the extension',
  newer: 'newer: the first is of a later size; `writ ledger verify --from` proves the extension',
  fork: 'fork: one size, two roots; the holder of the key keeps two histories, and these two notes prove it',
  strangers: 'strangers: the checkpoints are of different ledgers, or of different streams',
} as const

function keyOf(text: string): VerifierKey {
  const key = parseVerifierKey(text)
  if (key !== null && verifierFor(key) !== null) return key
  const message = `${showName(text)} is not a public key of a signed note`
  throw faultError('ledger.key_malformed', '', message)
}

async function read(name: string, keys: readonly VerifierKey[]): Promise<Checkpoint> {
  const note = (await readSource(name)).bytes.toString('utf8')
  const checkpoint = parseCheckpoint(parseNote(note)?.text ?? '')
  if (checkpoint === null) {
    const message = `${showName(name)} does not hold a checkpoint`
    throw faultError('ledger.checkpoint_malformed', name, message)
  }
  if (keys.length === 0) return checkpoint
  const opened = openCheckpoint(note, verifiersOf(keys, checkpoint.origin))
  if (opened.ok) return opened.checkpoint
  throw new FaultError(opened.fault)
}

/** One key signs the home and all of its streams, each under its own name: the bytes decide. */
function verifiersOf(keys: readonly VerifierKey[], origin: string): readonly Verifier[] {
  const named = keys.map(({ type, publicKey }) => verifierKey(origin, type, publicKey))
  const texts = new Map(named.map((key) => [formatVerifierKey(key), key]))
  return [...texts.values()].flatMap((key) => verifierFor(key) ?? [])
}

function shape({ origin, size, root }: Checkpoint) {
  return { origin, size, root: `sha256:${encodeHex(root)}` }
}
