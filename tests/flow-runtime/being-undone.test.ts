/** While the gate undoes what a Rollback leaves behind, no other way enters its target (version 10). */
import { expect, it } from 'vitest'
import { edge, Host, node, work } from './host.ts'

type Command = Host['open'][number]

/** x goes back to m, and t leads to m while the act of x is being undone. */
function goneBack(version: string): Host {
  const nodes = [work('s'), work('m'), work('x'), work('t'), node('g', { kind: 'GOAL' })]
  const back = edge('x', 'm', { class: 'Rollback', guard_expr: 'state.attempt_count < 2' })
  const ways = [edge('s', 'm'), edge('s', 't'), edge('m', 'x'), edge('t', 'm'), edge('x', 'g')]
  const host = new Host({ nodes, edges: [...ways, back] }, (id, attempt) => ({
    stage: id === 'x' ? `x ${attempt}` : null,
  }))
  host.startWith({ evaluator: { name: 'flow', version } })
  const isOf = (one: Command, id: string): boolean => 'node_id' in one && one.node_id === id
  const take = (isMeant: (one: Command) => boolean): Command => {
    const [one] = host.open.splice(host.open.findIndex(isMeant), 1)
    if (one === undefined) throw new Error('the run does not ask for it')
    return one
  }
  host.run((one) => isOf(one, 't') || isOf(one, 'm'))
  const slow = take((one) => isOf(one, 't'))
  host.run(({ type }) => type === 'roll_back')
  const undo = take(({ type }) => type === 'roll_back')
  host.answer(slow)
  expect(host.node('t').status).toBe('done')
  host.open.push(undo)
  return host
}

it('enters it once, when all is undone', () => {
  const host = goneBack('10').run()
  host.verify()
  expect([host.status, host.entered]).toEqual(['DONE', ['s', 'm', 't', 'x', 'm', 'x', 'g']])
})

it('entered it twice by the rules of before', () => {
  const host = goneBack('9').run()
  host.verify()
  expect(host.entered.filter((id) => id === 'm')).toHaveLength(3)
})

it('goes on after the undoing failed, when a person unblocks it', () => {
  const host = goneBack('10')
  const [undo] = host.open.splice(0, 1)
  if (undo?.type !== 'roll_back') throw new Error('nothing is undone')
  const { node_id, command } = undo
  host.send({ type: 'rolled_back', node_id, command, is_restored: false })
  host.run()
  expect(host.status).toBe('BLOCKED')
  host.send({ type: 'unblocked', node_id: 'x', principal: 'human:ann@local' })
  host.run().verify()
  expect(host.status).toBe('DONE')
})
