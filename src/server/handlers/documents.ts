/** Documents and rules of the request; nothing is read or written here. */
import { randomUUID } from 'node:crypto'
import { establish } from '../../constitution/index.ts'
import { admitRulesets, checkDocument, normaliseAndValidate } from '../../contracts/index.ts'
import type { Handler } from './route-call.ts'

export const checkOne: Handler<'checkDocument'> = async ({ body: { as, context, document } }) => {
  const options = {
    ...(as === undefined ? {} : { as }),
    ...(context === undefined ? {} : { context }),
  }
  const { valid, contract, violations } = checkDocument(document, options)
  return { value: { valid, contract, violations } }
}

export const normalizeOne: Handler<'normalizeDocument'> = async ({ body }) => {
  const { as, context = {}, document } = body
  const sources = { nowMs: Date.now(), newId: randomUUID }
  return { value: normaliseAndValidate(as, document, context, sources) }
}

export const checkRules: Handler<'checkRules'> = async ({ body: { rulesets } }) => {
  const { accepted, violations, warnings } = admitRulesets(rulesets)
  return { value: { accepted, violations, warnings } }
}

export const evaluateRules: Handler<'evaluateRules'> = async ({ body }) => {
  const { rulesets, inputs, at = Date.now() } = body
  const verdicts = establish(rulesets.map((document) => ({ document }))).evaluate(inputs, at)
  return { value: { verdicts } }
}
