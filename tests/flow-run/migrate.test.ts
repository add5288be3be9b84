/**
 * Migrations by the real program: what changes is shown, obstacles are named, an edited file is not
 * ignored silently, and a kill leaves the run at one version or at the other.
 */
import { type ChildProcess, execFileSync } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { digestBytes, digestDocument } from '../../src/base/index.ts'
import type { Flow } from '../../src/contracts/index.ts'
import { type Json, Place } from '../cli-gate/place.ts'
import { artifact, checker, edge, flowOf, goal, worker } from './acceptance/scene.ts'
import { script, TOOL } from './scripts.ts'

vi.setConfig({ testTimeout: 180_000 })

let place: Place

beforeAll(() => {
  execFileSync(process.execPath, ['tools/build.mjs'])
}, 300_000)

beforeEach(() => {
  place = new Place('migrate').init()
  place.write('a.mjs', script(`${TOOL}${artifact("'a'")}`))
  place.write('b.mjs', script(`${TOOL}${artifact("'first: ' + input.node.instructions")}`))
  place.write('new.mjs', script(`${TOOL}${artifact("'second: ' + input.node.instructions")}`))
})

afterEach(() => place.remove())

/** Work that a person judges, and work after it. */
function flow(instructions: string, more: Partial<Flow> = {}, program = 'b.mjs'): Flow {
  const human = { reviewer: { human: true as const }, title: 'Approval' }
  const executor = { command: ['node', program] }
  const nodes = [
    worker('a'),
    checker('c', 'a', human),
    worker('b', { phase_id: 'P2', instructions, executor }),
    goal('z', 'P2'),
  ]
  return flowOf(nodes, [edge('a', 'c'), edge('c', 'b'), edge('b', 'z')], more)
}

const written = (document: Flow): void => {
  place.write('flow.json', JSON.stringify(document))
}

function walk(...words: readonly string[]): Json {
  return place.writ(['flow', ...words, '--json']).json
}

/** Says yes to what a call before it showed. */
function yes(run: string): readonly string[] {
  return ['--yes', '--digest', walk('migrate', run, 'flow.json').digest]
}

function begin(): string {
  written(flow('be short'))
  const begun = walk('run', 'flow.json')
  expect(begun.status).toBe('WAITING')
  return begun.run_id
}

it('a run goes on by the new version, and the report tells who changed it', () => {
  const run = begin()
  const next = flow('be long', {}, 'new.mjs')
  written(next)
  const status = place.writ(['flow', 'status', run])
  expect(status.out).toContain('differs from the version that this run keeps')
  expect(status.out).toContain(`writ flow migrate ${run}`)
  expect(status.out).not.toContain('u000a')
  expect(walk('status', run).edited_flow.valid).toBe(true)
  const asked = place.writ(['flow', 'migrate', run, 'flow.json'])
  expect([asked.status, asked.err]).toEqual([1, expect.stringContaining('nothing was changed')])
  expect(asked.out).toContain(`  changed node b
    executor: {"command":["node","b.mjs"]} → {"command":["node","new.mjs"]}
    instructions: "be short" → "be long"
`)
  const words = ['flow', 'migrate', run, 'flow.json', ...yes(run), '--comment', 'longer']
  const moved = place.writ(words)
  expect([moved.status, moved.err]).toEqual([0, ''])
  expect(place.writ(['flow', 'status', run]).out).not.toContain('differs from')
  expect(walk('approve', run, 'c').ok).toBe(true)
  expect(walk('resume', run).status).toBe('DONE')
  const report = walk('report', run)
  expect(report.migrations).toMatchObject([
    {
      from: digestDocument(flow('be short')),
      to: digestDocument(next),
      comment: 'longer',
      principal: expect.stringContaining('human:'),
    },
  ])
  expect(report.flow_digest).toBe(digestDocument(next))
  const [made] = report.artifacts.filter(({ node_id }: Json) => node_id === 'b')
  expect(place.text(made.candidate.path)).toBe('second: be long')
  expect(place.writ(['replay', '--json']).json).toMatchObject({ ok: true })
  expect(place.writ(['ledger', 'verify', '--json']).status).toBe(0)
})

