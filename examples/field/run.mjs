/**
 * One irrigation task from its issue to its proof: a broker with TLS, two simulated pumps, a dispatcher.
 * Everything lies in a new folder below the temporary directory, and is ended at the end.
 *
 *     node examples/field/run.mjs
 *
 * `WRIT` names the program, if it is not the one of this checkout.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startBroker } from './broker.mjs'

const PROGRAM = process.env.WRIT ?? fileURLToPath(new URL('../../bin/writ.cjs', import.meta.url))
const DOCUMENT = fileURLToPath(new URL('../documents/task.json', import.meta.url))
const WORD = 'a-password-for-this-trial'
const WINDOW_MS = 5 * 60_000
const WAIT_MS = 60_000

const folder = mkdtempSync(join(tmpdir(), 'writ-field-example-'))
const { WRIT_TOKEN: _token, WRIT_HOME: _home, WRIT_URL: _url, ...plain } = process.env
const env = { ...plain, XDG_STATE_HOME: join(folder, 'state') }
const children = []

function writ(words, input = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...words], {
    cwd: join(folder, 'farm'),
    env,
    input,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`writ ${words.join(' ')}\n${stdout}${stderr}`)
  return stdout
}

function start(words) {
  const child = spawn(process.execPath, [PROGRAM, ...words], { cwd: join(folder, 'farm'), env })
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) =>
      process.stdout.write(`${String(text).replaceAll(/^/gm, '    ').trimEnd()}\n`),
    )
  }
  children.push(child)
}

function say(text) {
  process.stdout.write(`\n${text}\n`)
}

/** Ctrl-C and SIGTERM end all of it, whenever they come. */
let isEnding = false
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    isEnding = true
  })

let broker = null
try {
  mkdirSync(join(folder, 'farm'))
  const users = { writ: WORD, 'north-farm/pump-1': WORD, 'north-farm/pump-2': WORD }
  broker = await startBroker(join(folder, 'broker'), users)
  writeFileSync(join(folder, 'word'), WORD)

  say('A home of one person, and a broker that its settings name.')
  writ(['init', '--no-pass', '--name', 'ann', '--namespace', 'north-farm'])
  const { url, ca } = broker
  const way = { name: 'field', kind: 'mqtt', url, user: 'writ', secret: 'FIELD_WORD', ca }
  const settings = { dispatch: [{ ...way, devices: ['*@north-farm'] }] }
  writeFileSync(join(folder, 'farm', '.writ', 'laws.yaml'), JSON.stringify({ laws: [], settings }))
  writ(['laws', 'accept', '--yes'])
  writ(['secret', 'set', 'FIELD_WORD'], WORD)
  process.stdout.write(writ(['dispatch', 'check']))

  say('Two pumps with keys of their own, which the person enrolls.')
  const { public_key: homeKey } = JSON.parse(writ(['ledger', 'key', '--json']))
  for (const id of ['pump-1', 'pump-2']) {
    const dir = join(folder, id)
    writ(['principal', 'add', `device:${id}@north-farm`])
    const key = writ(['device', 'key', '--dir', dir]).trim()
    process.stdout.write(writ(['device', 'enroll', `${id}@north-farm`, key]))
    const own = ['device', 'run', `${id}@north-farm`, '--home-key', homeKey, '--dir', dir]
    const reach = ['--broker', url, '--ca', ca, '--password-file', join(folder, 'word')]
    start([...own, ...reach, '--simulate', '--seconds', '2'])
  }

  say('The person issues a task for pump-1; the dispatcher brings it there.')
  const now = Date.now()
  const task = {
    ...JSON.parse(readFileSync(DOCUMENT, 'utf8')),
    time_window: { start_ts: now, end_ts: now + WINDOW_MS },
    meta: { device_id: 'pump-1' },
  }
  const { act_task_id: id } = JSON.parse(
    writ(['task', 'issue', '-', '--json'], JSON.stringify(task)),
  )
  start(['dispatch', 'run'])
  const find = () => JSON.parse(writ(['task', 'show', id, '--json']))
  let shown = find()
  for (const until = Date.now() + WAIT_MS; shown.dispatch.state !== 'answered'; shown = find()) {
    if (Date.now() > until) throw new Error(`the task is still ${shown.dispatch.state}`)
    if (isEnding) throw new Error('ended before the receipt came')
    await pause(500)
  }
  // The signature of the pump is kept right after its receipt.
  await pause(1_000)

  say('The receipt is on the record, with the signature of the pump.')
  process.stdout.write(writ(['task', 'list']))
  process.stdout.write(writ(['log', '--facts', '--task', id]))
  process.stdout.write(writ(['replay']))
  process.stdout.write(writ(['ledger', 'verify']))
  const seq = find().facts.find(({ record }) => record.type === 'ao_act_receipt_v0').seq
  writ(['ledger', 'prove', String(seq), '--out', 'receipt.tlog-proof'])
  const proof = readFileSync(join(folder, 'farm', 'receipt.tlog-proof'), 'utf8')
  say(`Anyone can check this proof of the receipt without writ:\n${proof}`)
} catch (error) {
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
} finally {
  for (const child of children) child.kill('SIGTERM')
  await Promise.all(
    children.map(
      (child) =>
        new Promise((resolve) =>
          child.exitCode === null && child.signalCode === null
            ? child.once('exit', resolve)
            : resolve(),
        ),
    ),
  )
  await broker?.stop()
  if (existsSync(folder)) rmSync(folder, { recursive: true, force: true })
}
