/**
 * Requests that a yes would send, and what became of those that were sent. Values of headers and
 * bodies are not shown: the text has only names of headers, and size and digest of bodies. The query
 * is shown to the person who is asked, since it leaves the machine as well.
 *
 * What a run sent and fetched, host by host, as a person reads it before the question.
 */

import { CODES, isCode } from '../../base/index.ts'
import type {
  HeldRequest,
  NetworkConnection,
  Proposal,
  SandboxResult,
} from '../../contracts/index.ts'
import { leavesOf, showHostPort } from '../../gate/index.ts'
import type { GateAnswer } from '../../service/index.ts'
import { counted, grouped, sizeText, visible, visibleName } from '../../words/index.ts'
import type { Paint } from '../call/terminal.ts'
import { shortDigest } from './question-text.ts'

export function heldLines(
  held: readonly HeldRequest[],
  proposal: Proposal | null,
  paint: Paint,
): readonly string[] {
  const urls = proposal === null ? new Map<string, string>() : urlsOf(proposal)
  return held.flatMap((request) => {
    const { method, url, step_id, body_bytes, digest, header_names, save_to } = request
    const address = visible(urls.get(step_id) ?? `${url}${request.has_query ? '?…' : ''}`)
    const body = body_bytes === 0 ? 'no body' : `${sizeText(body_bytes)} of body`
    const headers =
      header_names.length === 0
        ? 'no headers'
        : header_names.map((name) => visible(name)).join(', ')
    const undone =
      request.compensation === undefined
        ? paint.bad('cannot be taken back')
        : `compensated by ${request.compensation}`
    return [
      `  ${paint.accent('→')} ${paint.strong(`${visible(method)} ${address}`)}`,
      `      ${headers}; ${body}; request ${shortDigest(digest)}; ${undone}`,
      ...(save_to === undefined ? [] : [`      answer to ${visibleName(save_to)}`]),
    ]
  })
}

function urlsOf(proposal: Proposal): ReadonlyMap<string, string> {
  return new Map(
    leavesOf(proposal).flatMap(({ proposal: { descriptor, operation } }) =>
      operation?.type === 'NETWORK_REQUEST' ? [[descriptor.action_id, operation.url]] : [],
    ),
  )
}

/** The findings without those about files that the answers of requests are written to afterwards. */
export function withoutAwaited(
  findings: SandboxResult['findings'],
  held: readonly HeldRequest[],
): SandboxResult['findings'] {
  const awaited = new Set(held.flatMap(({ save_to }) => (save_to === undefined ? [] : [save_to])))
  return findings.filter(({ code, path }) => code !== NOT_OBSERVED || !awaited.has(path ?? ''))
}

/** The codes without the one that only files tell which the answers are written to afterwards. */
export function withoutAwaitedCode(
  codes: readonly string[],
  result: SandboxResult | null,
): readonly string[] {
  const { findings = [], side_effects } = result ?? {}
  const left = withoutAwaited(findings, side_effects?.held ?? [])
  const isTold = left.length === findings.length || left.some(({ code }) => code === NOT_OBSERVED)
  return isTold ? codes : codes.filter((code) => code !== NOT_OBSERVED)
}

const NOT_OBSERVED = 'effect.not_observed'

/** Returns a line for each request that was sent, those of unknown outcome first. */
export function sentLines(requests: GateAnswer['requests'], paint: Paint): readonly string[] {
  const all = [...(requests ?? [])].sort(
    (one, other) => Number(other.state === 'UNKNOWN') - Number(one.state === 'UNKNOWN'),
  )
  return all.map(({ method, host, state, status, code }) => {
    const where = `${visible(method)} ${visible(host)}`
    if (state === 'UNKNOWN') {
      return `  ${paint.bad('unknown')}  ${where}  it is unknown whether it was carried out; it is not sent again`
    }
    const words = status === undefined ? (code ?? '') : String(status)
    return `  ${paint.accent('→')} ${where}  ${words}`
  })
}

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
