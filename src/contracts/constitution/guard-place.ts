/**
 * Judges one guard of a rule in either form and reports every finding where the author wrote it. For a
 * text that is the string of the guard, and the message gives line and column. For a tree it is the
 * exact member.
 */
import type { TSchema } from 'typebox'
import { type Code, DOCUMENT_LIMITS } from '../../base/index.ts'
import { type Accepts, compileStructure } from '../kernel/compile.ts'
import { explainStructure } from '../kernel/structure.ts'
import { Report, type Violation } from '../kernel/violation.ts'
import { GuardSchema } from './guard.ts'
import { type GuardContext, type GuardFindings, judgeGuard } from './guard-judge.ts'
import { type GuardPosition, type GuardSyntax, readGuardText } from './guard-text.ts'
import type { GuardPath } from './paths.ts'

/** What is left of a document's values for the guards in text form, which hide theirs in strings. */
interface Budget {
  values: number
}

export function fullBudget(): Budget {
  return { values: DOCUMENT_LIMITS.valuesMax }
}

interface PlacedGuard {
  /** The tree, or null when the text cannot be read. */
  readonly tree: unknown
  readonly read: ReadonlySet<GuardPath>
}

/** Judges the guard at `pointer`. A tree's structure was judged with its document; a text's is here. */
export function judgePlacedGuard(
  guard: unknown,
  pointer: string,
  surroundings: GuardContext,
  findings: GuardFindings,
  budget: Budget,
): PlacedGuard {
  if (typeof guard !== 'string') {
    return { tree: guard, read: judgeGuard(guard, pointer, surroundings, findings) }
  }
  const reading = readGuardText(guard, budget.values)
  if (!reading.ok) {
    const { place, message, hint } = reading.problem
    findings.violations.add('ruleset.shape', pointer, `${message} (${sayPlace(place)})`, hint)
    return { tree: null, read: new Set() }
  }
  const { syntax } = reading
  budget.values -= syntax.values
  const inner = innerFindings(findings)
  if (!hasGuardStructure(syntax.tree)) {
    explainStructure(GuardSchema, syntax.tree, 'ruleset', inner.violations)
  }
  const read = judgeGuard(syntax.tree, '', surroundings, inner)
  tellInText(inner.violations, syntax, pointer, findings.violations)
  tellInText(inner.warnings, syntax, pointer, findings.warnings)
  return { tree: syntax.tree, read }
}

/** Findings whose places are still to be translated; the hints are rationed with those outside. */
export function innerFindings({ violations, warnings }: GuardFindings): GuardFindings {
  return { violations: new InnerReport(violations), warnings: new InnerReport(warnings) }
}

class InnerReport extends Report {
  readonly #outer: Report

  constructor(outer: Report) {
    super()
    this.#outer = outer
  }

  override guess(name: string, legal: Iterable<string>): string | null {
    return this.#outer.guess(name, legal)
  }
}

/** Compiled at the first guard in text form, as contracts are at their first document. */
const COMPILED = new WeakMap<TSchema, Accepts>()

function hasGuardStructure(tree: unknown): boolean {
  const accepts = COMPILED.get(GuardSchema) ?? compileStructure(GuardSchema)
  COMPILED.set(GuardSchema, accepts)
  return accepts(tree)
}

const TOLD_MAX = 3

/** A text is one value, so its findings of one code become one violation with several places. */
function tellInText(inner: Report, syntax: GuardSyntax, pointer: string, outer: Report): void {
  if (inner.isEmpty) return
  const byCode = new Map<Code, Violation[]>()
  for (const violation of inner.finish().violations) {
    const same = byCode.get(violation.code)
    if (same === undefined) byCode.set(violation.code, [violation])
    else same.push(violation)
  }
  for (const [code, violations] of byCode) {
    const told = violations
      .slice(0, TOLD_MAX)
      .map(({ message, path }) => `${message} (${sayPlace(syntax.locate(path))})`)
    const more = violations.length - told.length
    const rest = more > 0 ? `; and ${more} more` : ''
    outer.add(code, pointer, `${told.join('; ')}${rest}`, violations[0]?.hint)
  }
}

function sayPlace({ line, column }: GuardPosition): string {
  return `line ${line}, column ${column}`
}
