/** `writ remote …`: the services that this user speaks to with `WRIT_URL`, each with its key. */
import { faultCode, faultError, showName } from '../../base/index.ts'
import { type CommandCall, EXIT, type Exit, reply, usageError } from '../call/command.ts'
import { refuseBelowAgent } from '../call/home.ts'
import { canAsk } from '../call/passphrase.ts'
import { surroundings } from '../call/terminal.ts'
import { askLine } from '../gate/answer-line.ts'
import { plain, table } from '../history/text.ts'
import {
  checkKeys,
  clientOf,
  fingerprintOf,
  keysOf,
  onePerKey,
  readRemotes,
  wholeUrl,
  writeRemotes,
} from '../remote/remotes.ts'

const WHAT = 'registering a service'

/** A person compares the fingerprint, or hands over the key that they took from the home itself. */
export async function add(call: CommandCall): Promise<Exit> {
  const [name, address, ...others] = call.arguments
  if (name === undefined || address === undefined || others.length > 0)
    throw usageError('say a name and an address', 'writ remote add farm https://farm.example:4180')
  refuseBelowAgent(WHAT)
  const around = surroundings()
  const known = readRemotes(around)
  const url = wholeUrl(address)
  const same = known.find((one) => one.name === name || one.url === url)
  if (same !== undefined) {
    const message = `${showName(same.name)} is registered already, at ${showName(same.url)}`
    throw faultError('remote.exists', same.name, message, `writ remote remove ${same.name}`)
  }
  const client = clientOf(around, url)
  const given = onePerKey((call.options.text('key') ?? '').split(/\s+/).filter(Boolean))
  const shown = await keysOf(client, url)
  const trusted = given.length > 0 ? given : await compared(call, shown)
  const [key = ''] = trusted
  const remote = { name, url, key }
  const keys = await provenBy(given, shown, () => checkKeys(client, remote, trusted))
  writeRemotes(around, [...known, { ...remote, keys }])
  return reply(call, { ...remote, fingerprint: fingerprintOf(key) }, () =>
    plain(`registered ${name}: WRIT_URL=${url}`).concat('\n'),
  )
}

/** Says which keys the service has where those that were given prove none of them. */
async function provenBy(
  given: readonly string[],
  shown: readonly string[],
  check: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  try {
    return await check()
  } catch (error) {
    if (faultCode(error) !== 'remote.key_changed' || given.length === 0) throw error
    const ids = given.map(fingerprintOf)
    const isListed = shown.some((one) => ids.includes(fingerprintOf(one)))
    const message = isListed
      ? `${keysText(shown)}, and it shows nothing that the one of \`--key\` has signed, which would prove the others`
      : `${keysText(shown)}, and \`--key\` says another one`
    const hint = isListed
      ? 'hand over all keys of the home: --key "$KEYS", with what `writ ledger key` prints there'
      : 'compare with `writ ledger key` there'
    throw faultError('remote.key_changed', '', message, hint)
  }
}

/** As `writ ledger key` prints them there, so that they can be compared. */
function keysText(keys: readonly string[]): string {
  return `the service has the key${keys.length === 1 ? '' : 's'} ${keys.map(plain).join(', ')}`
}

async function compared(
  { terminal }: CommandCall,
  shown: readonly string[],
): Promise<readonly string[]> {
  terminal.err(`${keysText(shown)}\n`)
  if (!canAsk()) {
    const hint = 'take it from the home itself: writ remote add NAME URL --key "$(writ ledger key)"'
    throw faultError('credential.required', '', 'a person compares the key of a service', hint)
  }
  const line = await askLine('Is that what `writ ledger key` shows there? [y/N] ')
  if (typeof line === 'object' && /^y(?:es)?$/i.test(line.text.trim())) return shown
  throw faultError('remote.unknown', '', 'nothing was registered')
}

export async function list(call: CommandCall): Promise<Exit> {
  const remotes = readRemotes(surroundings()).map((one) => ({
    ...one,
    fingerprint: fingerprintOf(one.key),
  }))
  return reply(call, { remotes }, () => {
    if (remotes.length === 0) return 'no service is registered: writ remote add NAME URL\n'
    const rows = remotes.map(({ name, url, fingerprint }) => [plain(name), plain(url), fingerprint])
    return table(call.terminal, ['name', 'address', 'key'], rows)
  })
}

export async function remove(call: CommandCall): Promise<Exit> {
  const [name, ...others] = call.arguments
  if (name === undefined || others.length > 0)
    throw usageError('name one service', 'writ remote list')
  const around = surroundings()
  const known = readRemotes(around)
  if (!known.some((one) => one.name === name)) {
    const message = `no service is registered as ${showName(name)}`
    throw faultError('remote.unknown', name, message, 'writ remote list')
  }
  writeRemotes(
    around,
    known.filter((one) => one.name !== name),
  )
  await call.terminal.out(call.options.isOn('json') ? '{"ok":true}\n' : `removed ${plain(name)}\n`)
  return EXIT.yes
}
