/** Witnesses of the home, and the history in the forms of other systems. */
import * as Type from 'typebox'
import { route } from '../shape/route.ts'
import { answer, Documents, fields, Proof, StreamOption, Word } from '../shape/shapes.ts'

const Witness = answer({ name: Type.String(), url: Type.String(), key: Type.String() })
const Anchoring = answer({ ok: Type.Boolean(), cosigned: Documents, failures: Documents })

export const WITNESS_ROUTES = {
  listWitnesses: route({
    method: 'GET',
    path: '/v1/witnesses',
    tag: 'ledger',
    says: 'Lists the witnesses that this home believes.',
    who: 'human',
    command: 'witness list',
    runs: { kind: 'read' },
    answers: { 200: answer({ witnesses: Documents }) },
  }),
  pinWitness: route({
    method: 'POST',
    path: '/v1/witnesses',
    tag: 'ledger',
    says: 'Believes the cosignatures of a witness from now on.',
    who: 'proven',
    command: 'witness pin',
    runs: { kind: 'act', words: ['url', 'key'], takesProof: true },
    body: fields({ url: Type.String({ maxLength: 2_000 }), key: Word, proof: Proof }),
    answers: { 200: Witness },
  }),
  unpinWitness: route({
    method: 'POST',
    path: '/v1/witnesses/unpin',
    tag: 'ledger',
    says: 'Believes a witness no longer.',
    who: 'proven',
    command: 'witness unpin',
    runs: { kind: 'act', words: ['name'], takesProof: true },
    body: fields({ name: Word, proof: Proof }),
    answers: { 200: answer({ name: Type.String() }) },
  }),
  anchorLedger: route({
    method: 'POST',
    path: '/v1/anchors',
    tag: 'ledger',
    says: 'Has the history cosigned by pinned witnesses.',
    who: 'human',
    command: 'ledger anchor',
    runs: { kind: 'act' },
    body: fields({ witness: Type.Optional(Type.Array(Word, { minItems: 1, maxItems: 100 })) }),
    answers: { 200: Anchoring },
  }),
  exportEvents: route({
    method: 'GET',
    path: '/v1/export',
    tag: 'ledger',
    says: 'What happened, in the form of another system: one document a line, without contents.',
    who: 'caller',
    command: 'export',
    runs: { kind: 'read', isText: true },
    query: fields({
      format: Type.Enum(['jsonl', 'cloudevents', 'ocsf', 'otlp', 'intoto']),
      since: Type.Optional(Word),
      after: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000 })),
      stream: StreamOption,
    }),
    answers: { 200: Type.String() },
    media: 'text/plain',
  }),
}
