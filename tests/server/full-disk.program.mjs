/**
 * A service whose state lies on a small disk of its own: answers, has no room, is asked everything, gets
 * room, and answers again without a restart. Prints what it answered as one JSON text.
 */
import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const [folder, program] = process.argv.slice(2)
const project = join(folder, 'project')
const state = join(folder, 'state')
const ballast = join(state, 'ballast')
const answers = {}
const options = {
  cwd: project,
  env: { PATH: process.env.PATH, HOME: folder, XDG_STATE_HOME: state, LANG: 'C.UTF-8' },
}
mkdirSync(project)

function writ(...words) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    ...options,
    encoding: 'utf8',
    input: '',
  })
  return { status, out: stdout, err: stderr }
}

/** In ever smaller pieces, so that nothing is left. */
function fill() {
  for (let bytes = 1 << 20; bytes > 0; bytes >>= 1) {
    try {
      for (;;) appendFileSync(ballast, Buffer.alloc(bytes))
    } catch (error) {
      if (error.code !== 'ENOSPC') throw error
    }
  }
}

writ('init', '--no-pass')
writ('principal', 'add', 'ai:bot@local')
const { token } = JSON.parse(writ('token', 'create', 'ai:bot@local', '--json').out)
const example = JSON.parse(writ('propose', '--example', 'FILE_WRITE').out)
const words = [program, 'serve', '--json', '--listen', '127.0.0.1:0']
const service = spawn(process.execPath, words, { ...options, stdio: ['ignore', 'pipe', 'inherit'] })
const line = await new Promise((resolve) => service.stdout.once('data', resolve))
const { url } = JSON.parse(String(line))

async function ask(name, path, body) {
  const headers = { authorization: `Bearer ${token}`, prefer: 'wait=60' }
  const more =
    body === undefined
      ? { headers }
      : {
          method: 'POST',
          body: JSON.stringify(body),
          headers: { ...headers, 'content-type': 'application/json' },
        }
  const answer = await fetch(`${url}${path}`, more)
  answers[name] = { status: answer.status, json: await answer.json().catch(() => null) }
}

function propose(name) {
  const path = join(project, `${name}.txt`)
  const { descriptor, operation } = example
  const effects = {
    ...descriptor.effects,
    filesystem: { create: [path], modify: [path], delete: [] },
  }
  return ask(name, '/v1/actions', {
    descriptor: { ...descriptor, action_id: randomUUID(), effects },
    operation: { ...operation, path, content: name },
  })
}

await propose('before')
fill()
await propose('full')
answers.fullFile = existsSync(join(project, 'full.txt'))
await ask('fullList', '/v1/actions')
await ask('fullReady', '/readyz')
await ask('fullAlive', '/healthz')
rmSync(ballast)
await ask('freedReady', '/readyz')
await propose('after')
answers.afterFile = existsSync(join(project, 'after.txt'))
await ask('afterList', '/v1/actions')
const ended = new Promise((resolve) => service.once('exit', resolve))
service.kill('SIGTERM')
answers.exit = await ended
answers.verify = JSON.parse(writ('ledger', 'verify', '--json').out)
process.stdout.write(JSON.stringify(answers))
