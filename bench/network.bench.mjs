/**
 * The proxy of a run against a bare loopback transfer: the same client fetches the same bytes from the
 * same server, straight and through the proxy, in turns; server, proxy and client are processes of their
 * own. Plainly, and inside TLS, where the proxy carries what it cannot read. Small requests are
 * measured too: the proxy judges each of their connections.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { row } from './measure.mjs'

const DIST = new URL(process.env.WRIT_DIST ?? '../dist/', import.meta.url)
const PEERS = new URL('network-peers.mjs', import.meta.url).pathname

export const title = 'network'

const MEBIBYTE = 1024 * 1024
const LARGE = Number(process.env.WRIT_BENCH_MB ?? 128) * MEBIBYTE
const TURNS = 12
const SMALL_REQUESTS = 200

export async function measure() {
  const folder = mkdtempSync(join(tmpdir(), 'writ-network-'))
  const peers = []
  const start = async (role, order) => {
    const child = spawn(process.execPath, [PEERS, role, JSON.stringify(order)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    peers.push(child)
    const [line] = await once(child.stdout, 'data')
    return Number(String(line).trim())
  }
  try {
    const { key, cert } = certificate(folder)
    const plain = await start('plain', {})
    const tls = await start('tls', { key, cert })
    const hosts = [`127.0.0.1:${plain}`, `127.0.0.1:${tls}`]
    const proxy = await start('proxy', { dist: DIST.href, terms: { hosts, readOnlyHosts: hosts } })
    const ca = readFileSync(cert)
    const large = await inTurns(TURNS, LARGE / MEBIBYTE, {
      bare: () => fetchPlain(plain, plain, LARGE),
      proxied: () => fetchPlain(proxy, plain, LARGE),
      bareTls: () => fetchTls(null, tls, LARGE, ca),
      tunnelled: () => fetchTls(proxy, tls, LARGE, ca),
    })
    const small = await inTurns(TURNS, SMALL_REQUESTS, {
      bare: () => many(() => fetchPlain(plain, plain, 100)),
      proxied: () => many(() => fetchPlain(proxy, plain, 100)),
    })
    return [
      row('a large answer', 'MiB/s', large.proxied, 'bare loopback', large.bare, 0.5),
      row('a large answer in TLS', 'MiB/s', large.tunnelled, 'bare TLS', large.bareTls, 0.5),
      row('small answers, each judged', 'requests/s', small.proxied, 'bare', small.bare, null),
    ]
  } finally {
    for (const peer of peers) peer.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

function certificate(folder) {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const { status, stderr } = spawnSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
    ...['-keyout', key, '-out', cert, '-days', '2', '-subj', '/CN=bench'],
    ...['-addext', 'subjectAltName=IP:127.0.0.1'],
  ])
  if (status !== 0) throw new Error(`openssl: ${stderr}`)
  return { key, cert }
}

/** How much of something a second, the best turn of each. */
async function inTurns(turns, amount, works) {
  const best = Object.fromEntries(Object.keys(works).map((name) => [name, 0]))
  for (let turn = 0; turn < turns; turn++) {
    for (const [name, work] of Object.entries(works)) {
      const started = performance.now()
      await work()
      const seconds = (performance.now() - started) / 1000
      best[name] = Math.max(best[name], amount / seconds)
    }
  }
  return best
}

async function many(work) {
  for (let index = 0; index < SMALL_REQUESTS; index++) await work()
}

/** To the server's own port with its path, or to the proxy with the whole address. */
async function fetchPlain(to, port, bytes) {
  const socket = connect({ port: to, host: '127.0.0.1', noDelay: true })
  const host = `127.0.0.1:${port}`
  const target = to === port ? `/${bytes}` : `http://${host}/${bytes}`
  socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  await drained(socket, bytes)
}

async function fetchTls(proxy, port, bytes, ca) {
  const host = `127.0.0.1:${port}`
  const socket = connect({ port: proxy ?? port, host: '127.0.0.1', noDelay: true })
  if (proxy !== null) {
    socket.write(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
    await once(socket, 'data')
  }
  const secure = connectTls({ socket, ca, host: '127.0.0.1' })
  secure.write(`GET /${bytes} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  await drained(secure, bytes)
}

function drained(socket, bytes) {
  let size = 0
  socket.on('data', (piece) => {
    size += piece.length
  })
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once('close', () => {
      if (size < bytes) reject(new Error(`${size} of ${bytes} bytes came`))
      else resolve()
    })
  })
}

function once(emitter, name) {
  return new Promise((resolve, reject) => {
    emitter.once(name, (...values) => resolve(values))
    emitter.once('error', reject)
  })
}
