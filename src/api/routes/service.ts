/** The service itself. */
import * as Type from 'typebox'
import { route } from '../shape/route.ts'
import { AnyDocument, closed } from '../shape/shapes.ts'

export const SERVICE_ROUTES = {
  isAlive: route({
    method: 'GET',
    path: '/healthz',
    tag: 'service',
    says: 'Says that the process answers.',
    who: 'anyone',
    command: null,
    answers: { 200: Type.Object({ ok: Type.Boolean() }, closed) },
  }),
  isReady: route({
    method: 'GET',
    path: '/readyz',
    tag: 'service',
    says: 'Says whether the ledgers can be read and written now.',
    who: 'anyone',
    command: null,
    answers: { 200: Type.Object({ ready: Type.Boolean() }, closed) },
  }),
  showMetrics: route({
    method: 'GET',
    path: '/metrics',
    tag: 'service',
    says: 'Counts for Prometheus: requests, actions, readers of events, facts, memory.',
    who: 'caller',
    command: null,
    answers: { 200: Type.String() },
    media: 'text/plain',
  }),
  describeApi: route({
    method: 'GET',
    path: '/openapi.json',
    tag: 'service',
    says: 'Describes every route (OpenAPI 3.1).',
    who: 'anyone',
    command: null,
    answers: { 200: AnyDocument },
  }),
}
