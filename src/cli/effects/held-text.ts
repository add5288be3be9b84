/**
 * Requests that a yes would send, and what became of those that were sent. Values of headers and
 * bodies are not shown: the text has only names of headers, and size and digest of bodies. The query
 * is shown to the person who is asked, since it leaves the machine as well.
 */
import type { HeldRequest, Proposal, SandboxResult } from '../../contracts/index.ts'
import { leavesOf } from '../../gate/index.ts'
import type { GateAnswer } from '../../service/index.ts'
import type { Paint } from '../call/terminal.ts'
import { sizeText } from './amount.ts'
import { shortDigest } from './question-text.ts'
import { visible, visibleName } from './visible.ts'

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
      return `  ${paint.bad('unknown')}  ${where}  nobody knows whether it was carried out; it is not sent again`
    }
    const words = status === undefined ? (code ?? '') : String(status)
    return `  ${paint.accent('→')} ${where}  ${words}`
  })
}
