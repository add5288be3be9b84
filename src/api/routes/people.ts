/** Principals and their tokens. */
import * as Type from 'typebox'
import { TOKEN_SCOPES } from '../../contracts/index.ts'
import { route } from '../shape/route.ts'
import {
  answer,
  fields,
  Id,
  Moment,
  nullable,
  PrincipalShape,
  Proof,
  StreamName,
  Strings,
} from '../shape/shapes.ts'

/** As people write it: `kind:id@namespace`. */
const PrincipalName = Type.String({
  pattern: '^(?:human|ai|script|device):[^@\\s]{1,128}@[^@\\s]{1,128}$',
  'x-says': 'a principal, kind:id@namespace',
})

const TokenScope = Type.Enum([...TOKEN_SCOPES])

export const PEOPLE_ROUTES = {
  listPrincipals: route({
    method: 'GET',
    path: '/v1/principals',
    tag: 'people',
    says: 'Lists who is registered.',
    who: 'human',
    command: 'principal list',
    runs: { kind: 'read' },
    answers: {
      200: answer({
        principals: Type.Array(
          answer({
            ...PrincipalShape.properties,
            streams: nullable(Strings),
            credential: Type.String(),
            tokens: Type.Integer(),
          }),
        ),
        caller: PrincipalShape,
      }),
    },
  }),
  addPrincipal: route({
    method: 'POST',
    path: '/v1/principals',
    tag: 'people',
    says: 'Registers a human, an AI, a script or a device.',
    who: 'proven',
    command: 'principal add',
    runs: { kind: 'act', words: ['principal'], takesProof: true },
    body: fields({
      principal: PrincipalName,
      stream: Type.Optional(Type.Array(StreamName, { minItems: 1, maxItems: 100 })),
      proof: Proof,
    }),
    answers: {
      200: answer({
        principal: PrincipalShape,
        streams: nullable(Strings),
        seq: Type.Integer(),
        fact_id: Type.String(),
      }),
    },
  }),
  endorseCredential: route({
    method: 'POST',
    path: '/v1/endorsements',
    tag: 'people',
    says: 'Agrees that a human gets a new credential, where a law in force wants several approvals.',
    who: 'proven',
    command: 'principal endorse',
    runs: { kind: 'act', words: ['principal'], takesProof: true },
    body: fields({ principal: PrincipalName, proof: Proof }),
    answers: {
      200: answer({
        principal: PrincipalShape,
        needed: Type.Integer(),
        given: Strings,
        enough: Type.Boolean(),
      }),
    },
  }),
  listTokens: route({
    method: 'GET',
    path: '/v1/tokens',
    tag: 'people',
    says: 'Lists tokens; never what they are.',
    who: 'human',
    command: 'token list',
    runs: { kind: 'read' },
    answers: {
      200: answer({
        tokens: Type.Array(
          answer({
            token_id: Type.String(),
            principal: PrincipalShape,
            created_at: Moment,
            expires_at: nullable(Moment),
            scopes: nullable(Type.Array(TokenScope)),
            revoked_at: nullable(Moment),
            status: Type.String(),
            /** A login in a browser, which a cookie shows; null for a bearer token. */
            use: nullable(Type.Enum(['browser'])),
          }),
        ),
      }),
    },
  }),
  createToken: route({
    method: 'POST',
    path: '/v1/tokens',
    tag: 'people',
    says: 'Creates a token for a principal; it is shown once.',
    who: 'proven',
    command: 'token create',
    runs: { kind: 'act', words: ['principal'], takesProof: true },
    body: fields({
      principal: PrincipalName,
      scope: Type.Optional(Type.Array(TokenScope, { minItems: 1, maxItems: 4 })),
      days: Type.Optional(Type.Integer({ minimum: 1, maximum: 36_500 })),
      proof: Proof,
    }),
    answers: {
      200: answer({
        token_id: Type.String(),
        token: Type.String(),
        principal: PrincipalShape,
        expires_at: nullable(Moment),
        scopes: nullable(Type.Array(TokenScope)),
        seq: Type.Integer(),
      }),
    },
  }),
  revokeToken: route({
    method: 'POST',
    path: '/v1/tokens/{id}/revoke',
    tag: 'people',
    says: 'Revokes a token.',
    who: 'proven',
    command: 'token revoke',
    runs: { kind: 'act', words: ['id'], takesProof: true },
    params: fields({ id: Id }),
    body: fields({ proof: Proof }),
    answers: { 200: answer({ token_id: Type.String(), seq: Type.Integer() }) },
  }),
}
