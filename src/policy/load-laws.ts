/**
 * Loads a law file: reads the text, judges it by its contract, compiles every expression, and
 * checks conflicts across phases. Returns all faults with their places in the file. A file with a
 * fault gives no laws.
 */
import { at, type Code, nearest, showName } from '../base/index.ts'
import {
  field,
  judge,
  type LawDocument,
  type LawsFile,
  type LawTier,
  lawsFileContract,
  type Violation,
} from '../contracts/index.ts'
import { compileExpression } from '../expression/index.ts'
import { byRank } from './conflict.ts'
import {
  BUILT_IN_LAWS,
  DEFAULT_GRANTS,
  DEFAULT_LAW_DOCUMENTS,
  FIRST_BUILT_IN_LAWS,
} from './default-laws.ts'
import { GATE_ENVIRONMENT, RESULT_NAMES } from './environments.ts'
import { isEarly, type Law, type LawSet, settingsOf } from './law.ts'
import { type LawText, readLawText, type TextPlace } from './law-text.ts'
import { findUnguarded, OPTIONAL_HOSTS } from './law-warnings.ts'

export interface LawFault extends TextPlace {
  readonly code: Code
  /** JSON Pointer into the file. */
  readonly path: string
  readonly message: string
  readonly hint?: string
}

export type ParsedLaws =
  | {
      readonly ok: true
      readonly laws: LawSet
      /** Legal, and probably not what was meant. */
      readonly warnings: readonly LawFault[]
    }
  | { readonly ok: false; readonly faults: readonly LawFault[] }

/** What a law file is read over: laws that no file changes, and laws that it may. */
export interface LawGround {
  readonly builtIn: readonly LawDocument[]
  readonly defaults: readonly LawDocument[]
}

/** For a file that is whole by itself. */
export const WHOLE: LawGround = { builtIn: BUILT_IN_LAWS, defaults: [] }
export const LAYERED: LawGround = { builtIn: BUILT_IN_LAWS, defaults: DEFAULT_LAW_DOCUMENTS }
/** As it was up to evaluator 2. */
export const FIRST_GROUND: LawGround = { builtIn: FIRST_BUILT_IN_LAWS, defaults: [] }

export async function loadLaws(text: string, ground: LawGround = WHOLE): Promise<ParsedLaws> {
  const reading = await readLawText(text)
  if (!reading.ok) {
    const { ok: _, ...fault } = reading
    return { ok: false, faults: [fault] }
  }
  const value = layered(reading.value, ground)
  const { violations } = judge(lawsFileContract, alone(value, ground))
  const faults = violations.map((violation) => placed(violation, reading))
  reportDisabled(reading, ground, faults)
  const documents = field(value, 'laws')
  const laws = Array.isArray(documents) ? compileLaws(documents, reading, faults) : []
  // Only a file without any other fault has every law at its own place.
  if (faults.length === 0) reportPhases(laws, reading, faults)
  if (faults.length > 0) return { ok: false, faults: faults.sort(byPlace) }
  // The contract has judged it.
  const file = value as LawsFile
  return { ok: true, laws: lawsOf(laws, file, ground), warnings: warningsOf(laws, file, reading) }
}

/** The document with the default laws that it neither replaces nor turns off, behind its own. */
function layered(document: unknown, { defaults }: LawGround): unknown {
  const own = field(document, 'laws')
  if (defaults.length === 0 || !Array.isArray(own) || field(document, 'replace') === true) {
    return document
  }
  const disabled = field(document, 'disable')
  const gone = new Set<unknown>([
    ...own.map((law: unknown) => field(law, 'policy_id')),
    ...(Array.isArray(disabled) ? disabled : []),
  ])
  const kept = defaults.filter(({ policy_id }) => !gone.has(policy_id))
  // It has a field `laws`, so it is an object.
  return { ...(document as object), laws: [...own, ...kept] }
}

/** The document as the contract judges it: without default laws below it, none can be named. */
function alone(document: unknown, { defaults }: LawGround): unknown {
  const isPlain = typeof document === 'object' && document !== null && !Array.isArray(document)
  if (defaults.length > 0 || !isPlain || 'replace' in document) return document
  return { ...document, replace: true }
}

