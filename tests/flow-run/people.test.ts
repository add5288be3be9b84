/**
 * People in flows, by the real program: work is looked at, approved and rejected; answers are judged before
 * they are accepted, kept until they count, and count only from the person who is asked.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import type { Participant } from '../../src/contracts/index.ts'
import { type Json, Place } from '../cli-gate/place.ts'
import { artifact, checker, edge, flowOf, goal, review, worker } from './acceptance/scene.ts'
import { script, TOOL } from './scripts.ts'

vi.setConfig({ testTimeout: 180_000 })

let place: Place

beforeAll(() => {
  execFileSync(process.execPath, ['tools/build.mjs'])
}, 300_000)

beforeEach(() => {
  place = new Place('people', { runs: 'warm' }).init()
})

afterEach(() => place.remove())

const DRAFT = script(`${TOOL}
writeFileSync('draft.txt', 'line of attempt ' + input.attempt + '\\n')
${artifact("'draft ' + input.attempt + (input.last_review ? ' after ' + input.last_review.summary : '')")}`)

/** Work, a program that reviews it, then a person. */
function twoReviews(human: Extract<Participant, { human: unknown }>['human'] = true): void {
  place.write('a.mjs', DRAFT)
  place.write('c.mjs', script(review('95')))
  const nodes = [
    worker('a', { title: 'Write the draft' }),
    checker('c', 'a', { title: 'First review' }),
    checker('d', 'a', { title: 'Approval', reviewer: { human } }),
    goal('z', 'P2'),
  ]
  const flow = flowOf(nodes, [edge('a', 'c'), edge('c', 'd'), edge('d', 'z')])
  place.write('flow.json', JSON.stringify(flow))
}

function walk(...words: readonly string[]): Json {
  return place.writ(['flow', ...words, '--json']).json
}

it('a yes to an artifact with its files is no yes to the same artifact with other files', () => {
  place.write(
    'a.mjs',
    script(`${TOOL}
writeFileSync('f.txt', input.attempt === 1 ? 'good' : 'evil')
${artifact("'same'")}`),
  )
  const nodes = [worker('a'), checker('c', 'a', { reviewer: { human: true } }), goal('z', 'P2')]
  place.write('flow.json', JSON.stringify(flowOf(nodes, [edge('a', 'c'), edge('c', 'z')])))
  const { run_id } = walk('run', 'flow.json')
  const first = walk('show', run_id, 'c')
  expect(place.writ(['flow', 'show', run_id, 'c']).out).toContain(`version ${first.version}`)
  // A file is in the way of the promotion, so the work runs again.
  place.write('f.txt', 'mine')
  expect(walk('approve', run_id, 'c', '--digest', first.version).version).toBe(first.version)
  expect(walk('resume', run_id).status).toBe('BLOCKED')
  rmSync(join(place.project, 'f.txt'))
  walk('answer', run_id, 'a', 'unblock')
  expect(walk('resume', run_id).status).toBe('WAITING')
  for (const words of [[], ['--digest', first.version], ['--digest', first.artifact.digest]])
    expect(walk('approve', run_id, 'c', ...words).error.code).toBe('flow.not_waiting')
  const second = walk('show', run_id, 'c')
  expect(second.artifact.digest).toBe(first.artifact.digest)
  expect(second.version).not.toBe(first.version)
  expect(walk('approve', run_id, 'c').ok).toBe(true)
  expect(walk('resume', run_id).status).toBe('DONE')
  const { reviews } = walk('report', run_id)
  expect(reviews.map(({ version }: Json) => version)).toEqual([first.version, second.version])
})

