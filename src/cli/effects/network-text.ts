/** What a run sent and fetched, host by host, as a person reads it before the question. */
import { CODES, isCode } from '../../base/index.ts'
import type { NetworkConnection } from '../../contracts/index.ts'
import { showHostPort } from '../../gate/index.ts'
import type { Paint } from '../call/terminal.ts'
import { counted, grouped, sizeText } from './amount.ts'
import { visible, visibleName } from './visible.ts'

interface Row {
  readonly words: string
  readonly isGood: boolean
  count: number
  sent: number
  received: number
}

/** Equal ones together, in the order in which they began; empty when there was no network. */
export function networkLines(connections: readonly NetworkConnection[], paint: Paint): string[] {
  const rows = new Map<string, Row>()
  for (const connection of connections) {
    const words = wordsOf(connection)
    const isGood = connection.outcome === 'passed' && connection.released !== true
    const row = rows.get(words) ?? { words, isGood, count: 0, sent: 0, received: 0 }
    rows.set(words, row)
    row.count += connection.count ?? 1
    row.sent += connection.bytes_sent
    row.received += connection.bytes_received
  }
  return [...rows.values()].map(({ words, isGood, count, sent, received }) => {
    const amount = `${counted(count, 'request')}, ${sizeText(sent)} up, ${sizeText(received)} down`
    const sign = isGood ? paint.dim('·') : paint.accent('!')
    return `  ${sign} ${words} ${paint.dim(`(${amount})`)}`
  })
}

export function networkHeading(connections: readonly NetworkConnection[], paint: Paint): string {
  const count = connections.reduce((sum, connection) => sum + (connection.count ?? 1), 0)
  return paint.strong(`Network (${grouped(count)})`)
}

function wordsOf({ host, port, method = '', outcome, code, released }: NetworkConnection): string {
  const place = visibleName(showHostPort(host, port))
  const what = method === '' ? place : `${visible(method)} ${place}`
  if (released === true) return `sent ${what}, which was released`
  if (outcome === 'passed') return what
  const says = code !== undefined && isCode(code) ? `${CODES[code].says} ` : ''
  return `${outcome} ${what}: ${says}${visible(code ?? '')}`
}
