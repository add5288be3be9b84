/**
 * `writ machine …`: the machines of a home whose facts and bodies lie on a server. Each machine
 * signs with a key of its own, which a human of the home lets in or removes; both are facts.
 */
import { join } from 'node:path'
import { faultError, showName } from '../../base/index.ts'
import { joinHome, openHome, shareCredentials } from '../../home/index.ts'
import {
  fingerprint,
  formatVerifierKey,
  HOST_STREAM,
  parseVerifierKey,
  principalText,
  type VerifierKey,
} from '../../ledger/index.ts'
import {
  createKey,
  ledgerNameOf,
  type Machine,
  MachineKeys,
  makeCurrent,
  openKeys,
  publicKeyOf,
} from '../../store/index.ts'
import { type CommandCall, type Exit, reply, usageError } from '../call/command.ts'
import {
  actorOf,
  type ReadSession,
  refuseBelowAgent,
  refuseTokens,
  requireHuman,
  requireWholeHost,
  withHistory,
  withHome,
} from '../call/home.ts'
import { surroundings } from '../call/terminal.ts'
import { table } from '../history/text.ts'

/** `writ machine join URL`: registers a home of a server here, and makes a key for this machine. */
export async function joinIn(call: CommandCall): Promise<Exit> {
  const around = surroundings()
  refuseTokens(around, 'joining a home')
  refuseBelowAgent('joining a home')
  if (call.options.isOn('again')) return again(call)
  const [url, ...others] = call.arguments
  if (url === undefined || others.length > 0) {
    throw usageError('name the server', 'writ machine join postgresql://writ@db.example/writ')
  }
  const order = { url, id: call.options.text('id') }
  const { home, key, name } = await joinHome(around, call.options.text('home'), order)
  const text = formatVerifierKey(publicKeyOf(key, name))
  return tellKey(call, home.directory, text)
}

/** A removed key signs never again: the machine makes another one. */
async function again(call: CommandCall): Promise<Exit> {
  const home = openHome(surroundings(), call.options.text('home'))
  return withHistory(call, async (session) => {
    const directory = join(home.state, 'keys')
    const name = await nameOf(session)
    const key = createKey(directory, name)
    makeCurrent(directory, key)
    return tellKey(call, home.directory, formatVerifierKey(publicKeyOf(key, name)))
  })
}

function tellKey(call: CommandCall, home: string, key: string): Promise<Exit> {
  return reply(call, { home, key }, (paint) =>
    [
      `${paint.good('joined')}  ${home}: this machine reads the home`,
      'to let it record, type on a machine of the home, with a name for this one:',
      `  writ machine admit NAME ${key}`,
      '',
    ].join('\n'),
  )
}

async function nameOf({ ledger }: ReadSession): Promise<string> {
  const host = await ledger.store.head(HOST_STREAM)
  return host === null ? '' : ledgerNameOf(host)
}

/** `writ machine key`: the public key of this machine, for `writ machine admit` elsewhere. */
export async function key(call: CommandCall): Promise<Exit> {
  return withHistory(call, async (session) => {
    requireWholeHost(session.caller, 'showing the key of this machine')
    const own = openKeys(join(session.home.state, 'keys')).current()
    const text = formatVerifierKey(publicKeyOf(own, await nameOf(session)))
    return reply(call, { key: text }, () => `${text}\n`)
  })
}

/** `writ machine admit NAME KEY`: lets a machine sign from now on. */
export async function admit(call: CommandCall): Promise<Exit> {
  const [name, text, ...others] = call.arguments
  if (name === undefined || text === undefined || others.length > 0) {
    throw usageError('name the machine and its key', 'writ machine admit NAME KEY')
  }
  return withHome(call, async (session) => {
    await requireHuman(session, call, 'letting a machine in')
    const key = machineKey(text, await nameOf(session))
    const machines = await machinesOf(session)
    if (machines.some((one) => one.removedAt === null && one.name === name)) {
      throw faultError('machine.name', '', `a machine ${showName(name)} signs already`)
    }
    if (machines.some((one) => one.fingerprint === fingerprint(key.publicKey))) {
      const message = 'this key was let in before, or removed; a removed key never signs again'
      throw faultError('machine.key', '', message, 'there: `writ machine join --again`')
    }
    await shareCredentials(session.home.state, session.ledger.files)
    await session.ledger.changeMachine(actorOf(session), 'joined', checkedName(name), key)
    return reply(
      call,
      { machine: name, key: text },
      (paint) => `${paint.good('admitted')}  ${name}\n`,
    )
  })
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

function checkedName(name: string): string {
  if (NAME.test(name)) return name
  const message = `${showName(name)} is no name of a machine: 1 to 64 letters, digits, dots, dashes`
  throw faultError('machine.name', '', message)
}

function machineKey(text: string, name: string): VerifierKey {
  const key = parseVerifierKey(text)
  if (key?.name === name) return key
  const message = `${showName(text)} is not a key of a machine of this home`
  throw faultError('machine.key', '', message, 'there: `writ machine key` prints it')
}

/** `writ machine remove NAME`: that machine signs no longer; what it signed stays. */
export async function remove(call: CommandCall): Promise<Exit> {
  const [name, ...others] = call.arguments
  if (name === undefined || others.length > 0) {
    throw usageError('name one machine', 'writ machine remove NAME')
  }
  return withHome(call, async (session) => {
    await requireHuman(session, call, 'removing a machine')
    const machines = await machinesOf(session)
    const found = machines.find((one) => one.removedAt === null && one.name === name)
    if (found === undefined) {
      const message = `no machine ${showName(name)} signs`
      throw faultError('machine.name', '', message, '`writ machine list` names those that do')
    }
    const own = fingerprint(openKeys(join(session.home.state, 'keys')).current().publicKey)
    if (own === found.fingerprint) {
      const message = 'a machine does not remove itself: nothing could sign that'
      throw faultError('machine.name', '', message, 'remove it from another machine of the home')
    }
    await session.ledger.changeMachine(actorOf(session), 'removed', name, found.key)
    return reply(call, { machine: name }, (paint) => `${paint.good('removed')}  ${name}\n`)
  })
}

/** `writ machine list`: the machines that sign for this home, and those that did. */
export async function list(call: CommandCall): Promise<Exit> {
  return withHistory(call, async (session) => {
    requireWholeHost(session.caller, 'listing machines')
    const own = fingerprint(openKeys(join(session.home.state, 'keys')).current().publicKey)
    const machines = (await machinesOf(session)).map((one) => ({
      name: one.name,
      key: formatVerifierKey(one.key),
      is_this: one.fingerprint === own,
      joined_at: one.joinedAt,
      by: principalText(one.by),
      removed_at: one.removedAt,
    }))
    return reply(call, { machines }, () => {
      const rows = machines.map((one) => [
        one.is_this ? `${one.name} (this one)` : one.name,
        one.joined_at,
        one.by,
        one.removed_at ?? '',
      ])
      return table(call.terminal, ['machine', 'joined', 'let in by', 'removed'], rows)
    })
  })
}

async function machinesOf({ ledger }: ReadSession): Promise<readonly Machine[]> {
  const keys = await ledger.keys()
  if (keys instanceof MachineKeys) return keys.machines
  const message = 'the facts of this home lie in a file of this machine, which no other reaches'
  const hint = 'a home on a server: `writ init --store postgresql://user@host/database`'
  throw faultError('machine.alone', '', message, hint)
}
