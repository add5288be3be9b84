/** Laws of the network's pure parts; single cases are vectors. */
import { isIPv4, isIPv6 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../../tests/arbitrary/runs.ts'
import type { Proposal } from '../../contracts/index.ts'
import {
  addressName,
  ChunkedBody,
  cacheEnvironment,
  DEFAULT_LISTS,
  forwardedHead,
  headEnd,
  hostName,
  hostPort,
  hostsToRelease,
  judgeRequest,
  type NetworkTerms,
  networkGrounds,
  networkRules,
  onlyRead,
  parseAddress,
  placedPaths,
  readClientHello,
  readRequestHead,
  readResponseHead,
  recordedUrl,
  refusedAddress,
  showHostPort,
  stepTerms,
  visiblePlaces,
} from '../index.ts'

const RUNS = { numRuns: runs(300) }

describe('addresses', () => {
  it('are those of the platform, in any spelling', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string({ maxLength: 20 })), (text) => {
        expect(parseAddress(text) !== null).toBe(
          isIPv4(text) || (isIPv6(text) && !text.includes('%')),
        )
      }),
      RUNS,
    )
  })

  it('of IPv4 inside IPv6 are as open as they are alone, 6to4 never', () => {
    fc.assert(
      fc.property(fc.ipV4(), (text) => {
        const isOpen = refusedAddress(text) === null
        for (const prefix of ['::ffff:', '64:ff9b::', '::ffff:0:']) {
          expect(refusedAddress(`${prefix}${text}`) === null).toBe(isOpen)
        }
        const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number)
        const hex = (one: number, two: number) => ((one << 8) | two).toString(16)
        expect(refusedAddress(`2002:${hex(a, b)}:${hex(c, d)}::1`)).not.toBe(null)
        expect(refusedAddress(`::${text}`)).not.toBe(null)
      }),
      RUNS,
    )
  })
})

describe('hosts', () => {
  it('are read again as they are shown, and never throw', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.domain(),
          fc.ipV6().map((text) => `[${text}]`),
          fc.ipV4(),
          fc.string(),
        ),
        fc.option(fc.integer({ min: 1, max: 65_535 })),
        (text, port) => {
          const read = hostPort(port === null ? text : `${text}:${port}`)
          if (read === null) return
          expect(hostPort(showHostPort(read.name, read.port))).toEqual(read)
          expect(hostName(showHostPort(read.name, null))?.name).toBe(read.name)
        },
      ),
      RUNS,
    )
    expect(addressName('0:0:0:0:0:0:0:1')).toBe('::1')
  })
})

describe('heads', () => {
  it('never throw, no matter the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        readRequestHead(bytes)
        readResponseHead(bytes)
        readClientHello(bytes)
        readClientHello(Uint8Array.of(22, 3, 1, 0, 40, 1, 0, 0, 36, ...bytes))
        headEnd(bytes)
        new ChunkedBody().take(bytes)
      }),
      RUNS,
    )
  })

  it('that are sent on say what was judged, and name no neighbour', () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/)
    const field = fc.tuple(
      fc.constantFrom('Accept', 'X-A', 'Proxy-Authorization', 'Keep-Alive', 'TE', 'Cookie'),
      word,
    )
    fc.assert(
      fc.property(word, fc.array(field, { maxLength: 8 }), (path, fields) => {
        const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')
        const text = `GET http://a.test/${path} HTTP/1.1\r\nHost: A.test\r\n${lines}\r\n`
        const reading = readRequestHead(Buffer.from(text))
        if (!reading.ok) throw new Error(reading.says)
        const sent = Buffer.from(forwardedHead(reading.head)).toString()
        expect(sent.startsWith(`GET /${path} HTTP/1.1\r\nHost: a.test\r\n`)).toBe(true)
        expect(sent.endsWith('Connection: close\r\n\r\n')).toBe(true)
        expect(sent).not.toMatch(/^(?:proxy-|keep-alive|te:)/im)
        const kept = fields.filter(([name]) => ['Accept', 'X-A', 'Cookie'].includes(name))
        for (const [name, value] of kept) expect(sent).toContain(`${name}: ${value}\r\n`)
      }),
      RUNS,
    )
  })

  it('are reported without query and fragment', () => {
    expect(recordedUrl('http://a.example/x?k=secret#more')).toBe(
      'http://a.example/x?(13 characters)',
    )
    expect(recordedUrl('http://a.example/x#k=secret?no')).toBe('http://a.example/x#(11 characters)')
    expect(recordedUrl('http://a.example/x')).toBe('http://a.example/x')
  })

  it('what Connection names is not sent on', () => {
    const text =
      'GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nConnection: X-Hop\r\nX-Hop: 1\r\nX-End: 2\r\n\r\n'
    const reading = readRequestHead(Buffer.from(text))
    const sent = reading.ok ? Buffer.from(forwardedHead(reading.head)).toString() : ''
    expect(sent).toBe('GET / HTTP/1.1\r\nHost: a.test\r\nX-End: 2\r\nConnection: close\r\n\r\n')
  })

  it('of answers end the connection behind them', () => {
    const head =
      'HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: 5\r\nContent-Length: 2\r\n\r\n'
    const read = readResponseHead(Buffer.from(head))
    expect(Buffer.from(read?.bytes ?? []).toString()).toBe(
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n',
    )
    expect(readResponseHead(Buffer.from('HTTP/1.1 100 Continue\r\n\r\n'))?.status).toBe(100)
    for (const wrong of ['ICY 200 OK\r\n\r\n', 'HTTP/2 200\r\n\r\n', 'HTTP/1.1 20 x\r\n\r\n']) {
      expect(readResponseHead(Buffer.from(wrong))).toBe(null)
    }
  })
})

