/** When a person hears about the network of a run, and what. */
import { describe, expect, it, vi } from 'vitest'
import type { NetworkConnection } from '../../contracts/index.ts'
import { NetworkNotices, refusalText } from './network-notices.ts'

const NO_NETWORK =
  'writ exec: this run has no network: add --net HOST for each host that it may reach'

function shared(): { notices: NetworkNotices; printed: string[] } {
  const printed: string[] = []
  return { notices: new NetworkNotices(true, (text) => printed.push(text)), printed }
}

describe('while the command has the terminal', () => {
  it('a line comes at once where no line was begun', () => {
    const { notices, printed } = shared()
    notices.output(Buffer.from('fetching\r\n'))
    notices.unreachable()
    expect(printed).toEqual([`${NO_NETWORK}\r\n`])
  })

  it('waits for the end of a line that was begun', () => {
    const { notices, printed } = shared()
    notices.output(Buffer.from('fetching '))
    notices.unreachable()
    expect(printed).toEqual([])
    notices.output(Buffer.from('x\r\n'))
    expect(printed).toEqual([`${NO_NETWORK}\r\n`])
  })

  it('does not wait for a spinner to end', () => {
    vi.useFakeTimers()
    try {
      const { notices, printed } = shared()
      notices.output(Buffer.from('\u001b[1G\u001b[0K|'))
      notices.unreachable()
      notices.output(Buffer.from('\u001b[1G\u001b[0K/'))
      vi.runAllTimers()
      expect(printed).toEqual([`\r\n${NO_NETWORK}\r\n`])
    } finally {
      vi.useRealTimers()
    }
  })

  it.each(['\u001b[?1049h', '\u001b[2;1Htop', '\u001b[3A'])(
    'leaves a drawn screen: %j',
    (drawn) => {
      vi.useFakeTimers()
      try {
        const { notices, printed } = shared()
        const bytes = Buffer.from(drawn)
        notices.output(bytes.subarray(0, 2))
        notices.output(bytes.subarray(2))
        notices.unreachable()
        notices.output(Buffer.from('\n'))
        vi.runAllTimers()
        expect(printed).toEqual([])
        notices.release()
        expect(printed).toEqual([`${NO_NETWORK}\n`])
      } finally {
        vi.useRealTimers()
      }
    },
  )
})

describe('the text', () => {
  const connection: NetworkConnection = {
    host: 'a.test',
    port: 443,
    outcome: 'refused',
    method: 'CONNECT',
    bytes_sent: 0,
    bytes_received: 0,
  }

  it.each([
    ['network.address', '--net 10.0.0.7', 'add --net 10.0.0.7, the address'],
    ['network.upload', null, 'run this again with --send a.test ('],
    ['network.method', null, 'settings.read_only_hosts'],
  ])('of %s says what to type', (code, option, words) => {
    expect(refusalText({ ...connection, code }, option)).toContain(words)
  })

  it('says that a host was not reached', () => {
    const text = refusalText({ ...connection, outcome: 'failed', code: 'network.unresolved' })
    expect(text).toMatch(/^no connection for CONNECT a\.test:443: the name of the host leads to no/)
  })
})
