/** What participants are given: words of the flow, the node and the plan, and what earlier nodes left. */
import { describe, expect, it } from 'vitest'
import type { Flow, Participant, PlanJson } from '../../src/contracts/index.ts'
import { checkFlow, loadPlan, reportOf } from '../../src/flow/index.ts'
import { artifact, checker, edge, eventsOf, flowOf, review, worker } from './acceptance/scene.ts'
import { type Asked, Endpoint } from './endpoints.ts'
import { findingsIn, type RunPlace } from './place.ts'
import { placeEach } from './place-each.ts'
import { script, TOOL } from './scripts.ts'

const TIMEOUT = { timeout: 60_000 }
let place: RunPlace

const open = placeEach('given', (made) => {
  place = made
})

const ACTION = {
  result_type: 'ARTIFACT',
  artifact: { name: 'out', format: 'md', content: 'said' },
}

function reviewOf({ review_id, artifact_digest }: Asked): unknown {
  return { review_id, artifact_digest, total_score: 95, action_required: 'APPROVE' }
}

/** A worker and a judge elsewhere, neither with tools. */
async function elsewhere() {
  const work = Endpoint.json(() => ({ body: ACTION }))
  const judge = Endpoint.json((asked) => ({ body: reviewOf(asked) }))
  const executor: Participant = { http: await open(work), tools: 'none' }
  return { work, judge, executor, reviewer: { http: await open(judge) } }
}

describe('words', TIMEOUT, () => {
  it('of flow and node reach who works, and who judges it', async () => {
    const { work, judge, executor, reviewer } = await elsewhere()
    const words = {
      description: 'a poem',
      instructions: 'write four lines',
      criteria: ['it rhymes'],
      details: { tone: 'calm' },
    }
    const { status } = await place.run(
      flowOf(
        [worker('a', { executor, ...words }), checker('c', 'a', { reviewer })],
        [edge('a', 'c')],
        { goal: 'a small book', constraints: { pages: 4 } },
      ),
    )
    expect(status).toBe('DONE')
    expect(work.asked[0]).toMatchObject({
      flow: { goal: 'a small book', constraints: { pages: 4 } },
      node: words,
    })
    expect(judge.asked[0]).toMatchObject({
      flow: { goal: 'a small book' },
      criteria: { score_min: 90, ...words },
    })
  })

  it('of a plan reach who works, and who judges it', async () => {
    const { work, judge, executor, reviewer } = await elsewhere()
    const { flow, violations } = loadPlan(plan({ rationale: 'because', goal_statement: 'sing' }), {
      type: 'participants_v1',
      participants: { xiaobo: executor, xiaojing: reviewer },
    })
    expect(violations).toEqual([])
    const { status } = await place.run(flow as Flow)
    expect(status).toBe('DONE')
    const details = { rationale: 'because', goal_statement: 'sing', config: { deep: [1] } }
    expect(work.asked[0]).toMatchObject({
      flow: { goal: 'a song for all', constraints: { budget: 3 } },
      node: { description: 'a song', criteria: ['it has a tune'], details },
    })
    expect(judge.asked[0].criteria).toMatchObject({ criteria: ['it has a tune'], details })
  })
})

const PLAN_ID = '00000000-0000-4000-8000-0000706c616e'
const ROOT = '00000000-0000-4000-8000-000000000072'
const TASK = '00000000-0000-4000-8000-000000000061'

function plan(more: object): PlanJson {
  const node = { plan_id: PLAN_ID, owner_agent_id: 'xiaobo', priority: 0, tags: [] }
  // Plans are open: these are fields that their contract does not name.
  return {
    plan: {
      plan_id: PLAN_ID,
      title: 'A plan',
      root_task_id: ROOT,
      created_at: '2026-01-01T00:00:00Z',
      owner_agent_id: 'xiaobo',
      constraints: { budget: 3 },
    },
    nodes: [
      { ...node, task_id: ROOT, node_type: 'GOAL', title: 'r', goal_statement: 'a song for all' },
      {
        ...node,
        task_id: TASK,
        node_type: 'ACTION',
        title: 'a',
        description: 'a song',
        acceptance_criteria: ['it has a tune'],
        config: { deep: [1] },
        ...more,
      },
    ],
    edges: [
      {
        edge_id: '00000000-0000-4000-9000-000000000001',
        plan_id: PLAN_ID,
        from_task_id: ROOT,
        to_task_id: TASK,
        edge_type: 'DECOMPOSE',
        metadata: {},
      },
    ],
  } as unknown as PlanJson
}

