/**
 * No run stops without a reason: over random flows whose participants fail in every way, each run that
 * waits, is blocked or has failed says at which node and why, and what it says to type is accepted.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  type FlowCommand,
  outstanding,
  type RunStop,
  stopsOf,
  toldFindings,
} from '../../src/flow/index.ts'
import { answerAny, attemptArbitrary, flowArbitrary } from '../arbitrary/flows.ts'
import { runs } from '../arbitrary/runs.ts'
import { Host } from './host.ts'

const ANN = 'human:ann@local'

function isPersons(command: FlowCommand): boolean {
  if (command.type === 'ask_human') return true
  if (command.type !== 'run_participant' && command.type !== 'ask_again') return false
  return command.review !== null && isHuman(command)
}

function isHuman(command: FlowCommand): boolean {
  if (command.type === 'ask_again') return false
  return (
    command.type === 'run_participant' &&
    command.participant !== null &&
    'human' in command.participant
  )
}

/** Answers everything that no person has to answer. */
function goOn(host: Host, dice: readonly number[]): void {
  for (const die of dice) {
    const machine = host.open.findIndex((command) => !isPersons(command))
    const [command] = machine === -1 ? [] : host.open.splice(machine, 1)
    if (command === undefined) return
    answerAny(host, command, die)
  }
}

function stopsAt(host: Host): readonly RunStop[] {
  const { flow, facts, state } = host
  return stopsOf({ flow, facts, state, waiting: outstanding(state).filter(isPersons) })
}

/** Does what a command says; false when the run does not wait for it. */
function obey(host: Host, command: string): boolean {
  const [, , verb = '', , nodeId = '', word = ''] = command.split(' ')
  const pending = host.node(nodeId).pending
  const taken = (): void => {
    const place = host.open.findIndex(({ command: number }) => number === pending?.command)
    if (place !== -1) host.open.splice(place, 1)
  }
  if (verb === 'answer' && word === 'unblock')
    return host.send({ type: 'unblocked', node_id: nodeId, principal: ANN })
  if (pending === null) return false
  taken()
  if (verb === 'approve' || verb === 'reject') {
    const before = host.facts.length
    host.answer(pending)
    return host.facts.length > before
  }
  if (word !== 'retry' && word !== 'abandon' && word !== 'provided') return false
  const to = { node_id: nodeId, command: pending.command }
  return host.send({ type: 'human_answer', ...to, answer: word, principal: ANN })
}

const seen = new Map<string, number>()

function check(host: Host): readonly string[] {
  const { status } = host
  if (status === 'DONE' || status === 'RUNNING') return []
  const stops = stopsAt(host)
  expect([status, stops.length > 0]).toEqual([status, true])
  for (const { says, node_id, next, kind, code } of stops) {
    expect(says.length).toBeGreaterThan(0)
    expect(says).not.toContain('undefined')
    expect(node_id === undefined || host.flow.nodeIndex.has(node_id)).toBe(true)
    if (kind === 'failed') continue
    expect([kind, next.length > 0]).toEqual([kind, true])
    // What is blocked was found; a question may be open without a finding.
    if (kind === 'blocked') expect([says, code]).not.toEqual([says, undefined])
    seen.set(`${status} ${kind}`, (seen.get(`${status} ${kind}`) ?? 0) + 1)
  }
  for (const { says } of toldFindings(host.flow, host.facts)) expect(says).not.toBe('')
  return stops.flatMap(({ next }) =>
    next.filter((command) => /^writ flow (?:answer|approve|reject) /.test(command)),
  )
}

it('says why, where, and what to type', { timeout: 180_000 }, () => {
  fc.assert(
    fc.property(
      flowArbitrary,
      fc.array(attemptArbitrary, { minLength: 1, maxLength: 5 }),
      fc.array(fc.nat(10_000), { minLength: 60, maxLength: 60 }),
      (parts, attempts, dice) => {
        const host = new Host(parts, (_, attempt) => attempts[attempt % attempts.length] ?? {})
        host.start()
        for (const die of dice.slice(0, 6)) {
          goOn(host, dice)
          const ways = check(host)
          const way = ways[die % Math.max(ways.length, 1)]
          if (way === undefined) break
          expect([way, obey(host, way)]).toEqual([way, true])
        }
        host.verify()
      },
    ),
    { numRuns: runs(200) },
  )
  // The dice reached the usual stops.
  for (const word of ['BLOCKED blocked', 'WAITING decision', 'WAITING input'])
    expect([...seen.keys()]).toContain(word)
})
