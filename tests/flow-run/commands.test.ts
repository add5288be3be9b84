/** `writ flow …`: answers, exit statuses, waiting for people, replay. */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
  place = new Place('flow', { runs: 'warm' }).init()
})

afterEach(() => place.remove())

const DONE = `answer({ result_type: 'ARTIFACT', artifact: { name: 'out', format: 'md', content: 'made by ' + input.node.node_id } })`

function write(path: string, text: string): void {
  writeFileSync(join(place.project, path), text)
}

function flow(nodes: readonly object[], edges: readonly object[] = [], more: object = {}): void {
  const whole = nodes.map((node) => ({
    kind: 'WORK',
    title: '',
    phase_id: 'P1',
    actor: 'a',
    max_attempts: 1,
    ...node,
  }))
  const document = { type: 'flow_v1', flow_id: 'f', title: 'F', nodes: whole, edges, ...more }
  write('flow.json', JSON.stringify(document))
}

const WORKER = { node_id: 'a', executor: { command: ['node', 'a.mjs'] } }
const GOAL = { node_id: 'z', kind: 'GOAL', phase_id: 'P2' }
const TO_GOAL = { edge_id: 'e', source: 'a', target: 'z', class: 'Progress' }

function run(...words: readonly string[]): Json {
  const { json, status } = place.writ(['flow', 'run', 'flow.json', '--json', ...words])
  return { ...json, exit: status }
}

it('answers with one object, streams facts with --jsonl, and everything replays', () => {
  write('a.mjs', script(`${TOOL}${DONE}`))
  flow([WORKER, GOAL], [TO_GOAL])
  const answer = run()
  expect(answer).toMatchObject({ flow_id: 'f', status: 'DONE', findings: [], exit: 0 })
  expect(answer.state).toMatchObject({ phase_id: 'P1', tool_calls: 1, gate_passed: true })
  expect(answer.facts.to).toBeGreaterThan(answer.facts.from)
  const status = place.writ(['flow', 'status', answer.run_id, '--json'])
  expect([status.status, status.json.nodes]).toEqual([
    0,
    [
      { node_id: 'a', status: 'done', attempts: 1 },
      { node_id: 'z', status: 'done', attempts: 1 },
    ],
  ])
  const lines = place.writ(['flow', 'run', 'flow.json', '--jsonl']).out.trim().split('\n')
  expect(JSON.parse(lines[0] ?? '').type).toBe('flow_started_v1')
  expect(JSON.parse(lines.at(-1) ?? '').status).toBe('DONE')
  expect(place.writ(['flow', 'status', '--json']).json.runs.length).toBe(2)
  const replay = place.writ(['replay', '--json'])
  expect([replay.status, replay.json.ok, replay.json.not_replayed]).toEqual([0, true, []])
  expect(place.writ(['ledger', 'verify', '--json']).json.ok).toBe(true)
})

it('draws phases, attempts, time and budget while it runs, and takes the picture away', () => {
  const slow = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000)'
  write('a.mjs', script(`${TOOL}${slow}\n${DONE}`))
  flow([WORKER, GOAL], [TO_GOAL], { budgets: { attempts: 5 } })
  const { output: screen, status } = place.person(['flow', 'run', 'flow.json'], [])
  expect(status).toBe(0)
  expect(screen).toMatch(/P1 {2}[\d.]+ s, 1 attempt\b/)
  expect(screen).toMatch(/running a {2}attempt 1/)
  expect(screen).toMatch(/attempts 1\/5, time [\d.]+ s, tokens 0; last change \d+ s ago/)
  const [, ...after] = screen.split('\u001b[J')
  expect(after.length).toBeGreaterThan(0)
  expect(after.at(-1)).not.toContain('last change')
})

it('a flow that is refused is reported whole; an unknown run is no run', () => {
  flow([{ ...WORKER, node_id: '' }], [{ ...TO_GOAL, guard_expr: 'state.nope > 1' }])
  const refused = place.writ(['flow', 'run', 'flow.json', '--json'])
  expect([refused.status, refused.json.valid]).toEqual([1, false])
  expect(refused.json.violations.length).toBeGreaterThan(1)
  const [said, checked] = ['run', 'check'].map(
    (word) => place.writ(['flow', word, 'flow.json']).out,
  )
  const problems = (text = ''): readonly string[] =>
    text.split('\n').filter((line) => /^ {2}flow\.json:\d+:\d+ /.test(line))
  expect(problems(said)).toEqual(problems(checked))
  expect(problems(said).length).toBeGreaterThan(1)
  expect(said).toContain('writ flow check flow.json\n')
  const unknown = place.writ(['flow', 'status', 'run-nobody', '--json'])
  expect([unknown.status, unknown.json.error.code]).toEqual([1, 'flow.unknown_run'])
})