it('shows each edited program against the pinned one, and a yes is for what was shown', () => {
  const run = begin()
  const pinned = digestBytes(place.text('b.mjs'))
  const edited = `${place.text('b.mjs')}${'// more\n'.repeat(50)}`
  place.write('b.mjs', `fetch('http://evil.example')\n${edited}`)
  written(flow('be long'))
  const asked = place.writ(['flow', 'migrate', run, 'flow.json'])
  expect(asked.out).toContain('  changed program b.mjs\n')
  expect(asked.out).toContain("    + fetch('http://evil.example')\n")
  expect(asked.out).toMatch(/… \d+ more lines: writ flow migrate \S+ flow\.json --all\n/)
  const all = place.writ(['flow', 'migrate', run, 'flow.json', '--all']).out
  expect(all.match(/ {4}\+ \/\/ more\n/g)).toHaveLength(50)
  const { error } = walk('migrate', run, 'flow.json', '--yes')
  expect([error.code, error.hint]).toEqual([
    'credential.required',
    expect.stringContaining('--digest sha256:'),
  ])
  const agreed = yes(run)
  place.write('b.mjs', `fetch('http://other.example')\n${edited}`)
  expect(walk('migrate', run, 'flow.json', ...agreed).error.code).toBe('flow.migration')
  expect(walk('report', run).migrations).toEqual([])
  expect(walk('migrate', run, 'flow.json', ...yes(run))).toMatchObject({ migrated: true })
  const after = digestBytes(place.text('b.mjs'))
  const programs = [{ path: 'b.mjs', before: pinned, after }]
  expect(walk('report', run).migrations).toMatchObject([{ programs }])
  expect(place.writ(['replay', '--json']).json).toMatchObject({ ok: true })
})

it('a mended program is pinned again for the same flow, and resume goes on', () => {
  place.write('b.mjs', 'process.exit(3)\n')
  written(flowOf([worker('b', { max_attempts: 1 }), goal('z', 'P1')], [edge('b', 'z')]))
  const run = walk('run', 'flow.json').run_id
  expect(walk('migrate', run, 'flow.json').obstacles).toEqual([
    { part: 'run', message: 'it walks this version already, with these programs' },
  ])
  place.write('b.mjs', script(`${TOOL}${artifact("'mended'")}`))
  expect(walk('answer', run, 'b', 'retry').ok).toBe(true)
  const [stop] = walk('resume', run).stops
  expect([stop.code, stop.next[0]]).toEqual([
    'flow.program_changed',
    expect.stringMatching(new RegExp(`^writ flow migrate ${run} /\\S+/flow\\.json$`)),
  ])
  expect(walk('migrate', run, 'flow.json', ...yes(run))).toMatchObject({ migrated: true })
  expect(walk('resume', run).status).toBe('DONE')
  expect(place.writ(['replay', '--json']).json).toMatchObject({ ok: true })
})

it('says which answer lets the node go on that a person is asked about', () => {
  place.write('b.mjs', 'process.exit(3)\n')
  written(flowOf([worker('b', { max_attempts: 1 }), goal('z', 'P1')], [edge('b', 'z')]))
  const run = walk('run', 'flow.json').run_id
  place.write('b.mjs', script(`${TOOL}${artifact("'mended'")}`))
  const moved = place.writ(['flow', 'migrate', run, 'flow.json', ...yes(run)])
  expect(moved.out).toContain(
    `moved; to go on: writ flow answer ${run} b retry, then writ flow resume ${run}\n`,
  )
  expect(walk('answer', run, 'b', 'retry').ok).toBe(true)
  expect(walk('resume', run).status).toBe('DONE')
})