describe('a model', TIMEOUT, () => {
  it('gets its own system text, temperature and limit, and no function without tools', async () => {
    const model = Endpoint.json(() => ({
      body: {
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [
          {
            index: 0,
            finish_reason: 'stop',
            message: { role: 'assistant', content: JSON.stringify(ACTION) },
          },
        ],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      },
    }))
    const executor: Participant = {
      chat: await open(model),
      model: 'm',
      system: 'You are a poet.',
      temperature: 0.25,
      max_tokens: 512,
      tools: 'none',
    }
    const { status } = await place.run(flowOf([worker('a', { executor })], []))
    expect(status).toBe('DONE')
    const { temperature, max_tokens, tools, messages } = model.asked[0]
    expect({ temperature, max_tokens, tools }).toEqual({
      temperature: 0.25,
      max_tokens: 512,
      tools: undefined,
    })
    expect(messages[0].content).toMatch(/^You are a poet\.\n/)
    expect(messages[0].content).not.toContain('propose_action')
  })
})

describe('tools: none', TIMEOUT, () => {
  const silent = script(artifact('"no tool was used"'))

  it('waives TOOL_USE_NONZERO for that participant, on the record', async () => {
    place.write('a.mjs', silent)
    const executor: Participant = { command: ['node', 'a.mjs'], tools: 'none' }
    const { status, flow, facts, state } = await place.run(flowOf([worker('a', { executor })], []))
    expect(status).toBe('DONE')
    const { waivers, invariants } = reportOf(flow, facts, state)
    expect(waivers).toEqual([
      { node_id: 'a', invariant_id: 'TOOL_USE_NONZERO', says: 'tools: none' },
    ])
    expect(invariants[0]).toMatchObject({
      invariant_id: 'TOOL_USE_NONZERO',
      node_id: 'a',
      values: { waived_by: 'tools: none' },
    })
  })

  it('holds for no other participant', async () => {
    place.write('a.mjs', silent)
    const walked = await place.run(flowOf([worker('a')], []))
    expect(findingsIn(walked)).toContain('flow.tool_use_zero rerun')
  })

  it('changes nothing when a plan says it, and is a finding', async () => {
    place.write('a.mjs', silent)
    const { flow, warnings } = loadPlan(plan({ tools: 'none' }), {
      type: 'participants_v1',
      participants: { xiaobo: { command: ['node', 'a.mjs'] }, xiaojing: { human: true } },
    })
    expect(warnings.map(({ code }) => code)).toContain('flow.tools_ignored')
    const found = findingsIn(await place.run(flow as Flow))
    expect(found).toContain('flow.tools_ignored alert')
    expect(found).toContain('flow.tool_use_zero rerun')
  })

  it('runs_work of a plan changes nothing, and is a finding', async () => {
    place.write('a.mjs', silent)
    place.write('agents/r.sh', 'flock /tmp/l -c true\n')
    const { flow, warnings } = loadPlan(plan({ runs_work: true }), {
      type: 'participants_v1',
      participants: {
        xiaobo: { command: ['node', 'a.mjs'], tools: 'none' },
        xiaojing: { command: ['sh', 'agents/r.sh'] },
      },
    })
    expect(warnings.map(({ code, message }) => [code, message])).toContainEqual([
      'flow.tools_ignored',
      expect.stringContaining('`runs_work: true`'),
    ])
    const walked = await place.run(flow as Flow)
    expect(findingsIn(walked)).toContain('flow.tools_ignored alert')
    const [first] = walked.facts
    const origin = first?.type === 'flow_started_v1' ? first.payload.origin : undefined
    expect(origin?.open_reviewers).toHaveLength(1)
  })
})

