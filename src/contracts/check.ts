/**
 * Checking one document: by the contract or scope that is named, else by the one it names itself.
 * The answer of `writ check`, one shape for yes and no.
 */
import { GRAPH_LIMITS, guardValue, isRefusal, nearest, readJson, showName } from '../base/index.ts'
import { findScope, SCOPES } from './agent/scope.ts'
import { detectContract } from './detect.ts'
import type { Context, Contract } from './kernel/contract.ts'
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
