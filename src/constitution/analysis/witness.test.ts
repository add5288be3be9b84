/** Windows of a witness: they run forwards, also where scopes of different rules meet in one. */
import { expect, it } from 'vitest'
import { GUARD_PATHS, type GuardPath } from '../../contracts/index.ts'
import { compileGuard } from '../kernel/matcher.ts'
import { type Inputs, viewOf } from '../kernel/projection.ts'
import { SolverQuery } from './cone.ts'
import { Look, Mentions } from './domain.ts'
import { Formulas } from './formula.ts'
import { witnessInputs } from './witness.ts'
import { World } from './world.ts'

const ALL = viewOf(GUARD_PATHS)
const windowsMatch = compileGuard({ op: 'WINDOW_MATCH' }, ALL.slotOf)
const scoped = (startTs: number, endTs: number) => ({
  ruleId: 'r',
  ruleVersion: '1.0.0',
  inputsUsed: [],
  scope: { window: { startTs, endTs } },
  guard: { op: 'WINDOW_MATCH' } as const,
  verdict: 'ALLOW' as const,
})

/** The witness of a world that holds the later start and the earlier end of two scopes. */
function crossed(fresh: GuardPath | null): Inputs {
  const formulas = new Formulas()
  const mentions = new Mentions()
  mentions.addRule(scoped(10, 20))
  mentions.addRule(scoped(3, 5))
  const plan = { mentions, actionCodes: ['AO-APPLY'] }
  const world = new World(formulas, plan)
  const beside = fresh === null ? world : new World(formulas, plan, world, fresh)
  const asserted = [
    beside.moment('startTs').equal(10),
    beside.moment('endTs').equal(5),
    beside.windowsMatch(),
    ...(fresh === null ? [] : [-world.present(fresh)]),
  ]
  const answer = new SolverQuery(formulas, asserted).ask([], 1_000_000)
  if (answer.kind !== 'satisfiable') throw new Error('there is such a world')
  return witnessInputs(world, beside, new Look(formulas, answer.isTrue), plan)
}

// biome-ignore lint/suspicious/noExplicitAny: a witness is read as a document
type Document = any

it('runs forwards where a start and an end of two scopes meet', () => {
  expect(windowsMatch(ALL.project(crossed(null)))).toBe(true)
})

it.each(['startTs', 'endTs'] as const)('can be completed where %s is missing', (leaf) => {
  const inputs = structuredClone(crossed(`permission_set.window.${leaf}`)) as Document
  expect(inputs.permission_set.window[leaf]).toBe(undefined)
  expect(windowsMatch(ALL.project(inputs))).toBe(false)
  inputs.permission_set.window[leaf] = inputs.problem_state.window[leaf]
  expect(windowsMatch(ALL.project(inputs))).toBe(true)
})
