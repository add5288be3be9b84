/** The commands and files that a stop names let its run go on. */
import { expect, it } from 'vitest'
import { outstanding, type RunStop, stopsOf } from '../../src/flow/index.ts'
import { edge, Host, node, work } from './host.ts'

const GOAL = node('z', { kind: 'GOAL', phase_id: 'Q' })

function stopOf(host: Host, nodeId: string): RunStop {
  const { flow, facts, state } = host
  const stops = stopsOf({ flow, facts, state, waiting: outstanding(state) })
  const found = stops.find(({ node_id }) => node_id === nodeId)
  if (found === undefined) throw new Error(`the run does not stop at ${nodeId}`)
  return found
}

function runIdOf(host: Host): string {
  return host.state.runId ?? ''
}

it('a budget that is used up is raised, since unblocking its node would stop it again', () => {
  const parts = { nodes: [work('a'), work('b'), GOAL], edges: [edge('a', 'b'), edge('b', 'z')] }
  const host = new Host({ ...parts, budgets: { attempts: 1 } }).start().run()
  const { code, next } = stopOf(host, 'b')
  expect(code).toBe('flow.budget')
  expect(next[0]).toBe(`writ flow budget ${runIdOf(host)} --attempts N`)
  expect(next.join('\n')).not.toContain('unblock')
})

it('items that are missing are named, since unblocking their map changes nothing', () => {
  const map = { items: ['x', 'y', 'z'], minimum: 3 }
  const parts = { nodes: [work('m', { map }), GOAL], edges: [edge('m', 'z')] }
  const host = new Host(parts, (id) => (id === 'm/2' ? { outcome: 'failed' } : {})).start().run()
  const { code, next } = stopOf(host, 'm')
  expect(code).toBe('flow.items_short')
  const unblocks = next.filter((command) => command.endsWith('unblock'))
  expect(unblocks).toEqual([`writ flow answer ${runIdOf(host)} m/2 unblock`])
  expect(host.send({ type: 'unblocked', node_id: 'm/2', principal: 'human:ann@local' })).toBe(true)
})

it('a file that changed meanwhile is named, and unblocking does the work again', () => {
  const parts = { nodes: [work('a'), GOAL], edges: [edge('a', 'z')] }
  const host = new Host(parts, () => ({ stage: 'm' })).start()
  host.run(({ type }) => type === 'promote')
  const command = host.open.shift()?.command ?? -1
  const [path, why] = ['/w/report.md', ['promote.conflict', 'effect.not_observed']]
  const to = { node_id: 'a', command, action_id: null, manifest: 'm' }
  host.send({ type: 'promoted', ...to, why, about: [path] })
  const { says, next } = stopOf(host.run(), 'a')
  expect(says).toContain(`${path} changed after its work had begun`)
  expect(says).toContain('`unblock` runs its work again')
  expect(says).not.toContain('effect.not_observed')
  expect(next[0]).toBe(`writ flow answer ${runIdOf(host)} a unblock`)
  host.send({ type: 'unblocked', node_id: 'a', principal: 'human:ann@local' })
  expect([host.run().status, host.node('a').attempts]).toEqual(['DONE', 2])
})

it('a path outside of `writes` is named with the field, and the command that mends it', () => {
  const parts = { nodes: [work('a', { max_attempts: 1 }), GOAL], edges: [edge('a', 'z')] }
  const stopFor = (undeclared: readonly string[]): RunStop =>
    stopOf(new Host(parts, () => ({ undeclared })).start().run(), 'a')
  const { kind, says, next } = stopFor(['/w/release.md'])
  expect(kind).toBe('decision')
  expect(says).toContain('`writes` of the node does not hold /w/release.md')
  expect(next[0]).toMatch(/^writ flow migrate .* FILE$/)
  // Hosts are not in `writes`.
  expect(stopFor(['example.com:443']).says).not.toContain('`writes`')
})

it('a participant without tools can say so', () => {
  const parts = { nodes: [work('a', { max_attempts: 2 }), GOAL], edges: [edge('a', 'z')] }
  const host = new Host(parts, () => ({ tools: 0 })).start().run()
  const { says, next } = stopOf(host, 'a')
  expect(says).toContain('`tools: none`')
  expect(next).toContain(`writ flow migrate ${runIdOf(host)} FILE`)
})

it('a way that only an edit opens names the command with the files of the run', () => {
  const guard = { class: 'Gate' as const, guard_expr: '1 > 2' }
  const either = { class: 'Decision' as const, guard_expr: 'state.attempt_count > 0' }
  for (const edges of [
    [edge('a', 'z', guard)],
    [edge('a', 'z', either), edge('a', 'b', { ...either, guard_expr: 'state.attempt_count < 9' })],
  ]) {
    const host = new Host({ nodes: [work('a'), work('b'), GOAL], edges })
    host.startWith({ source: { file: '/w/my flow.yaml', side: '/w/side.yaml' } }).run()
    expect(stopOf(host, 'a').next).toContain(
      `writ flow migrate ${runIdOf(host)} '/w/my flow.yaml' --side /w/side.yaml`,
    )
  }
})

it.each([
  ['open.bugs', false],
  ['open.errors', true],
])('a closed way names the file of its evidence: %s', (field, isUnknown) => {
  const guard = { guard_expr: 'state.bugs > 3', guard_evidence_source: `qa/{X}.json:${field}` }
  const host = new Host({
    nodes: [work('a'), GOAL],
    edges: [edge('a', 'z', guard)],
    state: { fields: { bugs: { type: 'int', initial: 0 } } },
  })
  host.start().run(({ type }) => type === 'read_evidence')
  const command = host.open.pop()
  if (command?.type === 'read_evidence') {
    const readings = command.sources.map(({ edge_id }) => ({ edge_id, digest: 'd', value: 3 }))
    host.send({ type: 'evidence_read', node_id: 'a', command: command.command, readings })
  }
  host.run()
  const { says } = stopOf(host, 'a')
  expect(says).toContain(`its evidence is the field ${field} of qa/P.json`)
  expect(says.includes('the state has no field errors')).toBe(isUnknown)
})

it('a person learns which files to leave, and where the template of the answer is', () => {
  const executor = { human: true as const }
  const files = ['out/a.md', 'out/b.md']
  const parts = {
    nodes: [work('a', { executor, required_files: files }), GOAL],
    edges: [edge('a', 'z')],
  }
  const host = new Host(parts).start()
  const { says } = stopOf(host, 'a')
  expect(says).toContain('out/a.md, out/b.md')
  expect(says).toContain(`.writ/runs/${runIdOf(host)}/waiting-a.json`)
})

it('input without a place of its own has one below inputs/', () => {
  const parts = { nodes: [work('a'), GOAL], edges: [edge('a', 'z')] }
  const host = new Host(parts, () => ({ result: 'NEEDS_INPUT' })).start().run()
  const { flow, facts, state } = host
  const waiting = outstanding(state).map((command) => {
    if (command.type !== 'ask_human') return command
    return { ...command, needs: command.needs.map((one) => ({ ...one, suggested_path: null })) }
  })
  const [stop] = stopsOf({ flow, facts, state, waiting })
  expect(stop?.says).toContain('at inputs/spec')
})
