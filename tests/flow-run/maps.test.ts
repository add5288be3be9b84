/** Maps with real participants: what they get, what they leave, and `kill -9` in the middle. */
import { execFileSync, spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { FlowNode } from '../../src/contracts/index.ts'
import { elementAt, foldFacts, replayRun, reportOf, stopsOf } from '../../src/flow/index.ts'
import { readRun } from '../../src/runs/run-records.ts'
import { leaveOrder, startRun, type WalkedRun } from '../../src/runs/runs.ts'
import { artifact, checker, edge, flowOf, goal, review, worker } from './acceptance/scene.ts'
import { findingsIn, RunPlace } from './place.ts'
import { compiledFlow, script, TOOL } from './scripts.ts'

const TIMEOUT = { timeout: 180_000 }
let place: RunPlace

beforeAll(() => {
  execFileSync(process.execPath, ['tools/build.mjs'])
}, 300_000)

beforeEach(async () => {
  place = await new RunPlace('maps').make()
  place.write('draft.mjs', DRAFT)
  place.write('look.mjs', script(review('95')))
  place.write('sum.mjs', script(`${TOOL}${artifact('JSON.stringify(input.inputs)')}`))
})

afterEach(() => place.remove())

const LIST = [{ name: 'one' }, { name: 'two' }, { name: 'three' }]
const PLAN = (list: unknown) =>
  script(`${TOOL}mkdirSync('out', { recursive: true })
writeFileSync('out/list.json', ${JSON.stringify(JSON.stringify({ chapters: list }))})
${artifact("'planned'")}`)
/** Writes a file that the item names, and says what it was given. */
const DRAFT = script(`${TOOL}
mkdirSync('text', { recursive: true })
writeFileSync('text/' + input.index + '-' + input.item.name + '.md', input.node.instructions)
${artifact('JSON.stringify({ item: input.item, index: input.index, count: input.count, inputs: input.inputs.length })')}`)

function book(map: FlowNode['map'], more: Partial<FlowNode> = {}) {
  const draft = worker('draft', {
    title: 'Draft',
    instructions: 'write {item.name}, {index} of {count}',
    writes: ['text/{index}-{item.name}.md', 'text'],
    required_files: ['text/{index}-{item.name}.md'],
    ...(map === undefined ? {} : { map }),
    ...more,
  })
  const inputs = [{ from: 'draft', as: 'drafts' }]
  return flowOf(
    [
      worker('plan'),
      draft,
      checker('look', 'draft'),
      worker('sum', { phase_id: 'P2', inputs }),
      goal('end', 'P2'),
    ],
    [edge('plan', 'draft'), edge('draft', 'look'), edge('look', 'sum'), edge('sum', 'end')],
  )
}

const FROM = { from: 'out/list.json:chapters', at_once: 2 }

describe('a map over what an earlier node wrote', TIMEOUT, () => {
  it('gives each item its own attempt, files, artifact and review', async () => {
    place.write('plan.mjs', PLAN(LIST))
    const run = await place.run(book(FROM))
    expect([run.status, findingsIn(run)]).toEqual(['DONE', []])
    expect(JSON.parse(place.read('artifacts/draft/2/1/out.md'))).toEqual({
      item: { name: 'two' },
      index: 2,
      count: 3,
      inputs: 1,
    })
    expect(place.read('text/3-three.md')).toBe('write three, 3 of 3')
    const given = JSON.parse(place.read('artifacts/sum/1/out.md'))
    const drafts = given.find(({ name }: { name: string }) => name === 'drafts')
    expect(
      drafts.items.map(({ title, status }: Record<string, string>) => [title, status]),
    ).toEqual([
      ['Draft 1/3: one', 'done'],
      ['Draft 2/3: two', 'done'],
      ['Draft 3/3: three', 'done'],
    ])
    const report = reportOf(run.flow, run.facts, run.state)
    expect(report.nodes.map(({ title }) => title)).toContain('Draft 3/3: three')
    expect(report.reviews.map(({ node_id }) => node_id).sort()).toEqual([
      'draft/1',
      'draft/2',
      'draft/3',
    ])
    expect(report.flow_digest).toBe(compiledFlow(book(FROM)).digest)
    expect(replayRun(compiledFlow(book(FROM)), run.facts)).toBeNull()
  })

  it('refuses a hostile list, with the place and what to type', async () => {
    place.write('plan.mjs', PLAN([{ name: '../../../outside' }]))
    const run = await place.run(book(FROM))
    expect([run.status, findingsIn(run)]).toEqual(['BLOCKED', ['flow.list_refused block']])
    const [stop] = stopsOf(run)
    expect(stop?.says).toContain('item 1 is no plain name, and {item.name} is a part of a path')
    expect(stop?.next.join('\n')).toContain(`writ flow answer ${run.runId} draft/begin unblock`)
    place.write(
      'out/list.json',
      JSON.stringify({ chapters: Array.from({ length: 1_000_000 }, (_, i) => i) }),
    )
    leaveOrder(place.host(), run.runId, {
      kind: 'unblock',
      node_id: 'draft/begin',
      principal: 'human:ann@local',
      since: -1,
    })
    const again = await place.resume(run.runId)
    expect(stopsOf(again)[0]?.says).toMatch(/1000000 items|bytes/)
  })

  it('blocks a file outside of what the item may write', async () => {
    place.write('plan.mjs', PLAN(LIST))
    place.write('draft.mjs', DRAFT.replace("'text/' + input.index", "'text/' + (input.index + 1)"))
    const run = await place.run(book(FROM, { max_attempts: 1, required_files: [] }))
    expect(run.status).toBe('WAITING')
    expect(findingsIn(run)).toContain('flow.incomplete rerun')
    const blocks = run.facts.flatMap(({ type, payload }) => {
      if (type !== 'flow_event_v1' || payload.kind !== 'event') return []
      return payload.event.type === 'gate_decision' ? [payload.event] : []
    })
    // Only what was done is at fault, and not what was allowed and did not happen.
    expect(blocks.flatMap(({ codes = [] }) => codes)).not.toContain('effect.not_observed')
    expect(blocks.every(({ about = [] }) => about.every((path) => !path.includes('*')))).toBe(true)
  })

  it('undoes all items by one Rollback edge', async () => {
    place.write('plan.mjs', PLAN(LIST))
    const flow = book(FROM)
    const back = edge('sum', 'draft', {
      class: 'Rollback',
      edge_id: 'R',
      guard_expr: 'state.attempt_count < 2',
    })
    const run = await place.run({ ...flow, edges: [...flow.edges, back] })
    expect(run.status).toBe('DONE')
    const undone = run.facts.flatMap(({ type, payload }) =>
      type === 'flow_event_v1' && payload.kind === 'event' && payload.event.type === 'rolled_back'
        ? [payload.event.node_id]
        : [],
    )
    expect([...undone].sort()).toEqual(['draft/1', 'draft/2', 'draft/3', 'sum'])
    expect(place.read('text/1-one.md')).toBe('write one, 1 of 3')
  })
})

const PROGRAM = resolve('bin/writ.cjs')

/** Walks by the built program; kills it after a while. Returns its last line. */
function walk(words: readonly string[], killMs: number | null): Promise<string> {
  return new Promise((resolved, rejected) => {
    const child = spawn(process.execPath, [PROGRAM, 'flow', ...words], {
      cwd: place.workspace,
      env: {
        PATH: process.env['PATH'],
        HOME: join(place.folder, 'home'),
        XDG_STATE_HOME: join(place.folder, 'state'),
      },
    })
    let [out, err] = ['', '']
    const timer = killMs === null ? null : setTimeout(() => child.kill('SIGKILL'), killMs)
    child.stdout.on('data', (part: Buffer) => {
      out += part.toString('utf8')
    })
    child.stderr.on('data', (part: Buffer) => {
      err += part.toString('utf8')
    })
    child.on('error', rejected)
    child.on('close', () => {
      if (timer !== null) clearTimeout(timer)
      resolved(`${err.split('\n')[0]}\n${out.trimEnd().split('\n').at(-1) ?? ''}`)
    })
  })
}

it('goes on after `kill -9` in the middle of the items', async () => {
  place.write('plan.mjs', PLAN([...LIST, { name: 'four' }, { name: 'five' }]))
  const flow = book({ ...FROM, at_once: 3 })
  place.write('flow.json', JSON.stringify(flow))
  let runId = ''
  let kills = 0
  for (let round = 0; ; round++) {
    const words = runId === '' ? ['run', 'flow.json', '--jsonl'] : ['resume', runId, '--jsonl']
    const said = await walk(words, kills < 8 ? 700 + ((round * 397) % 1_300) : null)
    runId = /run-[0-9a-f-]{36}/.exec(said)?.[0] ?? runId
    if (said.includes('"status":"DONE"')) break
    kills += 1
    expect(kills).toBeLessThan(12)
  }
  const { facts } = await readRun(place.ledger, 'main', runId)
  const begun = compiledFlow(flow)
  expect(replayRun(begun, facts)).toBeNull()
  const state = foldFacts(begun, facts)
  const names = Array.from({ length: 5 }, (_, index) => `draft/${index + 1}`)
  const ended = names.map((name) => elementAt(state.nodes, state.flow.nodeIndex.get(name) ?? -1))
  expect(ended.map(({ status, entries }) => [status, entries])).toEqual(
    names.map(() => ['done', 1]),
  )
  expect(eventCount(facts, 'list_read')).toBe(1)
  expect(eventCount(facts, 'promoted')).toBe(7)
  expect(place.read('text/5-five.md')).toBe('write five, 5 of 5')
}, 300_000)

it('tells the id of a run when the run can be resumed by it, and not before', async () => {
  const found: ReturnType<typeof readRun>[] = []
  await startRun(place.host(), {
    flow: compiledFlow(flowOf([goal('end', 'P')], [])),
    workspace: place.workspace,
    participantsDigest: null,
    onRun: (runId) => {
      found.push(readRun(place.ledger, 'main', runId))
    },
  })
  const [history] = await Promise.all(found)
  expect(history?.facts[0]?.type).toBe('flow_started_v1')
}, 60_000)

function eventCount(facts: WalkedRun['facts'], name: string): number {
  return facts.filter(
    ({ type, payload }) =>
      type === 'flow_event_v1' && payload.kind === 'event' && payload.event.type === name,
  ).length
}