it('two reviews in a row: a program, then a person who looks, rejects and approves', () => {
  twoReviews()
  const begun = walk('run', 'flow.json')
  expect([begun.status, begun.stops[0].kind]).toEqual(['WAITING', 'participant'])
  const short = begun.run_id.slice(0, 23)
  const shown = place.writ(['flow', 'show', short, 'Approval'])
  for (const word of ['Write the draft', 'draft 1', 'First review: APPROVE 95', 'draft.txt'])
    expect(shown.out).toContain(word)
  expect(walk('show', short, 'd').changes.map(({ path }: Json) => path)).toContain(
    join(place.project, 'draft.txt'),
  )
  const first = walk('show', short, 'd').version
  expect(existsSync(join(place.project, 'draft.txt'))).toBe(false)
  expect(place.writ(['flow', 'reject', short, 'd']).status).toBe(2)
  // The work may be named in place of its check.
  expect(walk('reject', short, 'a', '--comment', 'name the sources').ok).toBe(true)
  const again = walk('resume', short)
  expect([again.status, again.findings[0].says]).toEqual([
    'WAITING',
    'it was rejected with score 0 by Approval (d): name the sources',
  ])
  // The version that the person looked at is not the one that is asked about now.
  const unseen = walk('approve', short, 'd')
  expect([unseen.error.code, unseen.error.message]).toEqual([
    'flow.not_waiting',
    expect.stringContaining(`the version that you looked at, ${first}, was withdrawn`),
  ])
  expect(unseen.error.hint).toContain(`writ flow show ${begun.run_id} d`)
  expect(place.writ(['flow', 'show', short, 'd']).out).toContain('draft 2 after name the sources')
  // A person who looked at the first version says yes to that one only.
  const other = walk('approve', short, 'd', '--digest', first)
  expect([other.error.code, other.error.hint]).toEqual([
    'flow.not_waiting',
    `look at it: writ flow show ${begun.run_id} d`,
  ])
  const second = walk('show', short, 'd').version
  const said = ['flow', 'approve', short, 'd', '--comment', 'reads well', '--digest', second]
  expect(place.writ(said).out).toContain(`it is about the version ${second}`)
  expect(walk('resume', short).status).toBe('DONE')
  const { reviews, answers, open_work } = walk('report', short)
  expect(open_work).toEqual([{ node_id: 'a', check_id: 'c' }])
  expect(reviews[0].changed).toContain('draft.txt')
  const by = answers[0].principal
  expect(by).toMatch(/^human:/)
  expect(answers.map(({ said, text }: Json) => [said, text])).toEqual([
    ['MODIFY', 'name the sources'],
    ['APPROVE', 'reads well'],
  ])
  expect(reviews.filter((one: Json) => one.check_id === 'd')).toMatchObject([
    { verdict: 'REJECT', by, summary: 'name the sources', check_title: 'Approval' },
    { verdict: 'APPROVE', by, summary: 'reads well' },
  ])
  expect(place.writ(['replay', '--json']).json.ok).toBe(true)
})

it('a person who is named is the only one whose word counts', () => {
  twoReviews('carol')
  const begun = place.writ(['flow', 'run', 'flow.json', '--json'])
  expect(begun.err).toContain('writ principal add human:carol@local')
  expect(begun.err).toContain('`a` says nothing of what it writes')
  expect(begun.err).toContain('`writes: ["out/**"]`')
  const { run_id } = begun.json
  const refused = place.writ(['flow', 'approve', run_id, 'd', '--json'])
  expect([refused.status, refused.json.error.code]).toEqual([1, 'flow.other_person'])
  expect(refused.json.error.hint).toContain('writ token create human:carol@local')
  const [bob, stranger, carol, bot] = [
    'human:bob@local',
    'human:carol@elsewhere',
    'human:carol@local',
    'ai:bot@local',
  ].map((one) => place.token(one))
  const say = (token: string | undefined): Json =>
    place.writ(['flow', 'approve', run_id, 'd', '--json'], { token: token ?? '' }).json
  expect(say(bob).error.code).toBe('flow.other_person')
  expect(say(stranger).error).toMatchObject({
    code: 'flow.other_person',
    message: expect.stringContaining('human:carol@elsewhere'),
  })
  expect(say(bot).error.code).toBe('principal.not_human')
  expect(say(carol).ok).toBe(true)
  expect(walk('resume', run_id).status).toBe('DONE')
  expect(walk('report', run_id).answers[0].principal).toBe('human:carol@local')
})

