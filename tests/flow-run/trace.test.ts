/** `trace: refused` (F-5): each access that a ban refused is recorded, for every process and ending. */
import { join } from 'node:path'
import { beforeEach, expect, it, vi } from 'vitest'
import type { Flow } from '../../src/contracts/index.ts'
import { reportOf } from '../../src/flow/index.ts'
import type { WalkedRun } from '../../src/runs/runs.ts'
import { artifact, checker, edge, flowOf, review, worker } from './acceptance/scene.ts'
import { Endpoint } from './endpoints.ts'
import { findingsIn, type RunPlace } from './place.ts'
import { placeEach } from './place-each.ts'
import { script, TOOL } from './scripts.ts'

vi.setConfig({ testTimeout: 60_000 })

let place: RunPlace

placeEach('trace', (made) => {
  place = made
})

beforeEach(() => {
  place.write('output/agent.md', 'secret of the agent')
  place.write('locked/kept.txt', 'kept')
})

const TRY = `for (const attempt of [
  () => readFileSync('output/agent.md'),
  () => writeFileSync('locked/kept.txt', 'changed'),
  () => readFileSync('/etc/shadow'),
]) try { attempt() } catch {}
`

const ban = (actor: string, resource_path: string, access_mode: 'read' | 'write') => ({
  actor,
  resource_path,
  access_mode,
  access_allowed: false,
})

const BANS: Partial<Flow> = {
  access_rules: ['writer', 'validator'].flatMap((actor) => [
    ban(actor, 'output/**', 'read'),
    ban(actor, 'locked/*', 'write'),
  ]),
}

function refusedIn({ flow, facts, state }: WalkedRun): readonly string[] {
  const access = reportOf(flow, facts, state).access as readonly Record<string, unknown>[]
  return access.flatMap(({ kind, node_id, mode, path }) =>
    kind === 'refused' ? [`${node_id} ${mode} ${path}`] : [],
  )
}

/** Both bans, and nothing that no rule of the flow speaks of. */
function both(node: string): readonly string[] {
  const { workspace } = place
  return [
    `${node} read ${join(workspace, 'output/agent.md')}`,
    `${node} write ${join(workspace, 'locked/kept.txt')}`,
  ]
}

it('tells what a worker was refused, and the work goes on', async () => {
  place.write('a.mjs', script(`${TRY}${TOOL}${artifact("'done'")}`))
  const run = await place.run(flowOf([worker('a', { trace: 'refused' })], [], BANS))
  expect(run.status).toBe('DONE')
  expect(refusedIn(run)).toEqual(both('a'))
  expect(findingsIn(run)).toEqual(['flow.access_denied refuse', 'flow.access_denied refuse'])
})

it('tells nothing where no flow asked for it', async () => {
  place.write('a.mjs', script(`${TRY}${TOOL}${artifact("'done'")}`))
  const run = await place.run(flowOf([worker('a')], [], BANS))
  expect([run.status, refusedIn(run), findingsIn(run)]).toEqual(['DONE', [], []])
})

it('tells what a reviewer was refused', async () => {
  place.write('a.mjs', script(`${TOOL}${artifact("'done'")}`))
  place.write('c.mjs', script(`${TRY}${review('95')}`))
  const nodes = [worker('a'), checker('c', 'a', { trace: 'refused' })]
  const run = await place.run(flowOf(nodes, [edge('a', 'c')], BANS))
  expect([run.status, refusedIn(run)]).toEqual(['DONE', both('c')])
})

it('tells what was refused to a participant that then failed, or was asked again', async () => {
  place.write('a.mjs', script(`${TRY}process.exit(1)`))
  const node = worker('a', { trace: 'refused', max_attempts: 1 })
  const failed = await place.run(flowOf([node], [], BANS))
  expect([failed.status, refusedIn(failed)]).toEqual(['WAITING', both('a')])
  place.write(
    'a.mjs',
    script(`if (input.last_error) { ${TOOL}${artifact("'done'")} } else { ${TRY} }`),
  )
  const again = await place.run(flowOf([node], [], BANS))
  expect([again.status, refusedIn(again)]).toEqual(['DONE', both('a')])
})

it('tells what operations were refused that a participant asked for, here and elsewhere', async () => {
  const cat = (path: string) => ({ type: 'COMMAND_EXECUTION', argv: ['cat', path] })
  const operation = { ...cat('output/agent.md'), cwd: place.workspace }
  place.write('a.mjs', script(`ask(${JSON.stringify(operation)})\n${artifact("'done'")}`))
  const here = await place.run(flowOf([worker('a', { trace: 'refused' })], [], BANS))
  expect([here.status, refusedIn(here)]).toEqual(['DONE', both('a').slice(0, 1)])
  const made = { result_type: 'ARTIFACT', artifact: { name: 'out', format: 'md', content: 'x' } }
  const endpoint = Endpoint.json(({ tool_results }) => ({
    body: tool_results === undefined ? { tool_calls: [{ operation }] } : made,
  }))
  try {
    const executor = { http: await endpoint.open() }
    const bans = { access_rules: [ban('writer', 'output/**', 'read')] }
    const elsewhere = await place.run(
      flowOf([worker('a', { trace: 'refused', executor })], [], bans),
    )
    expect([elsewhere.status, refusedIn(elsewhere)]).toEqual(['DONE', both('a').slice(0, 1)])
    expect(JSON.stringify(endpoint.asked)).not.toContain('secret of the agent')
  } finally {
    await endpoint.close()
  }
})
