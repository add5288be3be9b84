/**
 * A participant that tries to change what other nodes and other runs handed in, and files that changed in
 * another way: nothing forged is handed on. Real processes in the real sandbox.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { digestBytes } from '../../src/base/index.ts'
import type { Flow } from '../../src/contracts/index.ts'
import { type FlowFact, replayRun, stopsOf } from '../../src/flow/index.ts'
import { leaveOrder, type WalkedRun } from '../../src/runs/runs.ts'
import { artifact, edge, enteredIn, flowOf, goal, worker } from './acceptance/scene.ts'
import { findingsIn, type RunPlace } from './place.ts'
import { placeEach } from './place-each.ts'
import { script, TOOL } from './scripts.ts'

const TIMEOUT = { timeout: 90_000 }
const OLD = 'artifacts/run-0123456789ab/a/1/out.md'

let place: RunPlace

placeEach('forged', (made) => {
  place = made
  made.write('a.mjs', script(`${TOOL}${artifact("'honest'")}`))
  made.write(OLD, 'of another run')
})

/** Hands on what it finds in the file of each input. */
const LOOK = script(
  `${TOOL}${artifact("JSON.stringify(input.inputs.map(({ path }) => readFileSync(path, 'utf8')))")}`,
)

/** Runs statements one by one, each with \`own\`, the folder of its run; hands in how each ended. */
function hostile(...statements: readonly string[]): string {
  const works = statements.map((statement) => `() => { ${statement} }`).join(',\n')
  return script(`import { renameSync, rmSync, symlinkSync, linkSync, truncateSync, chmodSync } from 'node:fs'
${TOOL}const own = 'artifacts/run-' + input.run_id.slice(-12)
const ended = [${works}].map((work) => { try { work(); return 'done' } catch (error) { return error.code } })
${artifact('JSON.stringify(ended)')}`)
}

const chain = (more: Partial<Flow> = {}): Flow =>
  flowOf(
    [
      worker('a'),
      worker('b', { max_attempts: 1 }),
      worker('c', { inputs: [{ from: 'a', as: 'first' }] }),
      goal('d', 'P2'),
    ],
    [edge('a', 'b'), edge('b', 'c'), edge('c', 'd')],
    more,
  )

function foundIn({ facts }: WalkedRun, code: string): readonly unknown[] {
  return facts.flatMap(({ type, payload }) =>
    type === 'flow_finding_v1' && payload.code === code ? [payload.values] : [],
  )
}

describe('an executor without `writes`', TIMEOUT, () => {
  it('finds what others handed in read-only', async () => {
    place.write(
      'b.mjs',
      hostile(
        `writeFileSync(own + '/a/1/out.md', 'forged')`,
        `truncateSync(own + '/a/1/out.md')`,
        `writeFileSync(own + '/a/2.md', 'more')`,
        `rmSync(own + '/a/1/out.md')`,
        `renameSync(own + '/a', own + '/gone')`,
        `renameSync('artifacts', 'gone')`,
        `writeFileSync('${OLD}', 'forged')`,
        `rmSync('artifacts/run-0123456789ab', { recursive: true })`,
        `mkdirSync(own + '/b/1', { recursive: true }); writeFileSync(own + '/b/1/notes.md', 'free')`,
      ),
    )
    place.write('c.mjs', LOOK)
    const run = await place.run(chain())
    expect([run.status, findingsIn(run)]).toEqual(['DONE', []])
    const ended: readonly string[] = JSON.parse(place.read(`${run.state.artifacts}/b/1/out.md`))
    expect(ended.slice(0, -1)).not.toContain('done')
    expect(ended.at(-1)).toBe('done')
    expect(JSON.parse(place.read(`${run.state.artifacts}/c/1/out.md`))).toContain('honest')
    expect(place.read(`${run.state.artifacts}/a/1/out.md`)).toBe('honest')
    expect(place.read(`${run.state.artifacts}/b/1/notes.md`)).toBe('free')
    expect(place.read(OLD)).toBe('of another run')
  })

  it('is blocked if it plants the output of a node that is still to run', async () => {
    place.write(
      'b.mjs',
      hostile(
        `mkdirSync(own + '/c/1', { recursive: true }); writeFileSync(own + '/c/1/out.md', 'x')`,
      ),
    )
    place.write('c.mjs', LOOK)
    const run = await place.run(chain())
    expect([run.status, enteredIn(run.facts)]).toEqual(['BLOCKED', ['a', 'b']])
    const own = run.state.artifacts
    expect(foundIn(run, 'flow.artifact_touched')[0]).toMatchObject({ path: `${own}/c` })
    const [stop] = stopsOf(run)
    expect(stop?.says).toContain(`it changed ${own}/c`)
    expect(readdirSync(join(place.workspace, own))).toEqual(['a'])
  })

  it('has failed if a link is in the place of its own folder or file', async () => {
    place.write(
      'b.mjs',
      hostile(`input.attempt === 1 ? symlinkSync('a', own + '/b') : (mkdirSync(own + '/b/2',
        { recursive: true }), symlinkSync('../../a/1/out.md', own + '/b/2/out.md'))`),
    )
    place.write('c.mjs', LOOK)
    const flow = chain()
    const [a, b, ...rest] = flow.nodes
    const nodes = [a, { ...b, max_attempts: 2 }, ...rest] as Flow['nodes']
    const run = await place.run({ ...flow, nodes })
    expect([run.status, enteredIn(run.facts)]).toEqual(['WAITING', ['a', 'b', 'b']])
    expect(JSON.stringify(run.facts)).toContain('it left something in the place of its artifact')
    expect(readdirSync(join(place.workspace, run.state.artifacts))).toEqual(['a'])
  })
})