it('the inbox names a run that is damaged, and hides no other', () => {
  const needs = script(
    `${TOOL}answer({ result_type: 'NEEDS_INPUT', needs_input: { required_docs: [{ name: 'spec', description: 'what', accepted_types: ['md'], suggested_path: 'spec.md' }] } })`,
  )
  write('a.mjs', needs)
  flow([{ ...WORKER, title: 'to be damaged' }])
  const damaged = run()
  flow([{ ...WORKER, title: 'another' }])
  const sound = run()
  const bodies = execFileSync('grep', ['-rl', 'to be damaged', join(place.folder, 'state')], {
    encoding: 'utf8',
  })
  for (const file of bodies.trim().split('\n')) if (file.includes('/objects/')) rmSync(file)
  const { status, json } = place.writ(['inbox', '--json'])
  expect(status).toBe(0)
  const rows = json.flows.map((one: { run_id: string; code?: string }) => [one.run_id, one.code])
  expect(new Map(rows)).toEqual(
    new Map([
      [damaged.run_id, 'flow.flow_missing'],
      [sound.run_id, undefined],
    ]),
  )
  const said = place.writ(['inbox']).out
  expect(said).toContain('is no longer kept')
  expect(said).toContain('put the body back from a backup')
})

it('NEEDS_INPUT waits with written instructions, and goes on when it is there', () => {
  write(
    'a.mjs',
    script(`${TOOL}if (existsSync('in/spec.md')) ${DONE}
else answer({ result_type: 'NEEDS_INPUT', needs_input: { required_docs: [{ name: 'spec', description: 'what to make', accepted_types: ['md'], suggested_path: 'in/spec.md' }] } })`),
  )
  flow([WORKER])
  const waiting = run()
  expect(waiting).toMatchObject({
    status: 'WAITING',
    exit: 3,
    waiting: [{ node_id: 'a', why: 'input' }],
  })
  const page = join(place.project, '.writ', 'runs', waiting.run_id, 'waiting-a.md')
  expect(readFileSync(page, 'utf8')).toContain('put it at: `in/spec.md`')
  const inbox = place.writ(['inbox', '--json'])
  expect(inbox.json.flows).toMatchObject([{ run_id: waiting.run_id, node_id: 'a', why: 'input' }])
  const early = place.writ(['flow', 'answer', waiting.run_id, 'a', 'provided', '--json'])
  expect([early.status, early.json.error.code]).toEqual([1, 'flow.input_missing'])
  execFileSync('mkdir', ['-p', join(place.project, 'in')])
  write('in/spec.md', 'make it')
  expect(place.writ(['flow', 'answer', waiting.run_id, 'a', 'provided']).status).toBe(0)
  const resumed = place.writ(['flow', 'resume', waiting.run_id, '--json'])
  expect([resumed.status, resumed.json.status]).toEqual([0, 'DONE'])
  expect(existsSync(page)).toBe(false)
})

it('a blocked run says why and what to type in its folder, its drawing and its nodes', () => {
  write('a.mjs', script(`${TOOL}${DONE}`))
  flow([WORKER, GOAL], [{ ...TO_GOAL, class: 'Gate', guard_expr: 'state.tool_calls > 99' }])
  const { run_id, status } = run()
  expect(status).toBe('BLOCKED')
  const page = join(place.project, '.writ', 'runs', run_id, 'blocked.md')
  expect(readFileSync(page, 'utf8')).toMatch(/is blocked.*tool_calls.*writ flow answer .* unblock/s)
  const { nodes } = place.writ(['flow', 'status', run_id, '--json']).json
  expect(nodes[0]).toMatchObject({ node_id: 'a', status: 'held' })
  place.writ(['flow', 'report', run_id, '--html', 'r.html'])
  const html = readFileSync(join(place.project, 'r.html'), 'utf8')
  expect(html).toContain('<td class="word"><span class="bad">held</span></td>')
  expect([html.match(/class="here"/g)?.length, html.includes('>✖<')]).toEqual([1, true])
  place.writ(['flow', 'cancel', run_id])
  expect(existsSync(page)).toBe(false)
})

