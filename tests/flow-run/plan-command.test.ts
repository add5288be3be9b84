/** `writ flow plan` as a process: planner and reviewer in the sandbox, a plan that can be run at once. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { type Json, Place } from '../cli-gate/place.ts'
import { script, TOOL } from './scripts.ts'

vi.setConfig({ testTimeout: 120_000 })

let place: Place

beforeAll(() => {
  execFileSync(process.execPath, ['tools/build.mjs'])
}, 300_000)

beforeEach(() => {
  place = new Place('plan', { runs: 'warm' }).init()
  place.write('participants.yaml', PARTICIPANTS)
  place.write('planner.mjs', planner(`writeFileSync('left-by-planner.txt', 'x')`))
})

afterEach(() => place.remove())

const PARTICIPANTS = `type: participants_v1
participants:
  maker: { command: [node, maker.mjs] }
  judge: { command: [node, judge.mjs] }
  planner: { command: [node, planner.mjs] }
reviewer: judge
planner: planner
`

/** Does something else first. */
const planner = (first: string) =>
  script(`${first}
answer({ plan: { title: input.goal, root_task_id: 'root' }, tasks: [
  { id: 'root', type: 'goal', name: input.goal },
  { id: 'do', type: 'action', name: input.last_review ? 'do it well' : 'do it', owner: 'maker' }], links: [] })`)

/** Of plans and of artifacts. */
const judge = (score: string) =>
  script(`answer({ review_id: input.review_id, artifact_digest: input.artifact_digest, total_score: ${score},
  action_required: 'MODIFY', summary: 's', breakdown: [], suggestions: [{ priority: 'HIGH', change: 'say more', steps: [], acceptance_criteria: 'more' }] })`)

function plan(env: Record<string, string> = {}): Json {
  const order = ['--goal', 'a word counter', '--participants', 'participants.yaml']
  const ended = place.writ(['flow', 'plan', ...order, '--out', 'plan.json', '--json'], { env })
  return { ...ended.json, exit: ended.status, err: ended.err }
}

it('a refused planning says how an output that is no plan begins', () => {
  place.write('judge.mjs', judge('95'))
  place.write('planner.mjs', "console.log('nojson')")
  const order = ['--goal', 'g', '--participants', 'participants.yaml', '--out', 'plan.json']
  const { status, out } = place.writ(['flow', 'plan', ...order])
  expect(status).toBe(1)
  expect(out).toContain(
    'the last answer was no plan: there is no JSON object in the output, which begins with "nojson"',
  )
  expect(out).not.toContain('SCHEMA_MISMATCH')
})

it('an approved plan is written, and nothing else; it runs, and everything replays', () => {
  place.write('judge.mjs', judge(`JSON.stringify(input).includes('"do it"') ? 60 : 95`))
  place.write(
    'maker.mjs',
    script(
      `${TOOL}answer({ result_type: 'ARTIFACT', artifact: { name: 'out', format: 'md', content: 'made' } })`,
    ),
  )
  const made = plan()
  expect(made).toMatchObject({ exit: 0, approved: true, plans: 2, reviews: 2, score: 95 })
  expect(place.has('left-by-planner.txt')).toBe(false)
  const written = JSON.parse(place.text('plan.json'))
  expect(written.plan.plan_id).toBe(made.plan_id)
  const run = ['flow', 'run', 'plan.json', '--participants', 'participants.yaml', '--json']
  const ended = place.writ(run)
  expect([ended.status, ended.json.status]).toEqual([0, 'DONE'])
  const replay = place.writ(['replay', '--json'])
  expect([replay.status, replay.json.ok, replay.json.differences]).toEqual([0, true, []])
  expect(place.writ(['ledger', 'verify', '--json']).json.ok).toBe(true)
})

it('a plan that no reviewer approves is refused with the reasons, and no file is written', () => {
  place.write('judge.mjs', judge('89'))
  expect(plan()).toMatchObject({
    exit: 1,
    approved: false,
    plans: 3,
    reviews: 3,
    code: 'flow.plan_refused',
    review: { suggestions: [{ change: 'say more' }] },
  })
  expect(place.has('plan.json')).toBe(false)
})

