/**
 * Reads a request by its route: what is in the address is text and becomes the type that the schema
 * names; every part is then judged like a document, so that a refusal names places and codes.
 */
import type { TSchema } from 'typebox'
import { DOCUMENT_LIMITS, type JsonLimits } from '../base/index.ts'
import {
  type Contract,
  nodeOf,
  type SchemaNode,
  type Violation,
  validate,
} from '../contracts/index.ts'
import type { Route } from './shape/route.ts'

interface RequestParts {
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string | readonly string[]>>
  readonly body: unknown
}

type JudgedRequest =
  | {
      readonly ok: true
      readonly params: Readonly<Record<string, unknown>>
      readonly query: Readonly<Record<string, unknown>>
      readonly body: unknown
    }
  | { readonly ok: false; readonly violations: readonly Violation[] }

/** The contract of each part of a request, made once a route. */
export class RequestReader {
  readonly #params: Contract | null
  readonly #query: Contract
  readonly #body: Contract | null

  constructor(name: string, { params, query, body }: Route) {
    this.#params = params === undefined ? null : contractOf(`${name}.params`, params)
    this.#query = contractOf(`${name}.query`, query ?? NOTHING)
    this.#body = body === undefined ? null : contractOf(`${name}.body`, body)
  }

  read({ params, query, body }: RequestParts): JudgedRequest {
    const asked = typed(this.#query, query)
    const violations = [
      ...placed('/params', this.#params === null ? [] : judged(this.#params, params)),
      ...placed('/query', judged(this.#query, asked)),
      ...placed('/body', this.#body === null ? unexpected(body) : judged(this.#body, body)),
    ]
    if (violations.length > 0) return { ok: false, violations }
    return { ok: true, params, query: asked, body }
  }
}

// The shape of a schema without properties.
const NOTHING = { type: 'object', properties: {}, additionalProperties: false } as TSchema

/** Documents are judged by their own contracts, with limits of their own. */
const LIMITS: JsonLimits = DOCUMENT_LIMITS

function contractOf(name: string, schema: TSchema): Contract {
  // The copy has the shape of the schema, but for references.
  const own = withoutReferences(nodeOf(schema)) as TSchema
  return {
    name,
    title: 'A part of a request.',
    prefix: 'api',
    schema: own,
    checks: [],
    limits: LIMITS,
    isRecord: false,
  }
}

/** References lead to documents of contracts, which the handler judges. */
function withoutReferences(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutReferences)
  if (typeof node !== 'object' || node === null) return node
  if ('$ref' in node) return {}
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, withoutReferences(value)]),
  )
}

function judged(contract: Contract, part: unknown): readonly Violation[] {
  return validate(contract, part).violations
}

function placed(place: string, violations: readonly Violation[]): readonly Violation[] {
  return violations.map((one) => ({ ...one, path: `${place}${one.path}` }))
}

function unexpected(body: unknown): readonly Violation[] {
  if (body === undefined || body === null) return []
  const message = 'this route takes no body'
  return [{ code: 'api.unknown_key', path: '', message }]
}

/** Texts of the query as the schema wants them; what does not fit stays text, and is refused. */
function typed(
  contract: Contract,
  query: RequestParts['query'],
): Readonly<Record<string, unknown>> {
  const { properties = {} } = nodeOf(contract.schema)
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, typedValue(properties[name], value)]),
  )
}

function typedValue(node: SchemaNode | undefined, value: string | readonly string[]): unknown {
  if (typeof value !== 'string') return value
  if (node?.type === 'integer' && /^(?:0|[1-9]\d{0,15})$/.test(value)) return Number(value)
  if (node?.type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  return value
}