it('who answered for a node verifies none of its claims', () => {
  const claim = {
    claim_id: 'C',
    node_id: 'a',
    actor: 'a',
    trust_level: 'external_unverified',
    text: 'so',
    evidence_ids: [],
    verification_status: 'pending',
  }
  const missing = `answer({ result_type: 'NEEDS_INPUT', needs_input: { required_docs: [{ name: 'spec', description: 'what to make', suggested_path: 'spec.md' }] } })`
  write('a.mjs', script(`${TOOL}if (existsSync('spec.md')) ${DONE}\nelse ${missing}`))
  const needed = { ...TO_GOAL, trust_requirement: 'independent_verification_required' }
  flow([WORKER, GOAL], [needed], { claims: [claim] })
  const { run_id } = run()
  write('spec.md', 'make it')
  expect(place.writ(['flow', 'answer', run_id, 'a', 'provided']).status).toBe(0)
  expect(place.writ(['flow', 'resume', run_id, '--json']).json.status).toBe('BLOCKED')
  const words = ['flow', 'evidence', run_id, 'C', '--id', 'E', '--file', 'spec.md', '--json']
  const refused = place.writ(words)
  expect([refused.status, refused.json.error]).toMatchObject([
    1,
    { code: 'flow.not_waiting', hint: expect.stringContaining('let another person type it') },
  ])
  expect(place.writ(['flow', 'resume', run_id, '--json']).json.status).toBe('BLOCKED')
})

it('an escalation is a human’s: once more, or given up', () => {
  write('a.mjs', script(`answer({ result_type: 'ERROR', error: { code: 'x', message: 'y' } })`))
  flow([WORKER])
  const { run_id, status } = run()
  expect(status).toBe('WAITING')
  const [stop] = place.writ(['flow', 'status', run_id, '--json']).json.stops
  expect(stop.next.at(-1)).toMatch(`writ flow migrate ${run_id}`)
  expect(stop.says).toContain('if you have mended its program')
  const wrong = place.writ(['flow', 'answer', run_id, 'a', 'unblock', '--json'])
  expect(wrong.json.error.code).toBe('flow.not_waiting')
  place.writ(['flow', 'answer', run_id, 'a', 'retry'])
  const again = place.writ(['flow', 'resume', run_id, '--json'])
  expect([again.status, again.json.state.attempt_count]).toEqual([3, 2])
  place.writ(['flow', 'answer', run_id, 'a', 'abandon'])
  const ended = place.writ(['flow', 'resume', run_id, '--json'])
  expect([ended.status, ended.json.status]).toEqual([1, 'FAILED'])
})

it('a human is a participant: asked in the inbox, answers by a file', () => {
  write('a.mjs', script(`${TOOL}${DONE}`))
  const check = { node_id: 'c', kind: 'CHECK', target: 'a', reviewer: { human: 'ann' } }
  flow([WORKER, check], [{ ...TO_GOAL, target: 'c' }])
  const { run_id, status } = run()
  expect(status).toBe('WAITING')
  const asked = JSON.parse(
    readFileSync(join(place.project, '.writ', 'runs', run_id, 'waiting-c.json'), 'utf8'),
  )
  expect([asked.artifact.content, asked.answer.asked]).toEqual(['made by a', 'ann'])
  const shown = place.writ(['flow', 'show', run_id, 'c', '--json'])
  const { nodes } = place.writ(['flow', 'status', run_id, '--json']).json
  expect([shown.json.status, nodes[1]]).toMatchObject(['waiting', { status: 'waiting' }])
  const { review_id, artifact_digest } = asked
  write('review.json', JSON.stringify({ review_id, artifact_digest, total_score: 92 }))
  place.writ(['flow', 'answer', run_id, 'c', '--file', 'review.json'])
  const done = place.writ(['flow', 'resume', run_id, '--json'])
  expect([done.status, done.json.status]).toEqual([0, 'DONE'])
  const folder = `artifacts/run-${run_id.slice(-12)}`
  expect(readFileSync(join(place.project, folder, 'a/1/out.md'), 'utf8')).toBe('made by a')
})