describe('inputs by name', TIMEOUT, () => {
  it('are what earlier nodes left: artifacts and files, with text for who is elsewhere', async () => {
    place.write(
      'a.mjs',
      script(`${TOOL}mkdirSync('data')\nwriteFileSync('data/n.csv', '1,2')\n${artifact('"of a"')}`),
    )
    place.write('b.mjs', script(`${TOOL}${artifact('JSON.stringify(input.inputs)')}`))
    const { work, executor } = await elsewhere()
    const inputs = [
      { from: 'a', as: 'poem' },
      { from: 'a', as: 'numbers', file: 'data/n.csv' },
    ]
    const { status } = await place.run(
      flowOf(
        [worker('a'), worker('b', { inputs }), worker('d', { executor, inputs })],
        [edge('a', 'b'), edge('b', 'd')],
      ),
    )
    expect(status).toBe('DONE')
    const [said] = work.asked
    const named = said.inputs.filter(({ name }: Asked) => name !== undefined)
    expect(named).toMatchObject([
      { name: 'poem', node_id: 'a', media_type: 'text/markdown', content: 'of a' },
      { name: 'numbers', path: 'data/n.csv', media_type: 'text/csv', content: '1,2', bytes: 3 },
    ])
    const local = JSON.parse(said.inputs[0].content)
    expect(local).toMatchObject([
      { name: 'poem', path: named[0].path, digest: named[0].digest },
      { name: 'numbers', path: 'data/n.csv', digest: named[1].digest },
    ])
    expect(local[0].content).toBeUndefined()
  })

  it('are cut at 256 KiB for who is elsewhere, and say so', async () => {
    place.write('a.mjs', script(`${TOOL}${artifact('"é".repeat(200_000)')}`))
    const { work, executor } = await elsewhere()
    const inputs = [{ from: 'a', as: 'long' }]
    const nodes = [worker('a'), worker('d', { executor, inputs })]
    await place.run(flowOf(nodes, [edge('a', 'd')]))
    const [{ content, is_cut }] = work.asked[0].inputs
    expect([Buffer.byteLength(content), is_cut, content.at(-1)]).toEqual([262_144, true, 'é'])
  })

  it('that are not there stop the node, unless they are optional', async () => {
    const nodes = (optional: boolean) => [
      worker('a', { executor: { human: 'ann' } }),
      worker('b', { inputs: [{ from: 'a', as: 'poem', optional }] }),
    ]
    place.write('b.mjs', script(`${TOOL}${artifact('"without"')}`))
    const stopped = await place.run(flowOf(nodes(false), []))
    expect(findingsIn(stopped)).toContain('flow.incomplete block')
    expect(findingsIn(await place.run(flowOf(nodes(true), [])))).toEqual([])
  })

  it('whose file is not there fail the attempt with the reason', async () => {
    const inputs = [{ from: 'a', as: 'n', file: 'none.csv' }]
    place.write('a.mjs', script(`${TOOL}${artifact('"of a"')}`))
    place.write('b.mjs', script(`${TOOL}${artifact('"of b"')}`))
    const nodes = [worker('a'), worker('b', { inputs, max_attempts: 1 })]
    const { facts } = await place.run(flowOf(nodes, [edge('a', 'b')]))
    const failed = eventsOf(facts, 'attempt_failed').map(({ error }) => error)
    const why = 'the input "n" from "a" is not there: no file "none.csv"'
    expect(failed).toEqual([{ outcome: 'failed', why }])
  })

  it('name nodes that exist, each under a name of its own', () => {
    const inputs = [
      { from: 'x', as: 'one' },
      { from: 'a', as: 'one' },
    ]
    const { violations } = checkFlow(
      flowOf([worker('a'), worker('b', { inputs })], [edge('a', 'b')]),
    )
    expect(violations.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'flow.unknown_ref /nodes/1/inputs/0/from',
      'flow.duplicate_id /nodes/1/inputs/1/as',
    ])
  })
})