/** What is turned off is a default law or grant; a misspelt id would leave it in force unseen. */
function reportDisabled(reading: LawText, { defaults }: LawGround, faults: LawFault[]): void {
  const disabled = field(reading.value, 'disable')
  if (defaults.length === 0 || !Array.isArray(disabled)) return
  const grants = DEFAULT_GRANTS.map(({ grant_id }) => grant_id)
  const known = [...defaults.map(({ policy_id }) => policy_id), ...grants]
  for (const [index, id] of disabled.entries()) {
    if (typeof id !== 'string' || known.includes(id)) continue
    const path = `/disable/${index}`
    const message = `there is no default law or grant ${showName(id)}`
    const near = nearest(id, known)
    const hint = near === null ? {} : { hint: `did you mean ${showName(near)}?` }
    faults.push({ code: 'laws.unknown_ref', path, message, ...hint, ...reading.placeOf(path) })
  }
}

function lawsOf(laws: readonly Law[], file: LawsFile, { builtIn, defaults }: LawGround): LawSet {
  return {
    laws: [...compiled(builtIn), ...laws],
    defaults,
    grants: file.grants ?? [],
    hidden: file.settings?.hidden ?? [],
    shown: file.settings?.shown ?? [],
    isWhole: file.replace === true,
    disabled: file.disable ?? [],
    ephemeral: file.ephemeral ?? [],
    settings: settingsOf(file.settings),
  }
}

/**
 * The same from the value that a text stood for, when the text was loaded without a fault before:
 * without places, which only faults need. Null when it is not such a value.
 */
export function lawsOfDocument(document: unknown, ground: LawGround = WHOLE): LawSet | null {
  const value = layered(document, ground)
  if (!judge(lawsFileContract, alone(value, ground)).valid) return null
  // The contract has judged it.
  const file = value as LawsFile
  const laws: Law[] = []
  for (const each of file.laws) {
    const law = RESERVED.has(each.policy_id) ? null : compileLaw(each, false)
    if (law === null || 'faults' in law) return null
    laws.push(law)
  }
  return lawsOf(laws, file, ground)
}

/** The laws that hold in a home without a file. */
export function bareLaws(ground: LawGround = WHOLE): LawSet {
  return lawsOfDocument({ laws: [] }, ground) ?? lawsOf([], { laws: [] }, WHOLE)
}

function placed(violation: Violation, reading: LawText): LawFault {
  const { path, code } = violation
  const isKey = code.endsWith('.unknown_key')
  return { ...violation, ...(isKey ? reading.placeOfKey(path) : reading.placeOf(path)) }
}

function byPlace(one: LawFault, other: LawFault): number {
  return one.line - other.line || one.column - other.column || (one.code < other.code ? -1 : 1)
}

const RESERVED: ReadonlySet<unknown> = new Set(BUILT_IN_LAWS.map(({ policy_id }) => policy_id))

/** Compiles what can be compiled; expressions of otherwise broken laws are looked at too. */
function compileLaws(
  documents: readonly unknown[],
  reading: LawText,
  faults: LawFault[],
): readonly Law[] {
  const laws: Law[] = []
  for (const [index, document] of documents.entries()) {
    const id = field(document, 'policy_id')
    if (RESERVED.has(id)) {
      const path = `/laws/${index}/policy_id`
      const message = `${showName(String(id))} is the name of a law that is built in`
      faults.push({ code: 'laws.reserved_id', path, message, ...reading.placeOf(path) })
    }
    const source = field(document, 'policy_expr')
    if (typeof source !== 'string' || source === '') continue
    // If the document breaks the contract, there are faults already and the law is not used.
    const law = compileLaw(document as LawDocument, false)
    if ('faults' in law) faults.push(...expressionFaults(law.faults, index, reading))
    else laws.push(law)
  }
  return laws
}

type Compiled = Extract<ReturnType<typeof compileExpression>, { readonly ok: false }>