it('takes over which reviewers are open', () => {
  const judge = (more: object): Flow => {
    const reviewer = { command: ['node', 'agents/r.mjs'], ...more }
    const nodes = [
      worker('a', { phase_id: 'P1' }),
      checker('h', 'a', { reviewer: { human: true as const } }),
      worker('b', { phase_id: 'P2', max_attempts: 1 }),
      checker('c', 'b', { phase_id: 'P2', reviewer, max_attempts: 1 }),
      goal('z', 'P2'),
    ]
    return flowOf(nodes, [edge('a', 'h'), edge('h', 'b'), edge('b', 'c'), edge('c', 'z')])
  }
  place.write('b.mjs', script(`${TOOL}writeFileSync('planted.py', '')\n${artifact("'b'")}`))
  place.write('agents/r.mjs', '')
  written(judge({}))
  const run = walk('run', 'flow.json').run_id
  const same = { part: 'run', message: 'it walks this version already, with these programs' }
  expect(walk('migrate', run, 'flow.json').obstacles).toEqual([same])
  place.write('agents/r.mjs', "import 'node:child_process'\n")
  expect(walk('migrate', run, 'flow.json', ...yes(run))).toMatchObject({ migrated: true })
  expect(walk('migrate', run, 'flow.json').obstacles).toEqual([same])
  expect(walk('approve', run, 'h').ok).toBe(true)
  const [stop] = walk('resume', run).stops
  expect([stop.node_id, stop.code]).toEqual(['b', 'flow.program_touched'])
  expect(JSON.stringify(stop)).toContain('the ending `.py` is not one of data')
  expect(JSON.stringify(stop)).toContain('reviewer: { command: […], runs_work: true }')
  expect(place.has('planted.py')).toBe(false)
  const line = 'reviewer: {"command":["node","agents/r.mjs"],"runs_work":true}'
  expect(place.writ(['flow', 'check', 'flow.json']).out).toContain(line)
  expect(place.writ(['flow', 'run', 'flow.json', '--json']).err).toContain(line)
  expect(place.writ(['replay', '--json']).json).toMatchObject({ ok: true })
})

it('names every obstacle, and changes nothing', () => {
  const run = begin()
  const { nodes, edges, ...rest } = flow('x')
  written({
    ...rest,
    nodes: nodes.filter(({ node_id }) => node_id !== 'c'),
    edges: [edge('a', 'b'), edge('b', 'z')],
  })
  const refused = place.writ(['flow', 'migrate', run, 'flow.json', '--yes'])
  expect(refused.status).toBe(1)
  expect(refused.out).toContain('node c: it is running, and the new version has no such node')
  expect(refused.out).toContain('node a: it is being judged, and other CHECK nodes judge it')
  expect(walk('migrate', run, 'flow.json', '--yes')).toMatchObject({ migrated: false })
  expect(walk('report', run).migrations).toEqual([])
  written(flow('x', { flow_id: 'other' }))
  expect(place.writ(['flow', 'migrate', run, 'flow.json', '--yes']).out).toContain('it is a run of')
})

it('is refused for an actor, and while a process walks the run', async () => {
  const run = begin()
  written(flow('other'))
  const token = place.token('ai:bot@local')
  const { json } = place.writ(['flow', 'migrate', run, 'flow.json', '--yes', '--json'], { token })
  expect(json.error.code).toBe('principal.not_human')
  const walker = await walking(run)
  expect(walk('migrate', run, 'flow.json', '--yes').error.code).toBe('flow.taken')
  walker.kill('SIGKILL')
  await ended(walker)
  expect(walk('migrate', run, 'flow.json', ...yes(run))).toMatchObject({ migrated: true })
})

it('a kill at any moment leaves one version or the other', async () => {
  const run = begin()
  let moves = 0
  for (let round = 0; round < 8; round++) {
    written(flow(`version ${round}`))
    const child = place.start(['flow', 'migrate', run, 'flow.json', ...yes(run)])
    const timer = setTimeout(() => child.kill('SIGKILL'), 80 + round * 60)
    await ended(child)
    clearTimeout(timer)
    const { migrations, flow_digest } = walk('report', run)
    expect(migrations.length - moves).toBeLessThanOrEqual(1)
    const isMoved = migrations.length > moves
    if (isMoved) expect(flow_digest).toBe(digestDocument(flow(`version ${round}`)))
    moves = migrations.length
  }
  written(flow('the last'))
  expect(walk('migrate', run, 'flow.json', ...yes(run)).migrated).toBe(true)
  expect(walk('approve', run, 'c').ok).toBe(true)
  expect(walk('resume', run).status).toBe('DONE')
  expect(place.writ(['replay', '--json']).json).toMatchObject({ ok: true })
})

/** A process that walks the run, and holds it by now. */
async function walking(run: string): Promise<ChildProcess> {
  let walker = place.start(['flow', 'resume', run, '--wait'])
  for (let count = 0; count < 60; count++) {
    await pause(500)
    // A look at the run may have been in its way.
    if (walker.exitCode !== null) walker = place.start(['flow', 'resume', run, '--wait'])
    else if (walk('budget', run, '--seconds', '999').walked === true) return walker
  }
  throw new Error('no process walks the run')
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolved) => {
    if (child.exitCode !== null || child.signalCode !== null) resolved()
    else child.on('close', () => resolved())
  })
}
