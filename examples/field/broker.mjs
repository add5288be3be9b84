/**
 * Starts a mosquitto of one's own in a folder: TLS with a certificate made here, passwords, and the rules
 * of `mosquitto.acl`. For trials and tests on this machine; it listens on loopback only.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const ACL = fileURLToPath(new URL('mosquitto.acl', import.meta.url))
const WAIT_MS = 10_000
/** Debian keeps mosquitto where the path of an ordinary user does not lead. */
const env = { ...process.env, PATH: `${process.env.PATH ?? ''}:/usr/local/sbin:/usr/sbin:/sbin` }

/** `users`: names and passwords. `lines`: more of the configuration. */
export async function startBroker(
  folder,
  users,
  { lines = [], acl = readFileSync(ACL, 'utf8') } = {},
) {
  for (const [program, word] of [
    ['mosquitto', '-h'],
    ['openssl', 'version'],
  ])
    if (spawnSync(program, [word], { env, stdio: 'ignore' }).error !== undefined)
      throw new Error(`${program} is not installed: apt-get install mosquitto openssl`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const at = (name) => join(folder, name)
  makeCertificate(at('ca.pem'), at('key.pem'))
  writeFileSync(at('acl'), acl)
  writeFileSync(
    at('passwords'),
    Object.entries(users)
      .map(([name, word]) => `${name}:${word}\n`)
      .join(''),
  )
  run('mosquitto_passwd', ['-U', at('passwords')])
  const port = await freePort()
  const conf = [
    `listener ${port} 127.0.0.1`,
    `cafile ${at('ca.pem')}`,
    `certfile ${at('ca.pem')}`,
    `keyfile ${at('key.pem')}`,
    'allow_anonymous false',
    `password_file ${at('passwords')}`,
    `acl_file ${at('acl')}`,
    'max_queued_messages 0',
    `user ${userInfo().username}`,
    ...lines,
  ]
  writeFileSync(at('mosquitto.conf'), `${conf.join('\n')}\n`)
  const broker = { url: `mqtts://localhost:${port}`, ca: at('ca.pem'), port, child: null }
  broker.start = async () => {
    broker.child = spawn('mosquitto', ['-c', at('mosquitto.conf')], { env, stdio: 'ignore' })
    await listening(port)
  }
  broker.stop = async (signal = 'SIGTERM') => {
    const { child } = broker
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await ended
  }
  await broker.start()
  return broker
}

function makeCertificate(certificate, key) {
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1'
  const of = ['-nodes', '-days', '30', '-subj', '/CN=localhost', '-addext', names]
  run('openssl', [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    ...of,
    '-keyout',
    key,
    '-out',
    certificate,
  ])
}

function run(program, words) {
  const { status, error, stderr } = spawnSync(program, words, { env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`)
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

async function listening(port) {
  const { connect } = await import('node:net')
  for (const until = Date.now() + WAIT_MS; Date.now() < until; ) {
    const isUp = await new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (isUp) return
    await pause(50)
  }
  throw new Error('mosquitto does not start: see its configuration')
}