function expressionFaults(
  faults: Compiled['faults'],
  index: number,
  reading: LawText,
): readonly LawFault[] {
  const path = `/laws/${index}/policy_expr`
  return faults.map(({ code, message, hint, offset }) => {
    const fault = { code, path, message, ...reading.placeInside(path, offset) }
    return hint === undefined ? fault : { ...fault, hint }
  })
}

function compileLaw(document: LawDocument, isBuiltIn: boolean): Law | Compiled {
  const compilation = compileExpression(document.policy_expr, GATE_ENVIRONMENT)
  if (!compilation.ok) return compilation
  const { expression } = compilation
  return {
    policyId: document.policy_id,
    // The contract admits no other tier; a broken law is compiled for its faults alone.
    tier: document.tier as LawTier,
    action: document.violation_action,
    priority: document.priority,
    conflictsWith: document.conflicts_with ?? [],
    overrideMode: document.override_mode,
    expression,
    approvals: document.approvals ?? 1,
    readsResult: [...expression.names].some((name) => RESULT_NAMES.has(name)),
    isBuiltIn,
    isDefault: DEFAULT_LAW_DOCUMENTS.includes(document),
    text: document.text ?? null,
  }
}

function compiled(documents: readonly LawDocument[]): readonly Law[] {
  return documents
    .map((document) => compileLaw(document, true))
    .filter((law): law is Law => !('faults' in law))
}

const TYPES_SHOWN = 3

function warningsOf(laws: readonly Law[], file: LawsFile, reading: LawText): readonly LawFault[] {
  return [...lawlessWarning(laws, file, reading), ...unguardedWarnings(laws, reading)]
}

/** `replace: true` turns every default law off; a file that has none itself asks almost nothing. */
function lawlessWarning(
  laws: readonly Law[],
  file: LawsFile,
  reading: LawText,
): readonly LawFault[] {
  if (file.replace !== true || laws.length > 0) return []
  const path = '/replace'
  const message = '`replace: true` turns every default law off, and this file has no law of its own'
  const hint = 'remove `replace: true` to keep the default laws, or write laws under `laws:`'
  return [{ code: 'laws.none', path, message, hint, ...reading.placeOf(path) }]
}

/** Laws that would break on operations which lack what they read. */
function unguardedWarnings(laws: readonly Law[], reading: LawText): readonly LawFault[] {
  return laws.flatMap((law, index) => {
    const found = findUnguarded(law.expression)
    if (found === null) return []
    const path = `/laws/${index}/policy_expr`
    const shown = found.types.slice(0, TYPES_SHOWN).join(', ')
    const more = found.types.length - TYPES_SHOWN
    const types = more > 0 ? `${shown} and ${more} more` : shown
    const isHosts = found.path === OPTIONAL_HOSTS
    const acts = isHosts ? 'acts without a network' : types
    const message = `${showName(found.path)} may be missing in ${acts}, and then the law counts as broken`
    const presence = showName(`has(${found.path}) &&`)
    const hint = `ask first, with ${isHosts ? '' : `${showName("operation.type == '…' &&")} or `}${presence}`
    return [{ code: 'laws.unguarded' as const, path, message, hint, ...reading.placeOf(path) }]
  })
}

/** A law that is judged early cannot yield to one that is judged late: it has spoken by then. */
function reportPhases(laws: readonly Law[], reading: LawText, faults: LawFault[]): void {
  const byId = new Map(laws.map((law) => [law.policyId, law]))
  for (const [index, law] of laws.entries()) {
    for (const [place, id] of law.conflictsWith.entries()) {
      const other = byId.get(id)
      if (other === undefined) continue
      const [winner, loser] = byRank(law, other) < 0 ? [law, other] : [other, law]
      if (isEarly(winner) || !isEarly(loser) || winner.overrideMode === 'merge') continue
      const path = at(`/laws/${index}/conflicts_with`, place)
      const names = `${showName(winner.policyId)} is judged after the rehearsal, ${showName(loser.policyId)} before it`
      const message = `${names}, so it comes too late to override it`
      faults.push({ code: 'laws.phase', path, message, ...reading.placeOf(path) })
    }
  }
}
