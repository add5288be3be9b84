/**
 * Describes the worlds whose documents keep their contracts. Proofs cover all inputs, because the
 * kernel refuses none. A witness is easier to read as a valid document, so the search tries these
 * worlds first.
 */
import { ACTION_CODES, type ScalarPath, type SetPath } from '../../contracts/index.ts'
import type { Formulas } from './formula.ts'
import type { SolverLiteral } from './solver.ts'
import { vocabularyOf } from './witness.ts'
import { CANDIDATES, type World, type WorldPlan } from './world.ts'

const WORDS: readonly ScalarPath[] = [
  'problem_state.problem_type',
  'problem_state.confidence',
  'problem_state.problem_scope',
  'problem_state.state_layer_hint',
  'problem_state.rate_class_hint',
]

const SOURCES = 'problem_state.uncertainty_sources[]'

const SETS: readonly SetPath[] = [SOURCES, 'uncertainty_envelope.uncertainty_sources[]']

const PRESENT = [
  'permission_set.subjectRef.projectId',
  'permission_set.scale',
  'problem_state.window.startTs',
  'problem_state.window.endTs',
  'permission_set.window.startTs',
  'permission_set.window.endTs',
] as const

export function plausible(formulas: Formulas, world: World, plan: WorldPlan): SolverLiteral {
  const { pairs } = plan.mentions
  const compared = new Set(pairs.flat())
  return formulas.every([
    ...PRESENT.map((path) => world.present(path)),
    ...idIsLong(world),
    ...WORDS.flatMap((path) => wordIsLegal(formulas, world, path)),
    ...SETS.flatMap((path) => setIsLegal(world, path, new Set(vocabularyOf(path)))),
    ...setIsLegal(world, CANDIDATES, new Set([...ACTION_CODES, ...plan.actionCodes])),
    // No word is in two vocabularies, so compared sets share no word that the rules do not mention.
    ...pairs.filter(([left, right]) => left !== right).map((pair) => -world.shared(...pair)),
    ...(compared.has(CANDIDATES) ? [-world.shared(CANDIDATES, CANDIDATES)] : []),
    namesASource(formulas, world, compared.has(SOURCES)),
  ])
}

const ID_CHARACTERS_MIN = 8

/** Excludes ids of the problem state that are shorter than the contract allows. */
function idIsLong(world: World): readonly SolverLiteral[] {
  const domain = world.scalar('uncertainty_envelope.problem_state_ref')
  const short = domain.values.filter((value) => [...value].length < ID_CHARACTERS_MIN)
  return short.map((value) => -domain.equal(value))
}

function wordIsLegal(formulas: Formulas, world: World, path: ScalarPath): readonly SolverLiteral[] {
  const domain = world.scalar(path)
  const legal = new Set(vocabularyOf(path))
  const foreign = domain.values
    .filter((value) => !legal.has(value))
    .map((value) => -domain.equal(value))
  const named = domain.values.filter((value) => legal.has(value))
  const spare = named.length < legal.size
  const chosen = spare ? [] : [formulas.some(named.map((value) => domain.equal(value)))]
  return [domain.present, ...foreign, ...chosen]
}

function setIsLegal(
  world: World,
  path: SetPath,
  legal: ReadonlySet<string>,
): readonly SolverLiteral[] {
  const domain = world.set(path)
  return [
    domain.present,
    ...domain.words.filter((word) => !legal.has(word)).map((word) => -domain.has(word)),
  ]
}

/** Requires a source: a mentioned one, or another word of the vocabulary if there is one. */
function namesASource(formulas: Formulas, world: World, isCompared: boolean): SolverLiteral {
  const domain = world.set(SOURCES)
  const named = domain.words.map((word) => domain.has(word))
  if (vocabularyOf(SOURCES).every((word) => domain.words.includes(word)))
    return formulas.every([
      formulas.some(named),
      ...(isCompared ? [-world.shared(SOURCES, SOURCES)] : []),
    ])
  return isCompared ? formulas.some([...named, world.shared(SOURCES, SOURCES)]) : formulas.yes
}