const LAWS = `laws:
  - policy_id: ASK_MIGRATIONS
    tier: 2
    policy_expr: creates('db/**')
    priority: 60
    override_mode: merge
    violation_action: confirm
`

const passphrase = 'correct horse battery staple'
const PROVEN = ['--pass-fd', '3']

/** A worker whose effects a law asks about, in a home whose human can prove who she is. */
function asking(): void {
  place.remove()
  place = new Place('flow', { runs: 'warm' }).init(passphrase)
  write('.writ/laws.yaml', LAWS)
  expect(place.writ(['laws', 'accept', '--yes', ...PROVEN], { passphrase }).status).toBe(0)
  write('a.mjs', script(`${TOOL}mkdirSync('db'); writeFileSync('db/1.sql', 'create')\n${DONE}`))
  flow([{ ...WORKER, actor: 'worker' }, GOAL], [TO_GOAL])
}

it('effects that need a yes wait in the inbox; with it the run goes on', () => {
  asking()
  const { run_id, status, exit, waiting } = run()
  expect([status, exit, waiting]).toEqual([
    'WAITING',
    3,
    [{ node_id: 'a', why: 'approval', needs: [] }],
  ])
  expect(existsSync(join(place.project, 'db'))).toBe(false)
  expect(place.writ(['flow', 'resume', run_id, '--json']).json.status).toBe('WAITING')
  const { pending } = place.writ(['inbox', '--json']).json
  expect(pending.length).toBe(1)
  const { asked_by, action_id } = pending[0]
  const [stop] = place.writ(['flow', 'status', run_id, '--json']).json.stops
  expect(stop.next[0]).toBe(`writ approve ${action_id}`)
  expect(stop.says).toMatch(/^the law asks for it: [A-Z_]+; .*--pass-fd/)
  expect(asked_by).toMatchObject({
    kind: 'ai',
    run: { run_id, node_id: 'a', actor: 'actor:worker' },
  })
  const who = `worker at a of ${run_id}`
  const shown = ['inbox', `inbox ${pending[0].id}`, 'log', `show ${pending[0].action_id}`]
  for (const words of shown) {
    const { out } = place.writ(words.split(' '))
    expect(out).toContain(words === 'log' ? `${who} ` : `${who}, for human:ann@local`)
  }
  // What the laws judge by is the participant, and not the person who started the run.
  const { facts } = place.writ(['show', pending[0].action_id, '--json']).json
  const judged = facts.filter(({ record }: Json) => record.type === 'evaluation_v1')
  const actors = judged.map(({ record }: Json) => record.payload.basis.actor)
  expect([...new Set(actors)]).toEqual(['actor:worker'])
  const yes = place.writ(['approve', pending[0].id, '--json', ...PROVEN], { passphrase })
  expect([yes.status, yes.err]).toEqual([0, ''])
  const done = place.writ(['flow', 'resume', run_id, '--json'])
  expect([done.status, done.json.status]).toEqual([0, 'DONE'])
  expect(readFileSync(join(place.project, 'db/1.sql'), 'utf8')).toBe('create')
})

it('with --wait a run goes on by itself when the yes is there', async () => {
  asking()
  const [program, ...words] = place.argv(['flow', 'run', 'flow.json', '--json', '--wait'])
  const child = spawn(program, words, { cwd: place.project, env: place.env() })
  const ended = new Promise((resolve) => child.on('close', resolve))
  const pendingOf = (): Json => place.writ(['inbox', '--json']).json.pending?.[0]
  await vi.waitUntil(() => pendingOf() !== undefined, { timeout: 60_000, interval: 500 })
  place.writ(['approve', pendingOf().id, '--json', ...PROVEN], { passphrase })
  expect(await ended).toBe(0)
})

it('a no about effects blocks the node, and nothing is promoted', () => {
  asking()
  const { run_id } = run()
  const { pending } = place.writ(['inbox', '--json']).json
  place.writ(['deny', pending[0].id])
  const done = place.writ(['flow', 'resume', run_id, '--json'])
  expect([done.status, done.json.status]).toEqual([1, 'BLOCKED'])
  expect(done.json.findings.at(-1)).toMatchObject({
    code: 'flow.promotion_refused',
    values: { codes: expect.arrayContaining([expect.any(String)]) },
  })
  expect(existsSync(join(place.project, 'db'))).toBe(false)
})

