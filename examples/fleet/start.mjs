/**
 * A fleet on this machine: one PostgreSQL server, two "machines" of one home with a service each, and
 * three workers. Run it with `node examples/fleet/start.mjs` in a checkout; Ctrl-C ends all of it and
 * removes what it made. With `--once` it walks three runs, verifies the ledger, and ends.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const { startPostgres } = await import('../../tools/postgres.mjs').catch(() => {
  process.stderr.write(
    'this example runs in a checkout of the source: it starts a server with tools/\n',
  )
  process.exit(1)
})
const PROGRAM = fileURLToPath(new URL('../../bin/writ.cjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'writ-fleet-'))
const children = []

/** A machine: a user's home, a state directory and a project of its own. */
function machine(name) {
  const project = join(folder, name, 'shop')
  mkdirSync(project, { recursive: true })
  const env = {
    PATH: process.env.PATH,
    HOME: join(folder, name),
    XDG_STATE_HOME: join(folder, name, 'state'),
    USER: name,
  }
  const writ = (...words) => {
    const ended = spawnSync(process.execPath, [PROGRAM, ...words, '--json'], {
      cwd: project,
      env,
      encoding: 'utf8',
    })
    if (ended.status !== 0)
      throw new Error(`writ ${words.join(' ')}: ${ended.stdout}${ended.stderr}`)
    return JSON.parse(ended.stdout)
  }
  const start = (...words) => {
    const child = spawn(process.execPath, [PROGRAM, ...words], { cwd: project, env })
    child.stdout.on('data', (text) => process.stdout.write(`${name}  ${words[0]}  ${text}`))
    child.stderr.on('data', (text) => words[0] === 'worker' && process.stderr.write(text))
    children.push(child)
  }
  return { project, writ, start }
}

function statusOf(machine, run) {
  return machine.writ('flow', 'list').runs.find(({ run_id }) => run_id === run)?.status
}

/** Ctrl-C and SIGTERM end all of it, whenever they come. */
let end
const ended = new Promise((resolve) => {
  end = resolve
})
let isEnding = false
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    isEnding = true
    end()
  })

/** A participant that takes a tenth of a second. */
const participant = createServer(async (request, response) => {
  for await (const _ of request);
  await pause(100)
  const artifact = { name: 'out', format: 'md', content: 'done' }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ result_type: 'ARTIFACT', artifact }))
})

const server = await startPostgres()
try {
  await new Promise((resolve) => participant.listen(0, '127.0.0.1', resolve))
  const { host, user } = server.connection
  const url = `postgresql://${user}@/postgres?host=${host}`
  const one = machine('machine-1')
  one.writ('init', '--no-pass', '--store', url)
  one.writ('worker', 'prepare')
  const two = machine('machine-2')
  one.writ('machine', 'admit', 'machine-2', two.writ('machine', 'join', url).key)
  for (const each of [one, two]) each.start('serve', '--listen', '127.0.0.1:0')
  for (const each of [one, one, two]) each.start('worker', '--labels', 'linux')
  const executor = { http: `http://127.0.0.1:${participant.address().port}`, tools: 'none' }
  const node = { node_id: 'a', kind: 'WORK', title: '', phase_id: 'P', actor: 'w', executor }
  const nodes = [{ ...node, max_attempts: 3 }]
  const flow = { type: 'flow_v1', flow_id: 'shop', title: '', nodes, edges: [] }
  const runs = [one, two, one].map((each) => {
    writeFileSync(join(each.project, 'flow.json'), JSON.stringify(flow))
    return each.writ('flow', 'run', 'flow.json', '--queue').run_id
  })
  for (const run of runs) {
    while (!isEnding && statusOf(one, run) !== 'DONE') await pause(500)
    if (!isEnding) process.stdout.write(`done  ${run}\n`)
  }
  if (!isEnding) {
    const { ok } = two.writ('ledger', 'verify')
    process.stdout.write(`ledger verify  ${ok ? 'holds' : 'does not hold'}\n`)
  }
  if (!isEnding && !process.argv.includes('--once')) {
    process.stdout.write('Ctrl-C ends the fleet\n')
    await ended
  }
} catch (error) {
  // What was under way when Ctrl-C came has ended with it.
  if (!isEnding) {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  }
} finally {
  for (const child of children) child.kill('SIGTERM')
  await Promise.all(
    children.map(
      (child) =>
        child.exitCode ?? child.signalCode ?? new Promise((resolve) => child.once('exit', resolve)),
    ),
  )
  participant.closeAllConnections()
  participant.close()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
