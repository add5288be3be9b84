/** Documents and rules in the request, answers about them; nothing is recorded. */
import * as Type from 'typebox'
import { route } from '../shape/route.ts'
import { AnyDocument, closed, nullable, ViolationShape } from '../shape/shapes.ts'

const Context = Type.Optional(Type.Unsafe<Record<string, unknown>>({ type: 'object' }))

export const DOCUMENT_ROUTES = {
  checkDocument: route({
    method: 'POST',
    path: '/v1/documents/check',
    tag: 'documents',
    says: 'Validates a document of any contract.',
    who: 'caller',
    command: 'check',
    body: Type.Object(
      { as: Type.Optional(Type.String()), context: Context, document: AnyDocument },
      closed,
    ),
    answers: {
      200: Type.Object(
        {
          valid: Type.Boolean(),
          contract: nullable(Type.String()),
          violations: Type.Array(ViolationShape),
        },
        closed,
      ),
    },
  }),
  normalizeDocument: route({
    method: 'POST',
    path: '/v1/documents/normalize',
    tag: 'documents',
    says: 'Repairs what a scope allows to be repaired, lists the repairs, and validates.',
    who: 'caller',
    command: 'normalize',
    body: Type.Object({ as: Type.String(), context: Context, document: AnyDocument }, closed),
    answers: {
      200: Type.Object(
        {
          valid: Type.Boolean(),
          normalized: AnyDocument,
          repairs: Type.Array(
            Type.Object(
              { path: Type.String(), rule: Type.String(), from: AnyDocument, to: AnyDocument },
              { ...closed, required: ['path', 'rule'] },
            ),
          ),
          error: AnyDocument,
        },
        closed,
      ),
    },
  }),
  checkRules: route({
    method: 'POST',
    path: '/v1/rules/check',
    tag: 'rules',
    says: 'Says whether rulesets are admissible, and what is wrong where.',
    who: 'caller',
    command: 'rules check',
    body: Type.Object({ rulesets: Type.Array(AnyDocument, { minItems: 1 }) }, closed),
    answers: {
      200: Type.Object(
        {
          accepted: Type.Boolean(),
          violations: Type.Array(ViolationShape),
          warnings: Type.Array(ViolationShape),
        },
        closed,
      ),
    },
  }),
  evaluateRules: route({
    method: 'POST',
    path: '/v1/rules/eval',
    tag: 'rules',
    says: 'Evaluates rulesets on inputs; a verdict for each candidate action.',
    who: 'caller',
    command: 'rules eval',
    body: Type.Object(
      {
        rulesets: Type.Array(AnyDocument),
        inputs: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
        at: Type.Optional(Type.Integer({ minimum: 0, maximum: 8.64e15 })),
      },
      closed,
    ),
    answers: { 200: Type.Object({ verdicts: Type.Array(AnyDocument) }, closed) },
  }),
}
