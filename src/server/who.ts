/**
 * Who calls (H-5): the bearer of a token, or a process of the same user through the home's socket, which
 * is the local human without proof.
 */

import type { Route } from '../api/index.ts'
import { FaultError, faultError } from '../base/index.ts'
import type { TokenScope } from '../contracts/index.ts'
import {
  bearerOf,
  type Caller,
  humanFault,
  type Register,
  scopeFault,
  scopeOfCommand,
} from '../ledger/index.ts'

const BEARER = /^Bearer ([\w.~+/-]{1,512}=*)$/i

interface Credentials {
  /** The header `Authorization`. */
  readonly authorization: string | undefined
  readonly isLocal: boolean
}

/** Returns the principal of a request. Fails if the request shows none of this home. */
export function callerOf(register: Register, given: Credentials, userName: string): Caller {
  const { authorization, isLocal } = given
  if (authorization === undefined) {
    if (isLocal) {
      const principal = register.owner ?? { kind: 'human', id: userName, namespace: 'local' }
      return { principal, streams: null, proof: 'none' }
    }
    const hint = 'a human makes one: `writ token create KIND:ID@NAMESPACE`'
    throw faultError('api.no_token', '', 'the request has no `Authorization: Bearer` token', hint)
  }
  const token = tokenOf(authorization)
  if (token === null) throw faultError('principal.token', '', 'the token is malformed')
  const answer = bearerOf(register, token, Date.now())
  if (!answer.ok) throw new FaultError(answer.fault)
  if (answer.caller.session === undefined) return answer.caller
  const message = 'this is the cookie of a browser session, which is no bearer token'
  throw faultError('principal.token', '', message)
}

/** What is looked at of a route before its request counts. */
export type AskedRoute = Pick<Route, 'who' | 'says' | 'method' | 'command' | 'runs'> &
  Partial<Pick<Route, 'tag'>>

/** The scope that a token needs for a route; null for routes that no scope covers. */
function scopeOfRoute({ method, command, runs, tag }: AskedRoute): TokenScope | null {
  const isReading = method === 'GET' || runs?.kind === 'document' || runs?.kind === 'read'
  return isReading ? 'read' : scopeOfCommand(command ?? tag ?? '')
}

/** Returns the token that a request shows; null without one, or if it is malformed. */
export function tokenOf(authorization: string | undefined): string | null {
  return BEARER.exec(authorization ?? '')?.[1] ?? null
}

/** Fails if a route is not for callers of this kind, or not for their token; the handler looks at proofs. */
export function admitCaller(one: AskedRoute, caller: Caller): void {
  const { who, says } = one
  if (who === 'anyone') return
  const outside = scopeFault(caller, scopeOfRoute(one))
  if (outside !== null) throw new FaultError(outside)
  if (who === 'caller') return
  const refused = humanFault(caller, `“${says}”`)
  if (refused !== null) throw new FaultError(refused)
}
