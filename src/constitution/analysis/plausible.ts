/**
 * Which worlds are documents that keep their contracts. Proofs are about all inputs, since none is
 * refused; but a witness is easier to read when it is a valid document, so one is looked for first.
 */
import type { ScalarPath, SetPath } from '../../contracts/index.ts'
import type { Formulas } from './formula.ts'
import type { Literal } from './solver.ts'
import { vocabularyOf } from './witness.ts'
import type { World } from './world.ts'

const WORDS: readonly ScalarPath[] = [
  'problem_state.problem_type',
  'problem_state.confidence',
  'problem_state.problem_scope',
  'problem_state.state_layer_hint',
  'problem_state.rate_class_hint',
]

const SETS: readonly SetPath[] = [
  'problem_state.uncertainty_sources[]',
  'uncertainty_envelope.uncertainty_sources[]',
]

const PRESENT = [
  'permission_set.subjectRef.projectId',
  'permission_set.scale',
  'problem_state.window.startTs',
  'problem_state.window.endTs',
  'permission_set.window.startTs',
  'permission_set.window.endTs',
] as const

export function plausible(formulas: Formulas, world: World): Literal {
  return formulas.every([
    ...PRESENT.map((path) => world.present(path)),
    ...WORDS.flatMap((path) => wordIsLegal(formulas, world, path)),
    ...SETS.flatMap((path) => setIsLegal(world, path)),
    namesASource(formulas, world),
  ])
}

function wordIsLegal(formulas: Formulas, world: World, path: ScalarPath): readonly Literal[] {
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

function setIsLegal(world: World, path: SetPath): readonly Literal[] {
  const domain = world.set(path)
  const legal = new Set(vocabularyOf(path))
  return [
    domain.present,
    ...domain.words.filter((word) => !legal.has(word)).map((word) => -domain.has(word)),
  ]
}

/** When every source is mentioned, one of them has to be there. */
function namesASource(formulas: Formulas, world: World): Literal {
  const domain = world.set('problem_state.uncertainty_sources[]')
  const spare = vocabularyOf('problem_state.uncertainty_sources[]').some(
    (word) => !domain.words.includes(word),
  )
  return spare ? formulas.yes : formulas.some(domain.words.map((word) => domain.has(word)))
}
