/**
 * The gateway of a session next to a direct connection, and to one through a program that copies bytes and
 * does nothing else, with a stand-in for a model on the loopback: how
 * long the first byte of a streamed answer takes, if the model thinks for a quarter of a second, and how
 * fast a long answer comes.
 */
import { execFile, fork } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { row } from './measure.mjs'
import { rate, WRIT, withPlace } from './sessions-place.mjs'

const THINKS_MS = 250
const LONG_MB = 64
const ROUNDS = 2
/** Does what an agent does with its model, and prints the best times of its turns in seconds. */
const CLIENT = `#!/usr/bin/env node
const http = require('node:http')
const url = process.env.ANTHROPIC_BASE_URL + '/v1/messages'
const key = process.env.ANTHROPIC_API_KEY || 'key'
function ask(model) {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify({ model, stream: true, max_tokens: 10, messages: [{ role: 'user', content: 'x' }] })
    const headers = { 'content-type': 'application/json', 'x-api-key': key, 'anthropic-version': '2023-06-01' }
    const started = performance.now()
    const request = http.request(url, { method: 'POST', headers }, (answer) => {
      let first = null
      let bytes = 0
      answer.on('data', (piece) => { first ??= performance.now(); bytes += piece.length })
      answer.on('end', () => answer.statusCode === 200
        ? resolve({ first: (first - started) / 1000, whole: (performance.now() - started) / 1000, bytes })
        : reject(new Error('status ' + answer.statusCode)))
    })
    request.on('error', reject)
    request.end(body)
  })
}
(async () => {
  relay.kill()
  const first = [], speed = []
  for (let turn = 0; turn < 10; turn++) first.push((await ask('short')).first)
  for (let turn = 0; turn < 4; turn++) { const { bytes, whole } = await ask('long'); speed.push(bytes / whole) }
  console.log('measured ' + JSON.stringify({ first: Math.min(...first), speed: Math.max(...speed) }))
})()
`

/** What any program between two others costs at least. */
const RELAY = `
const net = require('node:net')
net.createServer({ noDelay: true }, (inside) => {
  const up = net.connect(Number(process.argv[2]), '127.0.0.1')
  inside.pipe(up).pipe(inside)
  for (const one of [inside, up]) one.on('error', () => [inside, up].forEach((each) => each.destroy()))
}).listen(0, '127.0.0.1', function () { process.send(this.address().port) })
`

export async function gatewayRows() {
  const model = createServer((request, answer) => {
    let text = ''
    request.on('data', (piece) => {
      text += piece
    })
    request.on('end', () => respond(JSON.parse(text).model, answer))
  })
  await new Promise((resolve) => {
    model.listen(0, '127.0.0.1', resolve)
  })
  const url = `http://127.0.0.1:${model.address().port}`
  try {
    return await withPlace([['claude', CLIENT]], (place) => compared(place, url))
  } finally {
    model.close()
  }
}

function respond(kind, answer) {
  answer.writeHead(200, { 'content-type': 'text/event-stream' })
  const event = (size) =>
    `event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"${'x'.repeat(size)}"}}\n\n`
  if (kind === 'short') {
    setTimeout(() => answer.end(event(20)), THINKS_MS)
    return
  }
  const piece = Buffer.from(event(64 * 1024))
  let left = (LONG_MB * 1024 * 1024) / piece.length
  const more = () => {
    while (left-- > 0) if (!answer.write(piece)) return void answer.once('drain', more)
    answer.end()
  }
  more()
}

async function compared(place, url) {
  const { project } = place
  chmodSync(join(project, 'claude'), 0o755)
  const env = { ...place.env, ANTHROPIC_API_KEY: 'key-of-ann' }
  const program = './claude'
  const call = async (argv, variables) => {
    const [file, ...words] = argv
    const { stdout } = await promisify(execFile)(file, words, { cwd: project, env: variables })
    return JSON.parse(/measured (.*)/.exec(stdout)[1])
  }
  const words = [WRIT, 'run', '--settle', 'never', '--model-url', url, '--', program]
  const file = join(place.folder, 'relay.cjs')
  writeFileSync(file, RELAY)
  const relay = fork(file, [new URL(url).port])
  const port = await new Promise((resolve) => {
    relay.once('message', resolve)
  })
  const [direct, relayed, inside] = [[], [], []]
  for (let round = 0; round < ROUNDS; round++) {
    direct.push(await call([program], { ...env, ANTHROPIC_BASE_URL: url }))
    const between = { ...env, ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}` }
    relayed.push(await call([program], between))
    inside.push(await call([process.execPath, ...words], env))
  }
  const first = (list) => rate(list.map((one) => one.first))
  const speed = (list) => Math.max(...list.map((one) => one.speed))
  const what = `gateway, first byte of a model that takes ${THINKS_MS} ms, times/s`
  return [
    row(what, 'inside', first(inside), 'direct', first(direct), 1 / 1.1),
    row('gateway, a long answer, bytes/s', 'inside', speed(inside), 'direct', speed(direct), 0.8),
    row(
      'the same through a program that only copies bytes',
      'relayed',
      speed(relayed),
      'direct',
      speed(direct),
      null,
    ),
  ]
}
