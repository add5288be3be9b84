/**
 * What a session may ask of its models, and what it cost by the prices that a person wrote down (S-7).
 * Money is counted in millionths of the unit of the prices: a price of a million tokens is then the cost
 * of one.
 */
import type { TokenUse } from './usage.ts'

/** What one session may use; null without a bound. */
export interface GatewayBudget {
  readonly requests: number | null
  readonly tokens: number | null
  /** In millionths. */
  readonly cost: number | null
}

export type BoundedUse = keyof GatewayBudget

export const NO_BUDGET: GatewayBudget = { requests: null, tokens: null, cost: null }

/** What a million tokens cost. */
export interface ModelPrice {
  /** The name of a model; `*` matches any letters. */
  readonly model: string
  readonly input: number
  readonly output: number
  /** Of tokens that the model's host had kept from before; those of `input` without it. */
  readonly cached_input?: number
}

export interface GatewayUse extends TokenUse {
  readonly requests: number
  readonly failures: number
  readonly milliseconds: number
  /** In millionths; of the requests with a price. */
  readonly cost: number
  /** Answered requests that used tokens and whose model has no price. */
  readonly unpriced: number
}

export const NO_GATEWAY_USE: GatewayUse = {
  requests: 0,
  failures: 0,
  milliseconds: 0,
  input: 0,
  cached: 0,
  output: 0,
  cost: 0,
  unpriced: 0,
}

export interface SpentBudget {
  readonly budget: BoundedUse
  readonly words: string
}

/** Null while there is something left of each. */
export function spentBudget(
  { requests, tokens, cost }: GatewayBudget,
  use: GatewayUse,
): SpentBudget | null {
  if (requests !== null && use.requests >= requests) {
    const words = `the session has used its ${requests === 1 ? '1 request' : `${requests} requests`} to the model`
    return { budget: 'requests', words }
  }
  const used = use.input + use.output
  if (tokens !== null && used >= tokens) {
    return { budget: 'tokens', words: `the session has used ${used} of its ${tokens} tokens` }
  }
  if (cost === null || use.cost < cost) return null
  const words = `the session has used ${costText(use.cost)} of its cost of ${costText(cost)}`
  return { budget: 'cost', words }
}

/** The model of a call, by its body or, for Gemini, by its path. */
export function modelOf(body: unknown, path: string): string | null {
  const named =
    typeof body === 'object' && body !== null ? (body as { model?: unknown }).model : undefined
  if (typeof named === 'string') return named
  return /\/models\/([^/:?]+)/.exec(path)?.[1] ?? null
}

/** The first price that fits. */
export function priceOf(prices: readonly ModelPrice[], model: string | null): ModelPrice | null {
  if (model === null) return null
  return prices.find((price) => fits(price.model, model)) ?? null
}

/** In millionths, rounded up. */
export function costOf(price: ModelPrice, { input, cached, output }: TokenUse): number {
  const kept = Math.min(cached, input)
  const cost =
    (input - kept) * price.input +
    kept * (price.cached_input ?? price.input) +
    output * price.output
  return Math.ceil(cost)
}

const MILLION = 1_000_000

/** With as many decimals as are there, but two at least. */
export function costText(millionths: number): string {
  const text = (millionths / MILLION).toFixed(6)
  return text.replace(/(\.\d\d\d*?)0+$/, '$1')
}

function fits(pattern: string, model: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.\\+?^${}()|[\]]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`).test(model)
}
