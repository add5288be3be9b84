/** `writ device run` and `writ device key`: the reference executor of a device (D-2). It needs no home. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { faultError, showName } from '../../base/index.ts'
import { DEFAULT_PREFIX } from '../../broker/index.ts'
import type { DeviceName } from '../../contracts/index.ts'
import {
  type CarryOut,
  calls,
  command,
  DeviceJournal,
  type DeviceLink,
  type DeviceNews,
  Executor,
  HttpLink,
  MqttLink,
  openDeviceKey,
  simulation,
} from '../../device/index.ts'
import { deviceText, encodeBase64, parseDevice, parseVerifierKey } from '../../ledger/index.ts'
import { isExecutable } from '../../machine/index.ts'
import { type CommandCall, EXIT, type Exit, reply, usageError } from '../call/command.ts'
import { signalled } from '../call/listening.ts'
import { surroundings } from '../call/terminal.ts'
import { numberOption } from '../history/option-values.ts'
import { plain } from '../history/text.ts'
import { wholeUrl } from '../remote/remotes.ts'

const DIRECTORY = 'writ-device'
const SECONDS_MAX = 86_400

/** `writ device key`: prints the public key, for `writ device enroll` where the home is. */
export async function key(call: CommandCall): Promise<Exit> {
  const { publicKey } = openDeviceKey(folderOf(call))
  return reply(call, { key: publicKey }, () => `${publicKey}\n`)
}

export async function run(call: CommandCall): Promise<Exit> {
  const [text = '', ...words] = call.arguments
  const device = text.includes('@') ? parseDevice(text, '') : null
  if (device === null) {
    throw usageError(
      `${showName(text)} does not name a device`,
      'writ device run pump-3@north-farm …',
    )
  }
  const carryOut = carryOutOf(call, words)
  const homeKeys = homeKeysOf(call)
  const tell = tellTo(call)
  const trouble = troubleTo(call, tell)
  const link = linkOf(call, device, homeKeys, trouble)
  const journal = DeviceJournal.open(folderOf(call), Date.now())
  const terms = { device, link, journal, carryOut, homeKeys, tell, nowMs: Date.now }
  const executor = new Executor(terms)
  await executor.start()
  await signalled()
  await executor.stop()
  return EXIT.yes
}

function folderOf({ options }: CommandCall): string {
  return resolve(options.text('dir') ?? DIRECTORY)
}

/** Keys as `writ ledger key` prints them, one or several. */
function homeKeysOf({ options }: CommandCall): readonly string[] {
  const texts = options
    .texts('home-key')
    .flatMap((one) => one.split(/\s+/))
    .filter((one) => one !== '')
  if (texts.length === 0) {
    const hint = 'where the home is, `writ ledger key` prints it: --home-key "$KEY"'
    throw usageError('a device believes only a home whose key it knows', hint)
  }
  return texts.map((text) => {
    const key = parseVerifierKey(text)
    if (key !== null) return encodeBase64(key.publicKey)
    throw faultError(
      'dispatch.key',
      text,
      `${showName(text)} is not the key of a home`,
      '`writ ledger key`',
    )
  })
}

function carryOutOf(call: CommandCall, words: readonly string[]): CarryOut {
  const { options } = call
  const file = options.text('calls')
  const ways = [options.isOn('simulate'), file !== null, words.length > 0].filter(Boolean)
  if (ways.length !== 1) {
    throw usageError(
      'say how tasks are carried out',
      'one of `--simulate`, `--calls FILE`, `-- COMMAND…`',
    )
  }
  if (file !== null) return calls(file, surroundings().env)
  if (words.length > 0) {
    refuseMissing(words[0] ?? '')
    return command(words)
  }
  return simulation(numberOption(call, 'seconds', SECONDS_MAX) ?? 1)
}

