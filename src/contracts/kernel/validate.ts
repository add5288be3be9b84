/**
 * Judging a document against a contract: structure first, then the named semantic checks. Pure and
 * total: any value in, a validation out.
 */
import { guardValue, invariant, isRefusal } from '../../base/index.ts'
import { type Accepts, compileStructure } from './compile.ts'
import { type Context, type Contract, isObject } from './contract.ts'
import { explainStructure } from './structure.ts'
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
  const sound = compiled(contract)(document)
  const report = new Report()
  if (!sound) {
    explainStructure(contract.schema, document, contract.prefix, report)
    invariant(
      !report.isEmpty,
      `${contract.name}: the compiled check refuses what the walker accepts`,
    )
  }
  if (isObject(document)) {
    const subject = { document, context, report, sound }
    for (const check of contract.checks) check(subject)
  }
  return report.finish()
}

/** Compiled once, at the first document: a command that needs one contract pays for one. */
const COMPILED = new WeakMap<Contract, Accepts>()

function compiled(contract: Contract): Accepts {
  let accepts = COMPILED.get(contract)
  if (accepts === undefined) {
    accepts = compileStructure(contract.schema)
    COMPILED.set(contract, accepts)
  }
  return accepts
}
