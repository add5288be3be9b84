/**
 * Checking one document: by the contract or scope that is named, else by the one it names itself.
 * The answer of `writ check`, one shape for yes and no.
 */
import { GRAPH_LIMITS, guardValue, isRefusal, nearest, readJson, showName } from '../base/index.ts'
import { findScope, SCOPES } from './agent/scope.ts'
import { OPERATION_TYPES } from './descriptor/operation.ts'
import { type Context, type Contract, field, isObject, type JsonObject } from './kernel/contract.ts'
import { judge } from './kernel/validate.ts'
import type { Violation } from './kernel/violation.ts'
import { CONTRACTS, findContract } from './registry.ts'

export interface CheckAnswer {
  readonly valid: boolean
  readonly contract: string | null
  readonly violations: readonly Violation[]
}

export interface CheckOptions {
  /** Contract or scope; absent means: detect. */
  readonly as?: string
  readonly context?: Context
}

/** Returns the contract of a contract or scope name, and the context that a scope adds. */
export function resolveContract(name: string): { contract: Contract; context: Context } | null {
  const contract = findContract(name)
  if (contract !== null) return { contract, context: {} }
  const scope = findScope(name)
  const found = scope === null ? null : findContract(scope.contract)
  return scope === null || found === null
    ? null
    : { contract: found, context: { scope: scope.name } }
}

/** Every name that `as` may have. */
export function contractNames(): readonly string[] {
  return [...CONTRACTS.map(({ name }) => name), ...SCOPES.map(({ name }) => name)]
}

export function unknownContract(name: string): Violation {
  const near = nearest(name, contractNames())
  const message = `no contract or scope is called ${showName(name)}`
  const refusal = { code: 'document.unknown_contract', path: '', message } as const
  return near === null ? refusal : { ...refusal, hint: `did you mean ${showName(near)}?` }
}

/** Checks a text: strictly read, then judged. */
export function checkText(text: string, options: CheckOptions = {}): CheckAnswer {
  const named = options.as === undefined ? null : resolveContract(options.as)
  if (options.as !== undefined && named === null) return no(null, [unknownContract(options.as)])
  // An undetected document may be a graph; `checkDocument` applies the stricter limits afterwards.
  const reading = readJson(text, named?.contract.limits ?? GRAPH_LIMITS)
  if (!reading.ok) return no(named?.contract.name ?? null, [reading.refusal])
  return checkDocument(reading.value, options)
}

/** Checks any value; what is not a JSON document of a legal size is refused first. */
export function checkDocument(document: unknown, options: CheckOptions = {}): CheckAnswer {
  return check(document, options, true)
}

/** Checks a document that was read strictly and is known to be within every contract's limits. */
export function checkRead(document: unknown, options: CheckOptions = {}): CheckAnswer {
  return check(document, options, false)
}

function check(document: unknown, options: CheckOptions, guarded: boolean): CheckAnswer {
  const name = options.as ?? detectContract(document)
  if (name === null) return no(null, [undetected()])
  const named = resolveContract(name)
  if (named === null) return no(null, [unknownContract(name)])
  const { contract } = named
  const census = guarded ? guardValue(document, contract.limits) : null
  if (census !== null && isRefusal(census)) return no(contract.name, [census])
  const { valid, violations } = judge(contract, document, { ...options.context, ...named.context })
  return { valid, contract: contract.name, violations }
}

function undetected(): Violation {
  return {
    code: 'document.undetected',
    path: '',
    message: 'the document does not say which contract it follows',
    hint: 'name the contract or scope with `--as`',
  }
}

function no(contract: string | null, violations: readonly Violation[]): CheckAnswer {
  return { valid: false, contract, violations }
}

/**
 * Detects the contract of a document when the caller names none: by `type`, else `schema_version`, else
 * `descriptor_version`, else by the keys that only one kind of document has. If none or two contracts
 * fit, the answer is `document.undetected`.
 *
 * The name of the contract, or null when the document does not say.
 */
export function detectContract(document: unknown): string | null {
  if (!isObject(document)) return null
  return byMarker(document) ?? byShape(document)
}

function byMarker(document: JsonObject): string | null {
  for (const marker of ['type', 'schema_version']) {
    const value = field(document, marker)
    if (typeof value !== 'string') continue
    const contract = findContract(value)
    if (contract !== null) {
      // A record's own `type` names the contract of its payload.
      const isRecord = marker === 'type' && contract.isRecord && has(document, 'payload')
      return isRecord ? 'record' : value
    }
    // An operation's `type` says which operation it is, not that it is one.
    if (marker === 'type' && OPERATION_TYPES.includes(value)) return 'operation_v1'
  }
  if (has(document, 'descriptor_version')) return 'action_descriptor'
  return null
}

function byShape(document: JsonObject): string | null {
  const names: string[] = []
  if (has(document, 'type') && has(document, 'payload')) names.push('record')
  if (has(document, 'descriptor') && (has(document, 'operation') || has(document, 'children'))) {
    names.push('proposal_v1')
  }
  if (has(document, 'plan') && has(document, 'nodes') && has(document, 'edges')) {
    names.push('plan_json_v1')
  }
  return names.length === 1 ? (names[0] ?? null) : null
}

function has(document: JsonObject, key: string): boolean {
  return Object.hasOwn(document, key)
}