/** A device that cannot carry anything out takes no task. */
function refuseMissing(program: string): void {
  const folders = program.includes('/') ? [''] : (surroundings().env['PATH'] ?? '').split(':')
  if (folders.some((folder) => isExecutable(resolve(folder, program)))) return
  const message = `there is no program ${showName(program)}${program.includes('/') ? '' : ' on your PATH'}`
  throw usageError(message, 'writ device run NAME@NAMESPACE … -- ./pump')
}

function linkOf(
  call: CommandCall,
  device: DeviceName,
  homeKeys: readonly string[],
  trouble: (reason: string) => void,
): DeviceLink {
  const { options } = call
  const [url, broker] = [options.text('url'), options.text('broker')]
  if ((url === null) === (broker === null))
    throw usageError(
      'name the service or the broker',
      '`--url URL` or `--broker mqtts://HOST:PORT`',
    )
  if (url !== null) {
    const token = surroundings().env['WRIT_TOKEN'] ?? ''
    if (token !== '') return new HttpLink({ url: wholeUrl(url), token, device, homeKeys, trouble })
    const hint = `a human makes one: \`writ token create device:${device.id}@${device.namespace}\``
    throw faultError('api.no_token', '', 'the token of the device is not in `WRIT_TOKEN`', hint)
  }
  return new MqttLink({
    url: broker ?? '',
    user: options.text('user') ?? `${device.namespace}/${device.id}`,
    password: passwordOf(options.text('password-file')),
    ca: options.text('ca'),
    prefix: options.text('prefix') ?? DEFAULT_PREFIX,
    key: openDeviceKey(folderOf(call), (key, file) => {
      const name = deviceText(device)
      call.terminal.err(
        `made a new key for ${name} in ${plain(file)}; its messages count once a human types, at the home:\n  writ device enroll ${name} ${key}\nif ${name} has a key elsewhere, name its folder with --dir\n`,
      )
    }),
    device,
    homeKeys,
    trouble,
  })
}

function passwordOf(file: string | null): string {
  if (file === null) throw usageError('name the file with the password', '--password-file FILE')
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    throw usageError(`${showName(file)} cannot be read`, '--password-file FILE')
  }
}

const [PAUSE_MS, PAUSE_MS_MAX] = [1_000, 60_000]

/** Names the address, and repeats the same trouble after pauses that grow. */
function troubleTo(
  { options }: CommandCall,
  tell: (news: DeviceNews) => void,
): (reason: string) => void {
  const address = options.text('url') ?? options.text('broker') ?? ''
  let [last, nextMs, pauseMs] = ['', 0, PAUSE_MS]
  return (reason) => {
    const nowMs = Date.now()
    if (reason !== last) [last, nextMs, pauseMs] = [reason, 0, PAUSE_MS]
    if (nowMs < nextMs) return
    nextMs = nowMs + pauseMs
    pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)
    const hint = HINTS.find(([pattern]) => pattern.test(reason))?.[1]
    const message = `${address}: ${reason}${hint === undefined ? '' : `; ${hint}`}`
    tell({ event: 'trouble', message })
  }
}

const HINTS: readonly (readonly [RegExp, string])[] = [
  [/self-signed|certificate/i, 'name the certificate of its authority with --ca'],
  [
    /not authorized|bad user/i,
    'look at --user and --password-file, and at the rules of the broker',
  ],
  [/ECONNREFUSED|ENOTFOUND|EAI_AGAIN/, 'is it running, and is the address right?'],
]

function tellTo({ terminal, options }: CommandCall): (news: DeviceNews) => void {
  const isJson = options.isOn('jsonl') || options.isOn('json')
  let line: Promise<void> = Promise.resolve()
  return (news) => {
    const { event, command_id = '', code, message = '' } = news
    const why = code === undefined ? message : `${message} (${code})`
    const text = plain(
      [new Date().toISOString(), event, command_id, why].filter(Boolean).join('  '),
    )
    line = line.then(() => terminal.out(`${isJson ? JSON.stringify(news) : text}\n`))
  }
}