it('who judges gets the files of the work, as text elsewhere', TIMEOUT, async () => {
  place.write('a.mjs', script(`${TOOL}writeFileSync('page.html', '<p>')\n${artifact('"of a"')}`))
  place.write(
    'c.mjs',
    script(
      `writeFileSync('/dev/null', '')\n${review('input.files.length === 1 && input.files[0].path === "page.html" ? 95 : 1')}`,
    ),
  )
  const { judge, reviewer } = await elsewhere()
  const nodes = [worker('a'), checker('c', 'a'), checker('d', 'a', { reviewer })]
  const { status } = await place.run(flowOf(nodes, [edge('a', 'c'), edge('a', 'd')]))
  expect(status).toBe('DONE')
  expect(judge.asked[0].files).toMatchObject([
    { path: 'page.html', media_type: 'text/html', content: '<p>' },
  ])
})

it('who judges gets every file of the work, however many there are', TIMEOUT, async () => {
  const many = "for (let i = 0; i < 230; i++) writeFileSync('a' + i + '.txt', 'ok')"
  place.write(
    'a.mjs',
    script(`${TOOL}${many}\nwriteFileSync('z.txt', 'BAD')\n${artifact('"of a"')}`),
  )
  const isSeen = 'input.files.length === 231 && input.files.some(({ path }) => path === "z.txt")'
  place.write('c.mjs', script(`writeFileSync('/dev/null', '')\n${review(`${isSeen} ? 95 : 1`)}`))
  const { status } = await place.run(flowOf([worker('a'), checker('c', 'a')], [edge('a', 'c')]))
  expect(status).toBe('DONE')
})

describe('unreviewed work of another node', TIMEOUT, () => {
  it('is in no review, no input and no list: each reads what its own node sees', async () => {
    const [isAsked, isStaged, isGiven] = [deferred(), deferred(), deferred()]
    const put = (word: string, more = '') =>
      script(`${TOOL}mkdirSync('out', { recursive: true })
writeFileSync('out/text.txt', '${word}')
${more}${artifact(`'of ${word}'`)}`)
    const list = (item: string) => `writeFileSync('out/list.json', '["${item}"]')\n`
    place.write('p.mjs', put('plan', list('reviewed')))
    place.write('w.mjs', put('mine'))
    place.write('x.mjs', put('theirs', list('unreviewed')))
    const first = Endpoint.json(async (asked) => {
      isAsked.resolve()
      await isStaged.promise
      return { body: reviewOf(asked) }
    })
    const judge = Endpoint.json((asked) => ({ body: reviewOf(asked) }))
    const others = Endpoint.json(async (asked) => {
      isStaged.resolve()
      await isGiven.promise
      return { body: reviewOf(asked) }
    })
    const work = Endpoint.json(async ({ node }) => {
      if (node.node_id === 'q') await isAsked.promise
      else if (node.node_id !== 'd') isGiven.resolve()
      return { body: ACTION }
    })
    const executor: Participant = { http: await open(work), tools: 'none' }
    const inputs = [{ from: 'p', as: 'list', file: 'out/list.json' }]
    const nodes = [
      worker('p'),
      worker('w'),
      checker('first', 'w', { reviewer: { http: await open(first) } }),
      checker('judge', 'w', { reviewer: { http: await open(judge) } }),
      worker('q', { executor }),
      worker('x'),
      checker('others', 'x', { reviewer: { http: await open(others) } }),
      worker('d', { executor, inputs }),
      worker('m', { executor, title: '{item}', map: { from: 'out/list.json:.' } }),
    ]
    const ways = ['p w', 'w first', 'first judge', 'judge d', 'd m', 'p q', 'q x', 'x others']
    const edges = ways.map((way) => edge(way.split(' ')[0] ?? '', way.split(' ')[1] ?? ''))
    await place.run(flowOf(nodes, edges))
    expect(judge.asked[0].files).toMatchObject([{ path: 'out/text.txt', content: 'mine' }])
    const [, given, item] = work.asked
    const named = given.inputs.find(({ name }: Asked) => name === 'list')
    expect([named.content, item.item]).toEqual(['["reviewed"]', 'reviewed'])
  })
})

function deferred() {
  let resolve = (): void => {}
  const promise = new Promise<void>((done) => {
    resolve = done
  })
  return { promise, resolve }
}
