/**
 * Held requests (G-16): composed and digested from what a proposal says, never sent here. The digest
 * covers everything that would leave the machine, so an approval of it is one of exactly these bytes.
 */
import { digestDocument } from '../../base/index.ts'
import {
  type HeldRequest,
  type Operation,
  type Proposal,
  parseWebAddress,
  type WebAddress,
} from '../../contracts/index.ts'
import { leavesOf } from '../paths/places.ts'

type NetworkRequest = Extract<Operation, { type: 'NETWORK_REQUEST' }>

/** A request as it would be sent. */
export interface ComposedRequest {
  readonly stepId: string
  readonly operation: NetworkRequest
  readonly address: WebAddress
  readonly isSecure: boolean
  readonly held: HeldRequest
}

/** The requests of a proposal in the order in which they would be sent. */
export function composeRequests(proposal: Proposal): readonly ComposedRequest[] {
  return leavesOf(proposal).flatMap(({ proposal: { descriptor, operation } }) => {
    if (operation?.type !== 'NETWORK_REQUEST') return []
    const composed = composeRequest(descriptor.action_id, operation)
    return composed === null ? [] : [composed]
  })
}

export function heldRequests(proposal: Proposal): readonly HeldRequest[] {
  return composeRequests(proposal).map(({ held }) => held)
}

/** Null for an address that the contract refuses. */
function composeRequest(stepId: string, operation: NetworkRequest): ComposedRequest | null {
  const address = parseWebAddress(operation.url)
  if (address === null) return null
  const { method, headers = {}, body, save_to, compensation } = operation
  const url = new URL(operation.url)
  url.hash = ''
  const whole = url.href
  const hasQuery = url.search !== ''
  url.search = ''
  const held: HeldRequest = {
    step_id: stepId,
    method,
    url: url.href,
    has_query: hasQuery,
    header_names: Object.keys(headers).sort(),
    body_bytes: body === undefined ? 0 : encoder.encode(body).length,
    digest: digestDocument({ method, url: whole, headers, body: body ?? null }),
    ...(save_to === undefined ? {} : { save_to }),
    ...(compensation === undefined ? {} : { compensation: compensation.type }),
  }
  return { stepId, operation, address, isSecure: url.protocol === 'https:', held }
}

const encoder = new TextEncoder()

/** Returns the path that the operation saves its response in: an effect that no rehearsal shows. */
export function awaitedPaths(operation: Operation | undefined): readonly string[] {
  return operation?.type === 'NETWORK_REQUEST' && operation.save_to !== undefined
    ? [operation.save_to]
    : []
}