it('an answer reaches a run that another process walks', async () => {
  write('a.mjs', script(`answer({ result_type: 'ERROR', error: { code: 'x', message: 'y' } })`))
  flow([WORKER])
  const [program, ...words] = place.argv(['flow', 'run', 'flow.json', '--wait'])
  const child = spawn(program, words, { cwd: place.project, env: place.env() })
  let [out, err] = ['', '']
  child.stderr.on('data', (part: Buffer) => {
    err += part.toString('utf8')
  })
  child.stdout.on('data', (part: Buffer) => {
    out += part.toString('utf8')
  })
  const ended = new Promise((resolve) => child.on('close', resolve))
  const runOf = (): Json => place.writ(['flow', 'status', '--json']).json?.runs?.[0]
  await vi.waitUntil(() => runOf()?.status === 'WAITING', { timeout: 30_000, interval: 500 })
  const { run_id } = runOf()
  const command = `writ flow answer ${run_id} a abandon`
  await vi.waitUntil(() => err.includes(command), { timeout: 30_000, interval: 100 })
  const taken = place.writ(['flow', 'resume', run_id, '--json'])
  expect([taken.status, taken.json.error.code]).toEqual([1, 'flow.taken'])
  place.writ(['flow', 'answer', run_id, 'a', 'abandon'])
  expect(await ended).toBe(1)
  expect(out).toMatch(/^FAILED/)
  // What is asked is shown once, however long it waits.
  expect(err.split(command).length).toBe(2)
})

it('the report tells every decision, as JSON and as one page without scripts', () => {
  write(
    'a.mjs',
    script(
      `${TOOL}answer({ result_type: 'ARTIFACT', message: '<script>alert(1)</script>', artifact: { name: 'out', format: 'md', content: 'x' } })`,
    ),
  )
  const guard = { ...TO_GOAL, class: 'Gate', guard_expr: 'state.tool_calls >= 1' }
  flow(
    [
      { ...WORKER, node_id: 'a' },
      { ...GOAL, title: '<img src=x>' },
    ],
    [guard],
  )
  const { run_id } = run()
  const { json } = place.writ(['flow', 'report', run_id, '--json', '--html', 'report.html'])
  expect(json).toMatchObject({ run_id, status: 'DONE' })
  expect(json.transitions).toMatchObject([
    {
      edge_id: 'e',
      guard: 'state.tool_calls >= 1',
      values: { 'state.tool_calls': 1 },
      result: 'true',
      fired: true,
    },
  ])
  expect(json.log.length).toBe(2)
  const page = readFileSync(join(place.project, 'report.html'), 'utf8')
  expect(page).toContain('state.tool_calls &gt;= 1')
  expect(page).not.toMatch(/<script|<img|src=http|href="http/)
})

it('a used up budget stops the run; `flow budget` raises it by a human, and the run goes on', () => {
  write('a.mjs', script(`${TOOL}${DONE}`))
  flow([WORKER, { ...GOAL }], [TO_GOAL], { budgets: { attempts: 1 } })
  const { run_id, status, findings } = run('--parallel', '1')
  expect([status, findings.at(-1)]).toMatchObject([
    'BLOCKED',
    { code: 'flow.budget', values: { budget: 'attempts', limit: 1, used: 1 } },
  ])
  expect(place.writ(['flow', 'status', run_id]).out).toContain('attempts 1 of 1')
  const used = place.writ(['flow', 'budget', run_id, '--attempts', '1', '--json'])
  expect([used.status, used.json.error.code]).toEqual([1, 'flow.budget'])
  const nothing = place.writ(['flow', 'budget', run_id])
  expect([nothing.status, nothing.err]).toEqual([2, expect.stringContaining('at least one budget')])
  expect(place.writ(['flow', 'budget', run_id, '--attempts', '2']).status).toBe(0)
  const done = place.writ(['flow', 'resume', run_id, '--json'])
  expect([done.status, done.json.status]).toEqual([0, 'DONE'])
  expect(place.writ(['flow', 'status', run_id]).out).toContain('attempts 2 of 2')
  const over = place.writ(['flow', 'budget', run_id, '--attempts', '9', '--json'])
  expect([over.status, over.json.error.code]).toEqual([1, 'flow.not_waiting'])
  expect(place.writ(['replay', '--json']).json.ok).toBe(true)
  expect(run('--parallel', 'many').exit).toBe(2)
})
