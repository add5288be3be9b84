/**
 * Judging a document against a contract: structure first, then the named semantic checks. Pure and
 * total: any value in, a validation out.
 */
import { guardValue, isRefusal } from '../../base/index.ts'
import { type Context, type Contract, isObject } from './contract.ts'
import { judgeStructure } from './structure.ts'
import { Report, type Validation } from './violation.ts'

const NO_CONTEXT: Context = Object.freeze({})

/** Judges any value; what is not a JSON document is refused first (C-3). */
export function validate(
  contract: Contract,
  document: unknown,
  context: Context = NO_CONTEXT,
): Validation {
  const census = guardValue(document, contract.limits)
  if (!isRefusal(census)) return judge(contract, document, context)
  const report = new Report()
  report.add(census.code, census.path, census.message, census.hint)
  return report.finish()
}

/** Judges a document that the strict reader, or the guard, has passed within the contract's limits. */
export function judge(
  contract: Contract,
  document: unknown,
  context: Context = NO_CONTEXT,
): Validation {
  const report = new Report()
  judgeStructure(contract.schema, document, contract.prefix, report)
  if (isObject(document)) {
    const subject = { document, context, report, sound: report.isEmpty }
    for (const check of contract.checks) check(subject)
  }
  return report.finish()
}
