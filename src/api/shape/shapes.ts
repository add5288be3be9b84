/** Shapes that requests and answers of several routes share. */
import * as Type from 'typebox'
import type {
  Confirmation,
  Decision,
  Promotion,
  Proposal,
  RequestFact,
  Rollback,
  SandboxResult,
} from '../../contracts/index.ts'

export const closed = { additionalProperties: false } as const

/** A document of a contract; the OpenAPI document holds the schema of each contract once. */
function documentOf<T>(contract: string): Type.TUnsafe<T> {
  return Type.Unsafe<T>({ $ref: `#/components/schemas/${contract}` })
}

export const ProposalDocument = documentOf<Proposal>('proposal_v1')
export const DecisionDocument = documentOf<Decision>('decision_v1')
export const ResultDocument = documentOf<SandboxResult>('sandbox_result_v1')
export const PromotionDocument = documentOf<Promotion>('promotion_v1')
export const ConfirmationDocument = documentOf<Confirmation>('confirmation_v1')
export const RollbackDocument = documentOf<Rollback>('rollback_v1')
export const RequestDocument = documentOf<RequestFact>('request_v1')

/** Any JSON value, judged by a contract that is named in the request. */
export const AnyDocument = Type.Unsafe<unknown>({})

/** A fact as it is listed; the type of its record says of which contract the payload is. */
export const FactDocument = Type.Unsafe<unknown>({ $ref: '#/components/schemas/fact' })

export const Digest = Type.String({ pattern: '^sha256:[0-9a-f]{64}$', 'x-says': 'a digest' })
export const Moment = Type.String({
  pattern: '^\\d{4}-\\d\\d-\\d\\dT',
  'x-says': 'an ISO 8601 moment',
})
export const StreamName = Type.String({
  pattern: '^[a-z0-9][a-z0-9._-]{0,63}$',
  'x-says': 'a stream',
})
export const Id = Type.String({ pattern: '^[A-Za-z0-9._:-]{1,128}$', 'x-says': 'an id' })

export const PrincipalShape = Type.Object(
  {
    kind: Type.Enum(['human', 'ai', 'script', 'device']),
    id: Type.String(),
    namespace: Type.String(),
  },
  closed,
)

export const FactShape = Type.Object({
  fact_id: Type.String(),
  stream: StreamName,
  seq: Type.Integer({ minimum: 0 }),
  occurred_at: Moment,
  principal: PrincipalShape,
  source: Type.String(),
  record: Type.Object({
    type: Type.String(),
    idempotency_key: Type.Optional(Type.String()),
    payload: Type.Optional(Type.Unknown()),
  }),
})

export const ViolationShape = Type.Object(
  {
    code: Type.String(),
    path: Type.String(),
    message: Type.String(),
    hint: Type.Optional(Type.String()),
  },
  closed,
)

export const ProblemShape = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    code: Type.String(),
    detail: Type.String(),
    hint: Type.Optional(Type.String()),
    violations: Type.Optional(Type.Array(ViolationShape)),
  },
  closed,
)

/** A record of the ledger, with its author and its time. */
export function recorded<S extends Type.TSchema>(payload: S) {
  return Type.Union([Type.Object({ payload, by: PrincipalShape, at: Moment }, closed), Type.Null()])
}

export function nullable<S extends Type.TSchema>(schema: S) {
  return Type.Union([schema, Type.Null()])
}

/** Closed: a request has no other fields. */
export function fields<P extends Type.TProperties>(properties: P) {
  return Type.Object(properties, closed)
}

/** The answer of a command. Later versions may add fields; those that are named stay. */
export function answer<P extends Type.TProperties>(properties: P) {
  return Type.Object(properties)
}

export const Word = Type.String({ minLength: 1, maxLength: 512 })
export const Sentence = Type.String({ minLength: 1, maxLength: 4_000 })
export const Switch = Type.Optional(Type.Boolean())
export const StreamOption = Type.Optional(StreamName)
/** A document, or the text of a file that holds one. */
export const FileContents = Type.Unsafe<unknown>(
  Type.Union([Type.Object({}), Type.Array(Type.Unknown()), Type.String()]),
)
/** A file of the workspace that the home is in; no way leads out of it by its name. */
export const WorkspaceFile = Type.String({
  pattern: '^(?![/-])(?!(?:.*/)?\\.\\.(?:/|$))[^\\u0000]{1,500}$',
  'x-says': 'a path in the workspace',
})

export const Base64Url = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,65536}$',
  'x-says': 'base64url without padding',
})

/** What `navigator.credentials.get` answered, as JSON; browsers add fields of their own. */
export const AssertionResponse = Type.Object({
  id: Base64Url,
  rawId: Base64Url,
  type: Type.Enum(['public-key']),
  response: Type.Object({
    clientDataJSON: Base64Url,
    authenticatorData: Base64Url,
    signature: Base64Url,
  }),
})

/** What proves a human in a request: one of the two. The passkey signs a challenge for this request. */
export const Proof = Type.Object(
  {
    passphrase: Type.Optional(Type.String({ minLength: 1 })),
    passkey: Type.Optional(AssertionResponse),
  },
  closed,
)

export const Ok = answer({ ok: Type.Boolean() })
export const Strings = Type.Array(Type.String())
export const Documents = Type.Array(AnyDocument)
