/** A network under the gate for an ordinary user, without groups and capabilities. */
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Json, Place } from '../cli-gate/place.ts'
import { TEST_UID, userWrapper } from '../sandbox/drive.ts'
import { plainServer, type TestServer } from './servers.ts'

let place: Place
let server: TestServer
let through: readonly string[]

beforeAll(async () => {
  server = await plainServer()
  place = new Place('network-user')
  place.copyProgram()
  through = userWrapper('user').slice(0, -2)
  chmodSync(place.folder, 0o755)
  execFileSync('chown', ['-R', `${TEST_UID}:${TEST_UID}`, place.folder])
  expect(place.writ(['init', '--no-pass', '--name', 'ann'], { through }).status).toBe(0)
  const laws = join(place.project, '.writ', 'laws.yaml')
  const settings = `settings:\n  read_only_hosts: ['127.0.0.1:${server.port}']\n`
  writeFileSync(laws, readFileSync(laws, 'utf8').replace(/^settings:\n/m, settings))
  expect(place.writ(['laws', 'accept', '--yes'], { through }).status).toBe(0)
}, 180_000)

afterAll(async () => {
  place?.remove()
  await server?.close()
})

/** In the background: the server answers in this very process. */
function exec(...words: string[]): Promise<Json> {
  const [program, ...rest] = place.argv(['exec', ...words], { through })
  const child = spawn(program, rest, { cwd: place.project, env: place.env(), timeout: 60_000 })
  let [out, err] = ['', '']
  child.stdout.on('data', (part) => {
    out += part
  })
  child.stderr.on('data', (part) => {
    err += part
  })
  child.stdin.end()
  return new Promise((resolve) =>
    child.once('close', (status) =>
      resolve({ status, out, lastLine: err.trimEnd().split('\n').at(-1) }),
    ),
  )
}

it('reads from a read-only host, and nothing else goes out', async () => {
  const host = `127.0.0.1:${server.port}`
  const read = await exec(
    '--net',
    host,
    '--write',
    'got',
    '--',
    'sh',
    '-c',
    `curl -sS http://${host}/ | tee got`,
  )
  expect(read).toMatchObject({ status: 0, out: 'hello\n' })
  expect(place.text('got')).toBe('hello\n')
  const sent = await exec('--net', host, '--', 'curl', '-sS', '-d', 'x', `http://${host}/`)
  expect(sent).toMatchObject({ status: 125, lastLine: 'writ: effect.irreversible' })
  const bare = await exec('--', 'curl', '-sS', '-m', '2', `http://${host}/`)
  expect(bare).toMatchObject({ status: 7 })
  expect(server.heard.map(({ method }) => method)).toEqual(['GET'])
}, 120_000)