/** Changes the artifact of \`a\` in the moment in which it has become real. */
function forgeOncePromoted(forge: (file: string) => void) {
  const onFacts = (facts: readonly FlowFact[]): void => {
    const isReal = facts.some(
      ({ type, payload }) =>
        type === 'flow_event_v1' &&
        payload.kind === 'event' &&
        payload.event.type === 'promoted' &&
        payload.event.node_id === 'a',
    )
    if (!isReal) return
    const [own = ''] = readdirSync(join(place.workspace, 'artifacts')).filter(
      (name) => !OLD.includes(name),
    )
    const [file = ''] = readdirSync(join(place.workspace, 'artifacts', own, 'a/1'))
    forge(join(place.workspace, 'artifacts', own, 'a/1', file))
  }
  return { onFacts }
}

describe('an artifact that changed outside of the run', TIMEOUT, () => {
  it('stops a node before it is given it; put back, the run goes on', async () => {
    place.write('b.mjs', LOOK)
    place.write('c.mjs', LOOK)
    const run = await place.run(
      chain(),
      {},
      forgeOncePromoted((file) => writeFileSync(file, 'forged')),
    )
    expect([run.status, enteredIn(run.facts)]).toEqual(['BLOCKED', ['a', 'b']])
    const path = `${run.state.artifacts}/a/1/out.md`
    expect(foundIn(run, 'flow.artifact_changed')).toEqual([
      {
        path,
        made_by: 'a',
        recorded: digestBytes('honest'),
        found: digestBytes('forged'),
        next: `writ flow answer ${run.runId} b unblock`,
      },
    ])
    const [stop] = stopsOf(run)
    expect(stop?.says).toContain(`${path} is not what a handed in`)
    expect(stop?.next).toContain(`writ flow answer ${run.runId} b unblock`)
    place.write(path, 'honest')
    const order = {
      kind: 'unblock',
      node_id: 'b',
      principal: 'human:ann@local',
      since: -1,
    } as const
    leaveOrder(place.host(), run.runId, order)
    const again = await place.resume(run.runId)
    expect([again.status, replayRun(again.flow, again.facts)]).toEqual(['DONE', null])
  })

  it('stops a node as well if it was removed', async () => {
    place.write('b.mjs', LOOK)
    place.write('c.mjs', LOOK)
    const run = await place.run(
      chain(),
      {},
      forgeOncePromoted((file) => rmSync(file)),
    )
    expect([run.status, enteredIn(run.facts)]).toEqual(['BLOCKED', ['a', 'b']])
    expect(foundIn(run, 'flow.artifact_changed')).toMatchObject([
      { made_by: 'a', found: 'nothing' },
    ])
    expect(stopsOf(run)[0]?.next).toContain(`writ flow show ${run.runId} a --all`)
  })

  it('is compared where it is a file that a node left', async () => {
    const leave = `mkdirSync('out', { recursive: true }); writeFileSync('out/a.txt', input.run_id)`
    place.write('a.mjs', script(`${TOOL}${leave}\n${artifact("'honest'")}`))
    place.write('c.mjs', LOOK)
    const inputs = [{ from: 'a', as: 'text', file: 'out/a.txt' }]
    const flow = flowOf(
      [worker('a'), worker('c', { inputs }), goal('d', 'P2')],
      [edge('a', 'c'), edge('c', 'd')],
    )
    expect((await place.run(flow)).status).toBe('DONE')
    const edited = await place.run(
      flow,
      {},
      forgeOncePromoted(() => place.write('out/a.txt', 'by a person')),
    )
    expect(edited.status).toBe('BLOCKED')
    expect(foundIn(edited, 'flow.artifact_changed')).toMatchObject([
      { path: 'out/a.txt', made_by: 'a', recorded: digestBytes(edited.runId) },
    ])
  })

  it('gives a map no list, and closes a gate that reads it', async () => {
    const json = artifact('JSON.stringify({ bugs: 1, parts: [{ name: 1 }] })')
    place.write('a.mjs', script(`${TOOL}${json.replace("'md'", "'json'")}`))
    place.write('b.mjs', LOOK)
    place.write('c.mjs', script(`${TOOL}${artifact("'done'")}`))
    const forge = forgeOncePromoted((file) => writeFileSync(file, '{"bugs":0,"parts":[]}'))
    const guard = {
      guard_expr: 'state.bugs == 0',
      guard_evidence_source: 'artifacts/a/1/out.json:bugs',
    }
    const state = { fields: { bugs: { type: 'int' as const, initial: 9 } } }
    const nodes = [
      worker('a'),
      worker('b', { map: { artifact: 'a:parts' } }),
      goal('h', 'P1'),
      worker('c'),
      goal('g', 'P1'),
      goal('e', 'P2'),
    ]
    const ways = [
      edge('a', 'b'),
      edge('a', 'h'),
      edge('h', 'c'),
      edge('b', 'e'),
      edge('c', 'g', guard),
    ]
    const run = await place.run(flowOf(nodes, ways, { state }), {}, forge)
    const why = expect.stringContaining('a/1/out.json` is not what the node `a` handed in')
    expect(foundIn(run, 'flow.list_refused')).toMatchObject([{ problem: 'unreadable', why }])
    expect(foundIn(run, 'flow.evidence_unreadable')).toMatchObject([{ problem: 'changed', why }])
    expect(run.status).toBe('BLOCKED')
  })
})
