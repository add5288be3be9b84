/** The vectors of the network: addresses, hosts, requests, judgements, ClientHellos, findings. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { NetworkConnection } from '../../src/contracts/index.ts'
import {
  hostPort,
  judgeRequest,
  type NetworkTerms,
  networkFindings,
  networkRules,
  readClientHello,
  readRequestHead,
  refusedAddress,
} from '../../src/gate/index.ts'

// biome-ignore lint/suspicious/noExplicitAny: the file says what a case holds
type Case = any

const { spec, terms, cases } = JSON.parse(
  readFileSync('spec/vectors/gate/network.json', 'utf8'),
) as {
  spec: string
  terms: NetworkTerms
  cases: readonly Case[]
}

const KEYS: Readonly<Record<string, readonly string[]>> = {
  address: ['address'],
  host: ['text'],
  request: ['head'],
  judge: ['terms', 'wanted'],
  hello: ['bytes'],
  findings: ['terms', 'connections'],
}

function answer(one: Case): unknown {
  const rules = networkRules(one.terms ?? terms)
  switch (one.run) {
    case 'address':
      return { open: refusedAddress(one.address) === null }
    case 'host': {
      const read = hostPort(one.text)
      return read === null ? null : { name: read.name, port: read.port }
    }
    case 'request':
      return requestAnswer(one.head)
    case 'judge': {
      const { method, host, port, body } = one.wanted
      const verdict = judgeRequest(rules, { method, host: { name: host }, port, hasBody: body })
      return verdict.passes
        ? { passes: true, released: verdict.isReleased }
        : { refused: verdict.code }
    }
    case 'hello': {
      const reading = readClientHello(Buffer.from(one.bytes, 'hex'))
      return reading.state === 'hello'
        ? { name: reading.name, hidden: reading.isHidden }
        : reading.state
    }
    default: {
      const found = networkFindings(one.connections as NetworkConnection[], rules).finish()
      return found.map(({ code, path, detail }) => [code, path, detail])
    }
  }
}

function requestAnswer(head: string): unknown {
  const reading = readRequestHead(Buffer.from(head, 'latin1'))
  if (!reading.ok) return { refused: reading.code }
  const { method, host, port, url, body } = reading.head
  return {
    method,
    host: host.name,
    port,
    url,
    body: body.kind === 'length' ? body.length : body.kind,
  }
}

describe('vectors of the network', () => {
  it('are of the known form, and of every kind', () => {
    expect(spec).toBe('gate-network/1')
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length)
    expect(new Set(cases.map(({ run }) => run))).toEqual(new Set(Object.keys(KEYS)))
    expect(cases.length).toBeGreaterThan(150)
    for (const one of cases) {
      const known = ['id', 'note', 'run', 'want', ...(KEYS[one.run] ?? [])]
      expect(known, one.id).toEqual(expect.arrayContaining(Object.keys(one)))
    }
  })

  it.each(cases.map((one) => [one.id, one] as const))('%s', (_id, one) => {
    expect(answer(one)).toEqual(one.want)
  })
})
