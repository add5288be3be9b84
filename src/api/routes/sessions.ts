/** Sessions of coding agents: what runs, what is pending, and what a person does about it. */
import * as Type from 'typebox'
import { route } from '../shape/route.ts'
import {
  AnyDocument,
  answer,
  Documents,
  fields,
  Id,
  Moment,
  nullable,
  Proof,
  Strings,
  Word,
} from '../shape/shapes.ts'

const Session = fields({ id: Id })
/** What a session asked of its model, and which hosts it reached. */
const Use = answer({
  model: answer({
    requests: Type.Integer(),
    failures: Type.Integer(),
    input_tokens: Type.Integer(),
    output_tokens: Type.Integer(),
    cached_tokens: Type.Optional(Type.Integer()),
    cost_micros: Type.Optional(Type.Integer()),
    unpriced: Type.Optional(Type.Integer()),
  }),
  network: Type.Array(
    answer({
      host: Type.String(),
      passed: Type.Integer(),
      refused: Type.Integer(),
      failed: Type.Integer(),
      bytes_sent: Type.Integer(),
      bytes_received: Type.Integer(),
    }),
  ),
})
/** An event on the record of a session that is over. */
const Fact = answer({
  session_id: Type.String(),
  event: Type.String(),
  at: Moment,
  agent: Type.Optional(Type.String()),
  workspace: Type.Optional(Type.String()),
  ended: Type.Optional(Type.String()),
  paths: Type.Optional(Strings),
  model: Type.Optional(Use.properties.model),
  network: Type.Optional(Use.properties.network),
})
const Cost = Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 999_999 }))
const Count = Type.Optional(Type.Integer({ minimum: 1, maximum: 1e12 }))

export const SESSION_ROUTES = {
  listSessions: route({
    method: 'GET',
    path: '/v1/sessions',
    tag: 'sessions',
    says: 'Lists the sessions that run, or have changes that are pending.',
    who: 'human',
    command: 'session list',
    runs: { kind: 'read' },
    answers: {
      200: answer({
        sessions: Type.Array(
          answer({
            session_id: Type.String(),
            agent: Type.String(),
            started_at: Moment,
            workspace: Type.String(),
            state: Type.Enum(['running', 'stopped']),
            settles: Type.Integer(),
            question: nullable(Type.String()),
            cost_micros: Type.Optional(Type.Integer()),
          }),
        ),
      }),
    },
  }),
  showSession: route({
    method: 'GET',
    path: '/v1/sessions/{id}',
    tag: 'sessions',
    says: 'Shows what is pending in a session; of one that is over, its facts.',
    who: 'human',
    command: 'session show',
    runs: { kind: 'read', words: ['id'] },
    params: Session,
    answers: {
      200: Type.Union([
        answer({
          session_id: Type.String(),
          state: Type.Enum(['running', 'stopped']),
          question: nullable(Type.String()),
          use: Use,
          pending: Type.Array(
            answer({ path: Type.String(), change: Type.String(), why: Type.String() }),
          ),
          conflicts: Documents,
        }),
        answer({ facts: Type.Array(Fact) }),
      ]),
    },
  }),
  diffSession: route({
    method: 'GET',
    path: '/v1/sessions/{id}/diff',
    tag: 'sessions',
    says: 'Shows line by line what is pending in a session.',
    who: 'human',
    command: 'session diff',
    runs: { kind: 'read', words: ['id'], isText: true },
    params: Session,
    answers: { 200: Type.String() },
    media: 'text/plain',
  }),
  settleSession: route({
    method: 'POST',
    path: '/v1/sessions/{id}/settle',
    tag: 'sessions',
    says: 'Takes what is pending in a session through the gate now.',
    who: 'proven',
    command: 'session settle',
    runs: { kind: 'act', words: ['id'] },
    params: Session,
    body: fields({ proof: Proof }),
    answers: { 200: AnyDocument },
  }),
  discardSession: route({
    method: 'POST',
    path: '/v1/sessions/{id}/discard',
    tag: 'sessions',
    says: 'Takes changes out of the view of a session; the real tree stays as it is.',
    who: 'proven',
    command: 'session discard',
    runs: { kind: 'act', words: ['id', 'paths'] },
    params: Session,
    body: fields({
      paths: Type.Optional(Type.Array(Word, { minItems: 1, maxItems: 1_000 })),
      all: Type.Optional(Type.Boolean()),
      proof: Proof,
    }),
    answers: { 200: answer({ session_id: Type.String(), discarded: Strings }) },
  }),
  extendSession: route({
    method: 'POST',
    path: '/v1/sessions/{id}/extend',
    tag: 'sessions',
    says: 'Gives a session that runs more time, requests, tokens or cost.',
    who: 'proven',
    command: 'session extend',
    runs: { kind: 'act', words: ['id'] },
    params: Session,
    body: fields({
      time: Type.Optional(Word),
      requests: Count,
      tokens: Count,
      cost: Cost,
      proof: Proof,
    }),
    answers: { 200: answer({ session_id: Type.String(), until: Moment, budget: AnyDocument }) },
  }),
  stopSession: route({
    method: 'POST',
    path: '/v1/sessions/{id}/stop',
    tag: 'sessions',
    says: 'Ends the agent of a session; what is pending stays.',
    who: 'proven',
    command: 'session stop',
    runs: { kind: 'act', words: ['id'] },
    params: Session,
    body: fields({ proof: Proof }),
    answers: { 200: answer({ stopped: Type.Boolean() }) },
  }),
}