describe('a ClientHello', () => {
  it('is the same however it is cut, and incomplete before its last byte', () => {
    const hello = helloOf('registry.test')
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 60 }),
        (cuts) => {
          const records: number[] = []
          let at = 0
          for (const length of [...cuts, hello.length]) {
            const part = hello.slice(at, at + length)
            if (part.length > 0)
              records.push(22, 3, 1, part.length >> 8, part.length & 255, ...part)
            at += length
          }
          const bytes = Uint8Array.from(records)
          const want = { state: 'hello', name: 'registry.test', isHidden: false }
          expect(readClientHello(bytes)).toEqual(want)
          for (let end = 0; end < bytes.length; end += 7) {
            expect(readClientHello(bytes.subarray(0, end)).state).toBe('incomplete')
          }
        },
      ),
      { numRuns: runs(100) },
    )
  })
})

function helloOf(name: string): number[] {
  const text = [...Buffer.from(name)]
  const entry = [0, 0, text.length, ...text]
  const extension = [0, 0, 0, entry.length + 2, 0, entry.length, ...entry]
  const body = [3, 3, ...Array(32).fill(7), 0, 0, 2, 19, 1, 1, 0, 0, extension.length, ...extension]
  return [1, 0, 0, body.length, ...body]
}

describe('a body in chunks', () => {
  it('ends where it ends, however it comes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ minLength: 1, maxLength: 40 }), { maxLength: 6 }),
        fc.integer({ min: 1, max: 9 }),
        (chunks, step) => {
          const body = Buffer.concat([
            ...chunks.flatMap((chunk) => [
              Buffer.from(`${chunk.length.toString(16)}\r\n`),
              Buffer.from(chunk),
              Buffer.from('\r\n'),
            ]),
            Buffer.from('0\r\n\r\n'),
          ])
          const bytes = Buffer.concat([body, Buffer.from('POST next')])
          const reader = new ChunkedBody()
          let used = 0
          let state = 'more'
          for (let at = 0; at < bytes.length && state === 'more'; at += step) {
            const taken = reader.take(bytes.subarray(at, at + step))
            used += taken.used
            state = taken.state
          }
          expect([used, state]).toEqual([body.length, 'done'])
        },
      ),
      RUNS,
    )
  })

  it.each([
    '-1\r\n',
    '\r\n',
    '1;x=y\r\na\r\n',
    '1\na\r\n',
    '2\r\nabc\r\n',
    '0\r\nX: y\r\n\r\n',
    'fffffffffffffff\r\n',
    '0x1\r\na\r\n',
  ])('%j is refused', (text) => {
    expect(new ChunkedBody().take(Buffer.from(text)).state).toBe('broken')
  })
})

