/** `writ flow plan` (F-14): plans and reviews by programs, each answer a fact, only an approved plan is given. */
import { expect, it } from 'vitest'
import { makePlan } from '../../src/runs/make-plan.ts'
import type { RunPlace } from './place.ts'
import { placeEach } from './place-each.ts'
import { script } from './scripts.ts'

let place: RunPlace

placeEach('planning', (made) => {
  place = made
})

const PLAN = `{ plan: { title: input.goal, root_task_id: 'root' }, tasks: [
  { id: 'root', type: 'goal', name: input.goal },
  { id: 'do', type: 'action', name: input.last_review ? 'do it well' : 'do it', owner: 'maker' }], links: [] }`

const REVIEW = (score: string) =>
  script(`answer({ review_id: input.review_id, artifact_digest: input.artifact.digest, total_score: ${score},
  action_required: 'MODIFY', summary: 's', breakdown: [], suggestions: [{ priority: 'HIGH', change: 'do it well', steps: [], acceptance_criteria: 'well' }] })`)

function make() {
  return makePlan(
    place.host(),
    {
      goal: 'a word counter',
      workspace: place.workspace,
      planner: { command: ['node', 'planner.mjs'] },
      reviewer: { command: ['node', 'reviewer.mjs'] },
      owners: ['maker', 'judge'],
    },
    { abort: new AbortController().signal },
  )
}

async function recorded(planningId: string): Promise<readonly string[]> {
  const page = await place.ledger.store.find({
    stream: 'main',
    run: planningId,
    limit: 100,
    order: 'oldest_first',
  })
  return page.facts.map(({ text }) => {
    const { node_id, answer } = JSON.parse(text).record.payload
    return `${node_id} ${answer === null ? 'invalid' : answer.kind}`
  })
}

it('goes on with the suggestions until the score is enough', async () => {
  place.write('planner.mjs', script(`answer(${PLAN})`))
  place.write(
    'reviewer.mjs',
    REVIEW(`JSON.stringify(input.artifact.plan).includes('well') ? 92 : 60`),
  )
  const planned = await make()
  expect([planned.plans, planned.reviews, planned.review?.total_score]).toEqual([2, 2, 92])
  expect(planned.plan?.nodes.map(({ title }) => title)).toEqual(['a word counter', 'do it well'])
  expect(await recorded(planned.planningId)).toEqual([
    'plan plan',
    'plan_review review',
    'plan plan',
    'plan_review review',
  ])
}, 60_000)

it('gives up after three plans; an invalid one counts, and its error goes along', async () => {
  place.write(
    'planner.mjs',
    script(`if (input.attempt === 1) console.log('no plan'); else answer(${PLAN})`),
  )
  place.write('reviewer.mjs', REVIEW('89'))
  const planned = await make()
  expect([planned.plans, planned.reviews, planned.plan]).toEqual([3, 2, null])
  expect((await recorded(planned.planningId))[0]).toBe('plan invalid')
}, 60_000)

it('asks for a review at most four times for each plan', async () => {
  place.write('planner.mjs', script(`answer(${PLAN})`))
  place.write('reviewer.mjs', script(`answer({ review_id: 'guess', total_score: 100 })`))
  const planned = await make()
  expect([planned.plans, planned.reviews, planned.plan]).toEqual([3, 12, null])
}, 60_000)