it('a bare name is a person of the namespace that the home was made with', () => {
  place.remove()
  place = new Place('people', { runs: 'warm' })
  place.writ(['init', '--no-pass', '--name', 'ann', '--namespace', 'north'])
  twoReviews('carol')
  const begun = place.writ(['flow', 'run', 'flow.json', '--json'])
  expect(begun.err).toContain('writ principal add human:carol@north')
  const [other, own] = ['human:carol@local', 'human:carol@north'].map((one) => place.token(one))
  const say = (token: string | undefined): Json =>
    place.writ(['flow', 'approve', begun.json.run_id, 'd', '--json'], { token: token ?? '' }).json
  expect([say(other).error.code, say(own).ok]).toEqual(['flow.other_person', true])
  expect(walk('resume', begun.json.run_id).status).toBe('DONE')
})

it('an answer that is none is refused with the reason; of two the first counts, and is shown', () => {
  twoReviews()
  const { run_id } = walk('run', 'flow.json')
  place.write('bad.json', '{"total_score": 95}')
  const bad = place.writ(['flow', 'answer', run_id, 'd', '--file', 'bad.json', '--json'])
  expect([bad.status, bad.json.error.code]).toEqual([2, 'flow.answer_invalid'])
  expect(bad.json.error.message).toContain('review_id')
  expect(walk('approve', run_id, 'd').ok).toBe(true)
  for (const words of [['flow', 'status', run_id], ['inbox']])
    expect(place.writ(words).out).toContain('human:ann@local answered `approve` at ')
  const second = walk('reject', run_id, 'd', '--comment', 'on second thoughts').error
  expect([second.code, second.message]).toEqual([
    'flow.not_waiting',
    expect.stringMatching(
      /^`d` is answered: human:ann@local answered `approve` at \S+, and the first/,
    ),
  ])
  expect(walk('resume', run_id).status).toBe('DONE')
  const { answers } = walk('report', run_id)
  expect(answers.map(({ said }: Json) => said)).toEqual(['APPROVE'])
})

it('what a person said waits while a resume is refused', () => {
  place.write('a.mjs', script(`${TOOL}writeFileSync('kept.txt', 'as made')\n${artifact("'x'")}`))
  const nodes = [
    worker('a', { subphase_id: '7A', required_files: ['kept.txt'] }),
    worker('b', { executor: { human: true } }),
    goal('z', 'P2'),
  ]
  place.write('flow.json', JSON.stringify(flowOf(nodes, [edge('a', 'b'), edge('b', 'z')])))
  const { run_id } = walk('run', 'flow.json')
  const action = { name: 'out', format: 'md', content: 'by hand' }
  place.write('mine.json', JSON.stringify({ result_type: 'ARTIFACT', artifact: action }))
  expect(walk('answer', run_id, 'b', '--file', 'mine.json').ok).toBe(true)
  place.write('kept.txt', 'altered')
  const refused = walk('resume', run_id)
  expect([refused.status, refused.stops[0].kind]).toEqual(['BLOCKED', 'refused'])
  expect(refused.stops[0].says).toContain('sub-phase 7A')
  expect(place.writ(['inbox']).out).toContain('sub-phase 7A')
  place.write('kept.txt', 'as made')
  expect(walk('resume', run_id).status).toBe('DONE')
  // The work of a person is theirs in the history, that of a program its actor's.
  const history = place.writ(['log']).out
  for (const who of ['human:ann@local at b', 'writer at a'])
    expect(history).toContain(`${who} of ${run_id} `)
})

it('ids that fit several runs are called ambiguous, and the newest is meant without one', () => {
  twoReviews()
  const first = walk('run', 'flow.json')
  const second = walk('run', 'flow.json')
  const both = place.writ(['flow', 'status', 'run-', '--json'])
  expect([both.status, both.json.error.code]).toEqual([2, 'flow.run_ambiguous'])
  expect(both.json.error.message).toContain(first.run_id)
  expect(walk('report').run_id).toBe(second.run_id)
})
