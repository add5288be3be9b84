/**
 * `writ witness …`. A witness is a program of another party that cosigns checkpoints (H-9): `init`,
 * `add-log`, `logs` and `serve` are for who runs one, and need no home. `pin`, `unpin` and `list` say
 * which witnesses a home believes.
 */
import { resolve } from 'node:path'
import { faultError, showName } from '../../base/index.ts'
import {
  formatVerifierKey,
  parseVerifierKey,
  type VerifierKey,
  verifierFor,
} from '../../ledger/index.ts'
import {
  pinnedWitnesses,
  pinWitness,
  startWitness,
  unpinWitness,
  WitnessDirectory,
} from '../../witness/index.ts'
import { type CommandCall, EXIT, type Exit, reply, usageError } from '../call/command.ts'
import {
  actorOf,
  refuseTokens,
  requireHuman,
  requireWholeHost,
  withHistory,
  withHome,
} from '../call/home.ts'
import { listenOption, signalled, tlsOption } from '../call/listening.ts'
import { surroundings } from '../call/terminal.ts'
import { table } from '../history/text.ts'

const PORT = 4181
const DIRECTORY = 'writ-witness'

/** Actors have no business with the directory of a witness. */
function directoryOf({ options }: CommandCall): string {
  refuseTokens(surroundings(), 'running a witness')
  return resolve(options.text('dir') ?? DIRECTORY)
}

/** `writ witness init NAME`: makes a witness with a key of its own, and prints the key for others to pin. */
export async function init(call: CommandCall): Promise<Exit> {
  const [name, ...others] = call.arguments
  if (name === undefined || others.length > 0) {
    throw usageError('name the witness, as a host and path', 'writ witness init witness.example/w1')
  }
  const dir = directoryOf(call)
  const key = formatVerifierKey(WitnessDirectory.create(dir, name).key)
  return reply(call, { dir, name, key }, () => `${key}\n`)
}

/** `writ witness add-log KEY…`: cosigns for these logs from now on, also while the witness runs. */
export async function addLog(call: CommandCall): Promise<Exit> {
  const keys = call.arguments.flatMap((text) => text.split(/\s+/)).filter((text) => text !== '')
  if (keys.length === 0) {
    throw usageError('name the keys of a log', 'writ witness add-log "$(writ ledger key)"')
  }
  const parsed = keys.map(logKey)
  const witness = WitnessDirectory.open(directoryOf(call))
  const streams = call.options.isOn('streams')
  const origins = [...new Set(parsed.map(({ name }) => name))]
  const logs = origins.map((origin) => {
    const own = parsed.filter(({ name }) => name === origin)
    return witness.addLog(origin, own, streams)
  })
  return reply(call, { logs }, (paint) =>
    logs
      .map(({ origin, streams: all }) => `${paint.good('cosigns')}  ${origin}${all ? '/…' : ''}\n`)
      .join(''),
  )
}

function logKey(text: string): VerifierKey {
  const key = parseVerifierKey(text)
  if (key !== null && verifierFor(key) !== null) return key
  const message = `${showName(text)} is not the key of a log`
  throw faultError('witness.key', '', message, '`writ ledger key` prints the keys of a ledger')
}

/** `writ witness logs`: the registered logs, and how much of each was cosigned. */
export async function logs(call: CommandCall): Promise<Exit> {
  const witness = WitnessDirectory.open(directoryOf(call))
  const [found, key] = [witness.logs(), formatVerifierKey(witness.key)]
  return reply(call, { key, logs: found }, () => {
    const rows = found.map(({ origin, size, streams }) => [origin, `${size}`, streams ? 'yes' : ''])
    return `${key}\n${table(call.terminal, ['log', 'cosigned', 'streams'], rows)}`
  })
}

/** `writ witness serve`: answers `add-checkpoint` until a signal ends it. */
export async function serve(call: CommandCall): Promise<Exit> {
  const { terminal, options } = call
  const directory = WitnessDirectory.open(directoryOf(call))
  const { url, stop } = await startWitness({
    directory,
    listen: listenOption(call, PORT),
    tls: tlsOption(call),
    nowMs: Date.now,
    writeLog: (line) => terminal.err(line),
  })
  const key = formatVerifierKey(directory.key)
  const text = options.isOn('json') ? JSON.stringify({ url, key }) : `witnessing at ${url}\n${key}`
  await terminal.out(`${text}\n`)
  await signalled()
  await stop()
  return EXIT.yes
}

/** `writ witness pin URL KEY`: this home believes the cosignatures of that key from now on. */
export async function pin(call: CommandCall): Promise<Exit> {
  const [url, keyText, ...others] = call.arguments
  if (url === undefined || keyText === undefined || others.length > 0) {
    throw usageError('name the address of a witness and its key', 'writ witness pin URL KEY')
  }
  return withHome(call, async (session) => {
    await requireHuman(session, call, 'pinning a witness')
    const given = { url, keyText, nowMs: Date.now() }
    const { name, url: at } = await pinWitness(session.ledger, actorOf(session), given)
    const said = { name, url: at, key: keyText }
    return reply(call, said, (paint) => `${paint.good('pinned')}  ${name} at ${at}\n`)
  })
}

/** `writ witness unpin NAME`: cosignatures of that witness count no longer; those recorded stay. */
export async function unpin(call: CommandCall): Promise<Exit> {
  const [name, ...others] = call.arguments
  if (name === undefined || others.length > 0) {
    throw usageError('name one witness', 'writ witness unpin NAME')
  }
  return withHome(call, async (session) => {
    await requireHuman(session, call, 'letting a witness go')
    await unpinWitness(session.ledger, actorOf(session), name, Date.now())
    return reply(call, { name }, (paint) => `${paint.good('unpinned')}  ${name}\n`)
  })
}

/** `writ witness list`: the witnesses that are pinned in this home. */
export async function list(call: CommandCall): Promise<Exit> {
  return withHistory(call, async ({ ledger, caller }) => {
    requireWholeHost(caller, 'listing witnesses')
    const pinned = await pinnedWitnesses(ledger)
    const witnesses = pinned.map(({ name, url, keyText: key, pinnedAt: pinned_at }) => ({
      name,
      url,
      key,
      pinned_at,
    }))
    return reply(call, { witnesses }, () => {
      if (witnesses.length === 0) return 'none is pinned: writ witness pin URL KEY\n'
      const rows = witnesses.map(({ name, url, pinned_at }) => [name, url, pinned_at])
      return table(call.terminal, ['witness', 'address', 'pinned'], rows)
    })
  })
}
