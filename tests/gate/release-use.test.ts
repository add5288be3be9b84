/** A release is used once, however many runs of its proposal begin at the same moment. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { digestDocument } from '../../src/base/index.ts'
import type { Evaluation, Proposal } from '../../src/contracts/index.ts'
import { releaseFact } from '../../src/service/laws/accept-laws.ts'
import { proposalRecord, recordBeforeRun } from '../../src/service/records/proposal-record.ts'
import { useLedgerView } from './ledger-view.ts'

const { bases } = JSON.parse(readFileSync('spec/vectors/gate/decision.json', 'utf8'))
const NOW = (bases.whole as Evaluation).host.now_ms

const { view } = useLedgerView('release-use')

function networked(): Proposal {
  const proposal = structuredClone(bases.proposal) as Proposal
  const { scope, effects, sandbox } = proposal.descriptor
  scope.network = { required: true, hosts: ['a.example'] }
  effects.network = true
  sandbox.allow_network = true
  return proposal
}

it('by one of many, and the others hear so', async () => {
  const proposal = networked()
  const order = { kind: 'release', proposal, hosts: ['a.example:443'], methods: ['POST'] } as const
  const payload = releaseFact({ ...order, reason: 'read' }, 15, NOW - 1_000)
  expect(Date.parse(payload.expires_at ?? '') - Date.parse(payload.given_at)).toBe(15 * 60_000)
  await view().record([{ type: 'override_v1', payload, key: 'override' }])
  const views = Array.from({ length: 5 }, view)
  // All of them have seen it unused before anyone uses it.
  for (const each of views) await each.standing()
  const ended = await Promise.allSettled(
    views.map((each, index) => {
      const { hosts = [], methods = [], override_id } = payload
      const draft: Evaluation = {
        ...bases.early,
        action_id: proposal.descriptor.action_id,
        proposal_digest: digestDocument(proposal),
        host: { ...bases.early.host, now_ms: NOW + index },
        network: {
          hosts: ['a.example'],
          read_only_hosts: [],
          release: { override_id, hosts, methods },
        },
      }
      return recordBeforeRun(each, proposalRecord(draft, proposal), draft)
    }),
  )
  expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  const refused = ended.flatMap((end) => (end.status === 'rejected' ? [end.reason.fault.code] : []))
  expect(new Set(refused)).toEqual(new Set(['override.release']))
})

it('an id that two proposals use at the same moment is of the one that is recorded', async () => {
  const first = networked()
  const other = { ...first, descriptor: { ...first.descriptor, intent_summary: 'Another act.' } }
  const use = (proposal: typeof first): Promise<void> => {
    const draft: Evaluation = {
      ...bases.early,
      action_id: proposal.descriptor.action_id,
      proposal_digest: digestDocument(proposal),
    }
    return recordBeforeRun(view(), proposalRecord(draft, proposal), draft)
  }
  await use(first)
  await expect(use(other)).rejects.toMatchObject({ fault: { code: 'descriptor.action_id_reused' } })
  // The store may have appended it and tried again: the same proposal of the same caller has its id.
  await use(first)
})

it('only for hosts and methods that the proposal could use', () => {
  const give = (hosts: readonly string[], methods: readonly string[], proposal: unknown) => () =>
    releaseFact({ kind: 'release', proposal, hosts, methods, reason: 'x' }, 15, NOW)
  expect(give(['a.example'], ['POST'], networked())).not.toThrow()
  expect(give(['b.example'], ['POST'], networked())).toThrow('does not name')
  expect(give(['a.example:8080'], ['POST'], networked())).toThrow('does not name')
  expect(give(['a.example'], ['post'], networked())).toThrow('no method')
  expect(give([], ['POST'], networked())).toThrow('no host')
  expect(give(['a.example'], ['POST'], bases.proposal)).toThrow('network')
  expect(give(['a.example'], ['POST'], { descriptor: {} })).toThrow('refused')
})
