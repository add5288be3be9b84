/** Questions about a version of work that is no more: they are withdrawn, and asked about the next one. */
import { expect, it } from 'vitest'
import { digestBytes } from '../../src/base/index.ts'
import type { FlowCommand } from '../../src/flow/index.ts'
import { check, edge, Host, node, work } from './host.ts'

const human = { reviewer: { human: true } } as const

/** Answers what is asked of `id`, and leaves the rest open. */
function answer(host: Host, id: string): void {
  const asked = questionAt(host, id)
  host.open.splice(host.open.indexOf(asked), 1)
  host.answer(asked)
}

function questionAt(host: Host, id: string): FlowCommand & { type: 'run_participant' } {
  const asked = host.open.find((one) => one.type === 'run_participant' && one.node_id === id)
  if (asked?.type !== 'run_participant') throw new Error(`${id} is not asked`)
  return asked
}

it('a REJECT of one CHECK withdraws what the other is asked; it judges the next version', () => {
  const nodes = [work('w'), check('lint', 'w'), check('boss', 'w', human), node('z')]
  const edges = [edge('w', 'lint'), edge('w', 'boss'), edge('boss', 'z')]
  const host = new Host({ nodes, edges }, (id, attempt) => ({
    score: id === 'lint' && attempt === 1 ? 40 : 95,
    content: `version ${attempt}`,
    stage: id === 'w' ? `stage ${attempt}` : null,
  })).start()
  answer(host, 'w')
  const first = questionAt(host, 'boss')
  answer(host, 'lint')
  expect([host.node('boss').status, host.node('boss').pending]).toEqual(['rejected', null])
  const late = { type: 'attempt_started' as const, node_id: 'boss', command: first.command }
  expect(host.send(late)).toBe(false)
  answer(host, 'w')
  const digest = digestBytes('version 2')
  expect(questionAt(host, 'boss').review?.artifact_digest).toBe(digest)
  answer(host, 'lint')
  expect(host.node('w').status).toBe('submitted')
  answer(host, 'boss')
  host.run()
  expect([host.status, host.node('w').entries]).toEqual(['DONE', 2])
  host.verify()
})
