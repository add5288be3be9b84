/** Of processes that rehearse one act at the same time, one decides it; the others promote nothing. */
import { existsSync, readdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { isUuid } from '../../src/base/index.ts'
import type { Caller } from '../../src/ledger/index.ts'
import { HostedHome } from '../../src/server/index.ts'
import { type GateAnswer, stagePlaces } from '../../src/service/index.ts'
import { Place } from '../cli-gate/place.ts'
import { until } from '../field/field-rig.ts'
import { commandProposal } from './document.ts'

let place: Place
let home: HostedHome

beforeAll(async () => {
  place = new Place('one-decision', { runs: 'warm' }).init()
  place.write('work/keep.txt')
  const { project: cwd } = place
  const env = place.env()
  home = await HostedHome.open({ cwd, env, userDirectory: place.home, userName: 'ann' }, null)
}, 180_000)

afterAll(async () => {
  await home.close()
  place.remove()
})

async function propose(document: unknown, job: 'first' | 'again'): Promise<GateAnswer> {
  const { owner } = await home.register()
  if (owner === null) throw new Error('the home has a human')
  const caller: Caller = { principal: owner, streams: null, proof: 'none' }
  return home.withGate(caller, 'main', (gate) =>
    gate.propose(document, {
      door: 'propose',
      declaredByApproval: false,
      dryRun: false,
      confirm: async () => ({ kind: 'wait' }),
      abort: new AbortController().signal,
      job,
    }),
  )
}

it('the other one hears so, and what it rehearsed is gone', { timeout: 60_000 }, async () => {
  const script = 'echo done >> once.txt; sleep 1'
  const document = commandProposal(place, script, { create: ['work/once.txt'] })
  const first = propose(document, 'first')
  await until(
    async () => place.writ(['log', '--json', '--type', 'proposal_v1']).json.facts.length,
    (count) => count === 1,
    30_000,
  )
  const ended = await Promise.allSettled([first, propose(document, 'again')])
  const answers = ended.flatMap((one) => (one.status === 'fulfilled' ? [one.value.promoted] : []))
  const faults = ended.flatMap((one) => (one.status === 'rejected' ? [one.reason.fault.code] : []))
  expect([answers, faults]).toEqual([[true], ['descriptor.action_id_reused']])
  expect(place.text('work/once.txt')).toBe('done\n')
  for (const type of ['decision_v1', 'promotion_v1'])
    expect(place.writ(['log', '--json', '--type', type]).json.facts).toHaveLength(1)
  const stages = stagePlaces(home.home).filter((one) => existsSync(one))
  expect(stages.flatMap((one) => readdirSync(one)).filter(isUuid)).toEqual([])
})

it('what the first refuses, the other one does not call done', { timeout: 60_000 }, async () => {
  const count = (type: string): number =>
    place.writ(['log', '--json', '--type', type]).json.facts.length
  const promoted = count('promotion_v1')
  const proposed = count('proposal_v1')
  // Undeclared where the flag is missing, and nothing at all where it is there.
  const document = commandProposal(place, 'test -e flag || echo x > made.txt; sleep 2', {})
  const first = propose(document, 'first')
  await until(
    async () => count('proposal_v1'),
    (now) => now > proposed,
    30_000,
  )
  await pause(500)
  place.write('work/flag')
  const ended = await Promise.allSettled([first, propose(document, 'again')])
  const codes = ended.map((one) =>
    one.status === 'fulfilled' ? one.value.decision.decision : one.reason.fault.code,
  )
  expect(codes).toEqual(['BLOCK', 'descriptor.action_id_reused'])
  expect(count('promotion_v1')).toBe(promoted)
})