it('a refusal says in words why the last answer was no plan, and what comes next', () => {
  place.write('judge.mjs', judge('95'))
  place.write('planner.mjs', script('process.exit(7)'))
  const order = ['--goal', 'a', '--participants', 'participants.yaml', '--out', 'plan.json']
  const { status, out } = place.writ(['flow', 'plan', ...order])
  expect(status).toBe(1)
  expect(out).toContain('the last answer was no plan: ')
  expect(out).toContain('run `writ flow plan` again')
})

it('planner and reviewer change nothing and see nothing of the state of writ', () => {
  // The sandbox shows the home; the usual state of these tests lies in /tmp, which is private anyway.
  place.remove()
  place = new Place('plan-state', { runs: 'warm' })
  const env = { XDG_STATE_HOME: join(place.home, 'states') }
  expect(place.writ(['init', '--name', 'ann', '--no-pass'], { env }).status).toBe(0)
  place.write('participants.yaml', PARTICIPANTS)
  place.write('judge.mjs', judge('95'))
  const secrets = join(env.XDG_STATE_HOME, 'writ')
  expect(existsSync(secrets)).toBe(true)
  place.write(
    'planner.mjs',
    planner(`writeFileSync('participants.yaml', 'mine')
for (const path of ['.writ/laws.yaml', '.writ/id']) try { writeFileSync(path, 'mine') } catch {}
let seen = []
try { seen = readdirSync('${secrets}') } catch {}
if (seen.length > 0) process.exit(9)`),
  )
  const laws = place.text('.writ/laws.yaml')
  expect(plan(env)).toMatchObject({ exit: 0, approved: true })
  expect([place.text('participants.yaml'), place.text('.writ/laws.yaml')]).toEqual([
    PARTICIPANTS,
    laws,
  ])
})

it('says what is wrong with the participants before any participant is asked', () => {
  place.write('participants.yaml', PARTICIPANTS.replace('planner: planner', 'planner: nobody'))
  expect(plan()).toMatchObject({ exit: 1, valid: false })
  place.write('participants.yaml', PARTICIPANTS.replace(/.*planner.*\n/g, ''))
  const { exit, error } = plan()
  expect([exit, error?.code]).toEqual([2, 'cli.usage'])
  expect(place.has('plan.json')).toBe(false)
})

const ORDER = ['--goal', 'a word counter', '--participants', 'participants.yaml']

/** What is recorded of a planning: who said something, in order. */
function saidIn(planningId: string): readonly string[] {
  const { facts } = place.writ(['log', '--type', 'participant_output_v1', '--json']).json
  return facts
    .map(({ record }: Json) => record.payload)
    .filter(({ run_id }: Json) => run_id === planningId)
    .sort((one: Json, other: Json) => one.seq - other.seq)
    .map(({ node_id, seq }: Json) => `${seq} ${node_id}`)
}

/** A planner whose plans all differ. */
const NAMING = `const name = input.attempt + ' ' + Math.random()
answer({ plan: { title: input.goal, root_task_id: 'root' }, tasks: [
  { id: 'root', type: 'goal', name: input.goal },
  { id: 'do', type: 'action', name, owner: 'maker' }], links: [] })`

