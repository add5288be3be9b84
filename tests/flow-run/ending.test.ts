/** `writ flow cancel` and `writ flow skip` as processes, with a run that is walked and one that is not. */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { type Json, Place } from '../cli-gate/place.ts'
import { artifact, edge, flowOf, goal, worker } from './acceptance/scene.ts'
import { script, TOOL } from './scripts.ts'

vi.setConfig({ testTimeout: 120_000 })

let place: Place

beforeAll(() => {
  execFileSync(process.execPath, ['tools/build.mjs'])
}, 300_000)

beforeEach(() => {
  place = new Place('ending').init()
})

afterEach(() => place.remove())

function walk(...words: readonly string[]): Json {
  return place.writ(['flow', ...words, '--json']).json
}

const WORK = `${TOOL}${artifact("'made'")}`

it('a run that waits is cancelled: what was promoted stays, and the command says how to undo it', () => {
  place.write('a.mjs', script(WORK))
  place.write('b.mjs', script(`process.exit(3)`))
  const nodes = [worker('a'), worker('b', { max_attempts: 1, phase_id: 'P2' })]
  place.write('flow.json', JSON.stringify(flowOf(nodes, [edge('a', 'b')])))
  const { run_id, status } = walk('run', 'flow.json')
  expect(status).toBe('WAITING')
  const text = place.writ(['flow', 'cancel', run_id, '--comment', 'wrong input'])
  expect([text.status, text.out]).toEqual([0, expect.stringContaining(`cancelled  ${run_id}`)])
  const act = /writ rollback (\S+)/.exec(text.out)?.[1] ?? ''
  expect(walk('status', run_id).status).toBe('CANCELLED')
  expect(walk('cancel', run_id).error.code).toBe('flow.not_waiting')
  expect(walk('resume', run_id).status).toBe('CANCELLED')
  expect(walk('status', run_id).taken_back).toBe(undefined)
  expect(place.writ(['rollback', act]).status).toBe(0)
  const taken = [{ node_id: 'a', action_id: act, by: expect.stringContaining('human:') }]
  for (const words of [
    ['status', run_id],
    ['report', run_id],
    ['show', run_id, 'a'],
  ])
    expect(walk(...words).taken_back).toMatchObject(taken)
  expect(place.writ(['flow', 'report', run_id, '--html', 'r.html']).out).toMatch(
    /taken back\n {2}a: human:\S+ took its act /,
  )
  expect(readFileSync(join(place.project, 'r.html'), 'utf8')).toContain('Taken back')
  expect(place.writ(['inbox', '--json']).json.flows ?? []).toEqual([])
  expect(place.writ(['replay', '--json']).json).toMatchObject({ ok: true, differences: [] })
})

it('a blocked run is given up with what it promoted', () => {
  place.write('a.mjs', script(`writeFileSync('made.txt', 'x')\n${WORK}`))
  const nodes = [worker('a'), goal('b', 'P2')]
  const guard = { guard_expr: 'state.attempt_count > 5', on_guard_fail: 'block' as const }
  place.write('flow.json', JSON.stringify(flowOf(nodes, [edge('a', 'b', guard)])))
  const { run_id, status } = walk('run', 'flow.json')
  expect([status, existsSync(join(place.project, 'made.txt'))]).toEqual(['BLOCKED', true])
  const { error } = walk('answer', run_id, 'a', 'abandon')
  expect(error.code).toBe('flow.not_waiting')
  const ways = [`writ flow answer ${run_id} a unblock`, `writ flow cancel ${run_id}`]
  for (const command of ways) expect(error.hint).toContain(command)
  expect(walk('answer', run_id, 'aa', 'abandon').error.hint).toContain('the nearest node is `a`')
  const ended = walk('cancel', run_id, '--undo')
  expect(ended).toMatchObject({ status: 'CANCELLED', acts: [], undone: [expect.any(String)] })
  expect(existsSync(join(place.project, 'made.txt'))).toBe(false)
  expect(place.writ(['replay', '--json']).json.ok).toBe(true)
})

