/** Another run of the workspace changes what the reviewer of this one loads: before it runs, and while it runs. */
import { expect, it } from 'vitest'
import type { Flow, Participant } from '../../src/contracts/index.ts'
import type { WalkedRun, WatchOptions } from '../../src/runs/runs.ts'
import { checker, edge, flowOf, goal, review, worker } from './acceptance/scene.ts'
import { findingsIn, type RunPlace } from './place.ts'
import { placeEach } from './place-each.ts'
import { script } from './scripts.ts'

const TIMEOUT = { timeout: 120_000 }

let place: RunPlace

placeEach('other-acts', (made) => {
  place = made
})

const ANSWER =
  "answer({ result_type: 'ARTIFACT', artifact: { name: 'out', format: 'md', content: 'x' } })"
const WRITE = (path: string, text: string): string =>
  `import { dirname } from 'node:path'\nmkdirSync(dirname(${JSON.stringify(path)}), { recursive: true })\nwriteFileSync(${JSON.stringify(path)}, ${JSON.stringify(text)})\n${ANSWER}`
const SHELL = `id=$(printf %s "$input" | jq -r .review_id)
d=$(printf %s "$input" | jq -r .artifact.digest)
printf '{"review_id":"%s","artifact_digest":"%s","total_score":95,"action_required":"APPROVE","summary":"s","breakdown":[],"suggestions":[]}\\n' "$id" "$d"
`
const PYTHON = `import json, sys
i = json.load(sys.stdin)
print(json.dumps({"review_id": i["review_id"], "artifact_digest": i["artifact"]["digest"], "total_score": 95, "action_required": "APPROVE", "summary": "s", "breakdown": [], "suggestions": []}))
`

function judged(reviewer: Participant): Flow {
  place.write('work/a.mjs', script(WRITE('out/a.txt', 'a')))
  const executor = { command: ['node', 'work/a.mjs'], tools: 'none' as const }
  return flowOf(
    [
      worker('a', { executor, writes: ['out/a.txt'], max_attempts: 1, after: 4 }),
      checker('c', 'a', { reviewer, max_attempts: 1 }),
      goal('end', 'P2'),
    ],
    [edge('a', 'c'), edge('c', 'end')],
  )
}

function writing(path: string, text: string, writes = path): Flow {
  place.write('work/b.mjs', script(WRITE(path, text)))
  const executor = { command: ['node', 'work/b.mjs'], tools: 'none' as const }
  return flowOf(
    [worker('b', { executor, writes: [writes], max_attempts: 1 }), goal('done', 'P2')],
    [edge('b', 'done')],
  )
}

function changedIn({ facts }: WalkedRun): readonly unknown[] {
  return facts.flatMap(({ type, payload }) =>
    type === 'flow_finding_v1' && payload.code === 'flow.program_changed'
      ? [payload.values['path']]
      : [],
  )
}

const OPEN = { command: ['sh', 'agents/r.sh'] }

it.each<[string, Participant, string, boolean]>([
  ['a module in the root', { command: ['python3', 'r.py'] }, 'json.py', true],
  [
    'what a tool loads from anywhere',
    { command: ['python3', 'agents/r.py'] },
    'x/conftest.py',
    true,
  ],
  ['a test that a shell runs', OPEN, 'tests/test_data.py', true],
  ['data that a runner may collect', OPEN, 'out/test_b.txt', true],
  ['data that its flow names', OPEN, 'out/b.txt', false],
  [
    'code that no closed reviewer loads',
    { command: ['python3', 'agents/r.py'] },
    'lib/x.py',
    false,
  ],
])('before: %s', TIMEOUT, async (_, reviewer, path, isStopped) => {
  for (const file of ['r.py', 'agents/r.py']) place.write(file, PYTHON)
  place.write('agents/r.sh', `input=$(cat)\n${SHELL}`)
  const walked = place.run(judged(reviewer), {}, { waits: true })
  const other = await place.run(writing(path, 'pass\n'))
  expect(other.status).toBe('DONE')
  const run = await walked
  expect(changedIn(run)).toEqual(isStopped ? [path] : [])
  expect(run.status).toBe(isStopped ? 'BLOCKED' : 'DONE')
  expect(place.has('out/a.txt')).toBe(!isStopped)
})

it('while it runs, also if it is put back before the review is taken', TIMEOUT, async () => {
  place.write(
    'agents/r.mjs',
    script(`await new Promise((resolve) => setTimeout(resolve, 9000))\n${review('95')}`),
  )
  const flow = judged({ command: ['node', 'agents/r.mjs'] })
  for (const node of flow.nodes) Object.assign(node, node.node_id === 'a' ? { after: 0 } : {})
  let isJudging: () => void = () => {}
  const judging = new Promise<void>((resolve) => {
    isJudging = resolve
  })
  const walked = place.run(
    flow,
    {},
    {
      waits: true,
      onFacts: (facts) => {
        if (JSON.stringify(facts).includes('"review_id"')) setTimeout(isJudging, 1500)
      },
    },
  )
  await judging
  const other = await place.run(writing('tests/conftest.py', 'pass\n'))
  const promoted = JSON.stringify(other.facts).match(/"type":"promoted"[^}]*?"action_id":"([^"]+)"/)
  await place.gate.rollback({ actionId: promoted?.[1] ?? '' }, { dryRun: false })
  expect(place.has('tests/conftest.py')).toBe(false)
  const run = await walked
  expect(changedIn(run)).toContain('tests/conftest.py')
  expect(findingsIn(run).join()).toContain('flow.program_changed')
  expect([run.status, place.has('out/a.txt')]).toEqual(['BLOCKED', false])
})

it('goes on when it is put back', TIMEOUT, async () => {
  place.write('r.py', PYTHON)
  const walked = place.run(judged({ command: ['python3', 'r.py'] }), {}, { waits: true })
  const other = await place.run(writing('json.py', 'pass\n'))
  const promoted = JSON.stringify(other.facts).match(/"type":"promoted"[^}]*?"action_id":"([^"]+)"/)
  await place.gate.rollback({ actionId: promoted?.[1] ?? '' }, { dryRun: false })
  expect((await walked).status).toBe('DONE')
})

it('work cannot change the file that began its run', TIMEOUT, async () => {
  const file = place.write('flow.yaml', 'the flow\n')
  place.write('work/b.mjs', script(WRITE('flow.yaml', 'another\n')))
  const executor = { command: ['node', 'work/b.mjs'], tools: 'none' as const }
  const flow = flowOf(
    [worker('b', { executor, max_attempts: 1 }), goal('g', 'P2')],
    [edge('b', 'g')],
  )
  const run = await place.run(flow, {}, { source: { file } } as WatchOptions)
  expect(findingsIn(run).join()).toContain('flow.program_touched')
  expect(place.read('flow.yaml')).toBe('the flow\n')
})