/** Plans until something is recorded, and is killed then. */
async function killAfter(count: number): Promise<string> {
  const child = place.start(['flow', 'plan', ...ORDER, '--out', 'plan.json'])
  let err = ''
  child.stderr?.on('data', (bytes: Buffer) => {
    err += bytes.toString()
  })
  const idOf = () => /plan-[0-9a-f-]{36}/.exec(err)?.[0] ?? ''
  await vi.waitUntil(() => idOf() !== '' && saidIn(idOf()).length === count, {
    timeout: 60_000,
    interval: 200,
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGKILL')
  await ended
  return idOf()
}

function resumed(...words: readonly string[]): Json {
  const ended = place.writ(['flow', 'plan', '--resume', ...words, '--json'])
  return { ...ended.json, exit: ended.status, err: ended.err }
}

it('a planning that was killed goes on, and no participant is asked twice', async () => {
  place.write('planner.mjs', script(NAMING))
  const isFirst = `JSON.stringify(input).includes('"1 0.')`
  place.write(
    'judge.mjs',
    judge(
      `existsSync('slow') && !${isFirst} ? await new Promise((done) => setTimeout(done, 100000)) : ${isFirst} ? 60 : 95`,
    ),
  )
  place.write('slow', '')
  const planningId = await killAfter(3)
  expect(saidIn(planningId)).toEqual(['0 plan', '1 plan_review', '2 plan'])
  const before = place.writ(['log', '--type', 'participant_output_v1', '--json']).json.facts
  rmSync(join(place.project, 'slow'))
  // The existing plan is judged; a planner that is started again fails.
  place.write('planner.mjs', 'process.exit(9)')
  const answer = resumed(planningId.slice(5, 20))
  expect(answer, answer.err).toMatchObject({ exit: 0, approved: true, planning_id: planningId })
  expect([answer.plans, answer.reviews, answer.score]).toEqual([2, 2, 95])
  expect(saidIn(planningId)).toEqual(['0 plan', '1 plan_review', '2 plan', '3 plan_review'])
  const second = before.find(({ record }: Json) => record.payload.seq === 2).record.payload
  expect(JSON.parse(place.text('plan.json'))).toEqual(second.answer.document)
  expect(resumed().error?.code).toBe('flow.unknown_run')
  expect(place.writ(['ledger', 'verify', '--json']).json.ok).toBe(true)
})

it('a plan that was approved and could not be written is written later, and no person is asked', () => {
  place.write('judge.mjs', judge('95'))
  const order = ['flow', 'plan', ...ORDER, '--out', 'later/plan.json', '--json']
  const failed = place.writ(order)
  expect([failed.status, failed.json.error.code]).toEqual([4, 'cli.file_unwritable'])
  for (const name of ['planner.mjs', 'judge.mjs']) place.write(name, 'process.exit(9)')
  mkdirSync(join(place.project, 'later'))
  const answer = resumed()
  expect(answer, answer.err).toMatchObject({ exit: 0, approved: true, plans: 1, reviews: 1 })
  expect(JSON.parse(place.text('later/plan.json')).plan.plan_id).toBe(answer.plan_id)
  expect(existsSync(join(place.project, 'plan.json'))).toBe(false)
  const refused = place.writ(['flow', 'plan', '--resume', '--goal', 'another', '--json'])
  expect([refused.status, refused.json.error.code]).toEqual([2, 'cli.usage'])
})

it('a planning that no person is known to have begun shows who takes part, and asks', () => {
  place.write('judge.mjs', judge('95'))
  const order = ['flow', 'plan', ...ORDER, '--out', 'later/plan.json', '--json']
  expect(place.writ(order).json.error.code).toBe('cli.file_unwritable')
  mkdirSync(join(place.project, 'later'))
  const bot = { kind: 'ai', id: 'bot', namespace: 'local' }
  for (const by of [undefined, bot]) {
    rewriteOrder((kept) => ({ ...kept, by }))
    const refused = place.writ(['flow', 'plan', '--resume'])
    expect(refused.status).not.toBe(0)
    expect(refused.err).toContain('credential.required')
    expect(refused.err).toContain('  planner: the command node planner.mjs\n')
    expect(refused.err).toContain('  reviewer: the command node judge.mjs\n')
    expect(refused.err).toContain(by === undefined ? 'not recorded who' : 'ai:bot@local began it')
  }
  const ask = { expect: 'Go on with these participants? [y/N] ' }
  const no = place.person(['flow', 'plan', '--resume'], [ask, { send: 'n\r' }])
  expect([no.failed, place.has('later/plan.json')]).toEqual([null, false])
  const yes = place.person(['flow', 'plan', '--resume'], [ask, { send: 'y\r' }])
  expect([yes.failed, yes.status, place.has('later/plan.json')]).toEqual([null, 0, true])
})

/** Changes what is kept of the one planning that was interrupted. */
function rewriteOrder(change: (kept: Json) => Json): void {
  const state = join(place.folder, 'state', 'writ')
  const [file = ''] = execFileSync('find', [state, '-path', '*/plannings/*/order.json'], {
    encoding: 'utf8',
  }).split('\n')
  const kept = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify(change(kept)))
}