it('a run that a person takes back whole makes no later run of its actors ask', () => {
  for (const name of ['a', 'b', 'c'])
    place.write(`${name}.mjs`, script(`writeFileSync('${name}.txt', '${name}')\n${WORK}`))
  const nodes = [
    ...['a', 'b', 'c'].map((name) => worker(name, { actor: 'writer' })),
    goal('z', 'P2'),
  ]
  const edges = [edge('a', 'b'), edge('b', 'c'), edge('c', 'z')]
  place.write('flow.json', JSON.stringify(flowOf(nodes, edges)))
  const { run_id, status } = walk('run', 'flow.json')
  expect(status).toBe('DONE')
  expect(walk('cancel', run_id, '--undo').undone).toHaveLength(3)
  expect(walk('run', 'flow.json').status).toBe('DONE')
  expect(place.writ(['replay', '--json']).json).toMatchObject({ ok: true, differences: [] })
})

it('an edited file keeps its own act alone from being taken back, and a second call takes the rest', () => {
  for (const name of ['a', 'b', 'c'])
    place.write(`${name}.mjs`, script(`writeFileSync('${name}.txt', '${name}')\n${WORK}`))
  place.write('d.mjs', script('process.exit(3)'))
  const nodes = [worker('a'), worker('b'), worker('c'), worker('d', { max_attempts: 1 })]
  const edges = [edge('a', 'b'), edge('b', 'c'), edge('c', 'd')]
  place.write('flow.json', JSON.stringify(flowOf(nodes, edges)))
  const { run_id } = walk('run', 'flow.json')
  place.write('c.txt', 'by hand')
  const isThere = () =>
    ['a', 'b', 'c'].map((name) => existsSync(join(place.project, `${name}.txt`)))
  const text = place.writ(['flow', 'cancel', run_id, '--undo'])
  expect([text.status, isThere()]).toEqual([1, [false, false, true]])
  expect(text.out.match(/^taken back {2}/gm)).toHaveLength(2)
  expect(text.out).toMatch(/^not taken back {2}\S+\n {2}.*rollback\.conflict\n/m)
  expect(text.out).toMatch(/mv -n \S*c\.txt/)
  expect(text.out).toContain(`writ flow cancel ${run_id} --undo\n`)
  rmSync(join(place.project, 'c.txt'))
  const again = walk('cancel', run_id, '--undo')
  expect(again).toMatchObject({ status: 'CANCELLED', acts: [] })
  expect(again.outcomes.map(({ outcome }: Json) => outcome)).toEqual([
    'undone',
    'undone_before',
    'undone_before',
  ])
})

it('a run that a process walks is cancelled: its attempt is ended and nothing is left', async () => {
  place.write('a.mjs', script(`await new Promise((done) => setTimeout(done, 60000))`))
  place.write('flow.json', JSON.stringify(flowOf([worker('a')], [])))
  const child = spawn(
    process.execPath,
    [join(process.cwd(), 'bin/writ.cjs'), 'flow', 'run', 'flow.json', '--json'],
    {
      cwd: place.project,
      env: place.env(),
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let [out, err] = ['', '']
  child.stdout.on('data', (part) => (out += part))
  child.stderr.on('data', (part) => (err += part))
  const exit = new Promise<number | null>((done) => child.on('exit', done))
  for (let count = 0; count < 100 && !err.includes('run-'); count++) await pause(100)
  const runId = /run-[0-9a-f-]{36}/.exec(err)?.[0] ?? ''
  await pause(1_500)
  expect(walk('cancel', runId)).toMatchObject({ run_id: runId, status: 'CANCELLED', acts: [] })
  expect(await exit).toBe(1)
  expect(JSON.parse(out)).toMatchObject({ status: 'CANCELLED' })
})

it('a node is skipped: the run goes on, the report says who and why, and a CHECK is refused', () => {
  place.write('a.mjs', script(`process.exit(3)`))
  const nodes = [worker('a', { max_attempts: 1 }), goal('b', 'P2')]
  place.write('flow.json', JSON.stringify(flowOf(nodes, [edge('a', 'b')])))
  const { run_id } = walk('run', 'flow.json')
  expect(place.writ(['flow', 'skip', run_id, 'a']).status).toBe(2)
  expect(walk('skip', run_id, 'b', '--comment', 'x').error.code).toBe('flow.not_waiting')
  expect(walk('skip', run_id, 'a', '--comment', 'by hand').ok).toBe(true)
  expect(walk('resume', run_id).status).toBe('DONE')
  const report = place.writ(['flow', 'report', run_id, '--json']).json
  expect(JSON.stringify(report.findings)).toContain('by hand')
  expect(existsSync(join(place.project, 'artifacts', `run-${run_id.slice(-12)}`, 'a'))).toBe(false)
  expect(place.writ(['replay', '--json']).json).toMatchObject({ ok: true, differences: [] })
})
