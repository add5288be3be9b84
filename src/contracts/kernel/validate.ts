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
  const report = new Report()
  const accepts = compiled(contract)
  if (accepts?.(document) !== true) {
    explainStructure(contract.schema, document, contract.prefix, report)
    invariant(
      accepts === null || !report.isEmpty,
      `${contract.name}: the compiled check refuses what the walker accepts`,
    )
  }
  const sound = report.isEmpty
  if (isObject(document)) {
    const subject = { document, context, report, sound }
    for (const check of contract.checks) check(subject)
  }
  return report.finish()
}

/** In a new process, compiling a contract takes as long as walking about ten small documents. */
const WALKED_FIRST = 8

interface Compilation {
  walked: number
  accepts: Accepts | null
}

const COMPILATIONS = new WeakMap<Contract, Compilation>()

/** Returns the compiled check; null for the first documents, which the walker judges alone. */
function compiled(contract: Contract): Accepts | null {
  let known = COMPILATIONS.get(contract)
  if (known === undefined) {
    known = { walked: 0, accepts: null }
    COMPILATIONS.set(contract, known)
  }
  if (known.accepts === null && known.walked++ >= WALKED_FIRST) {
    known.accepts = compileStructure(contract.schema)
  }
  return known.accepts
}