describe('rules', () => {
  const names = fc.constantFrom('a.test', 'b.test', 'c.test:8080', '127.0.0.1')
  const lists = fc.uniqueArray(names, { maxLength: 4 })
  const methods = fc.constantFrom('GET', 'POST', 'CONNECT', 'DELETE')
  const wanted = fc.record({
    method: methods,
    host: names.map((text) => ({ name: text.split(':')[0] ?? '' })),
    port: fc.constantFrom(80, 443, 8080),
    hasBody: fc.boolean(),
  })

  it('a narrower scope, fewer read-only hosts or no release never let more pass', () => {
    fc.assert(
      fc.property(
        lists,
        lists,
        lists,
        fc.array(methods),
        wanted,
        (hosts, readOnly, free, ways, want) => {
          const release = { hosts: free, methods: ways }
          const terms: NetworkTerms = { hosts, readOnlyHosts: readOnly, release }
          const passes = (each: NetworkTerms) => judgeRequest(networkRules(each), want).passes
          if (passes(terms)) return
          expect(passes({ ...terms, hosts: hosts.slice(1) })).toBe(false)
          expect(passes({ ...terms, readOnlyHosts: readOnly.slice(1) })).toBe(false)
          expect(passes({ ...terms, release: null })).toBe(false)
        },
      ),
      RUNS,
    )
  })

  it('name the hosts that need a release first', () => {
    const terms = {
      hosts: ['a.test', 'b.test', 'c.test:8080'],
      readOnlyHosts: ['a.test'],
      release: null,
    }
    expect(hostsToRelease(terms)).toEqual(['b.test', 'c.test:8080'])
    expect(hostsToRelease({ ...terms, readOnlyHosts: terms.hosts })).toEqual([])
  })

  it('tell a run that only read from one that did more', () => {
    const row = { host: 'a.test', port: 80, bytes_sent: 1, bytes_received: 1 }
    expect(
      onlyRead([
        { ...row, outcome: 'passed' },
        { ...row, outcome: 'failed' },
      ]),
    ).toBe(true)
    expect(onlyRead([{ ...row, outcome: 'refused' }])).toBe(false)
    expect(onlyRead([{ ...row, outcome: 'passed', released: true }])).toBe(false)
  })
})

describe('the rules of a step', () => {
  const descriptor = (hosts: readonly string[], allows: boolean) => ({
    scope: { network: { required: hosts.length > 0, hosts } },
    sandbox: { allow_network: allows },
  })
  const step = (hosts: readonly string[], allows: boolean, type = 'COMMAND_EXECUTION') =>
    // Only these parts are read.
    ({ descriptor: descriptor(hosts, allows), operation: { type } }) as unknown as Proposal

  it('are those of its own scope; a release is for the last one', () => {
    const release = { override_id: 'o', hosts: ['b.test'], methods: ['POST'] }
    const grounds = { hosts: ['a.test', 'b.test'], read_only_hosts: ['a.test'], release }
    const own = { hosts: ['b.test'], readOnlyHosts: ['a.test'] }
    expect(stepTerms(grounds, step(['b.test'], true), true)).toEqual({ ...own, release })
    expect(stepTerms(grounds, step(['b.test'], true), false)).toEqual({ ...own, release: null })
    expect(stepTerms(grounds, step(['b.test'], false), true).hosts).toEqual([])
  })

  it('are there when something runs with a network, and not for a request that is held', () => {
    expect(networkGrounds(step(['a.test'], false), ['a.test'], null)).toBe(null)
    expect(networkGrounds(step(['a.test'], true, 'NETWORK_REQUEST'), ['a.test'], null)).toBe(null)
    expect(networkGrounds(step(['a.test:81'], true), ['a.test:81', 'z.test'], null)).toEqual({
      hosts: ['a.test:81'],
      read_only_hosts: ['a.test:81'],
      release: null,
    })
  })
})

describe('what a run with a network sees of a home', () => {
  it('are caches and programs, no histories and no logins', () => {
    const places = visiblePlaces(['/home/ann'])
    expect(places).toEqual(expect.arrayContaining(['/home/ann/.npm', '/home/ann/.nvm/versions']))
    const hidden = placedPaths(DEFAULT_LISTS.hidden, ['/home/ann'], '/home/ann/shop')
    for (const path of places) {
      expect(path).toMatch(/^\/home\/ann\/[^*]+$/)
      expect(path).not.toMatch(/history|\.ssh|\.aws|\.config\/g|\.netrc/)
      expect(hidden).not.toContain(path)
    }
  })

  it('and caches that are missing are private ones', () => {
    const all = cacheEnvironment(['/home/ann'], () => false)
    expect(all).toMatchObject({ npm_config_cache: '/tmp/.writ-cache/npm_config_cache' })
    expect(cacheEnvironment(['/home/ann'], () => true)).toEqual({})
  })
})
