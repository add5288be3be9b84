/** Replay of a promotion that two humans had to approve: whose yes counts (L-9, W-3). */
import { describe, expect, it } from 'vitest'
import { signApproval } from '../../home/index.ts'
import { encodeBase64, type OpenedFact, type Principal } from '../../ledger/index.ts'
import { keyFromSeed } from '../../store/index.ts'
import { replayPromotion } from './promotion-replay.ts'

const ID = '8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11'
const [PROPOSAL, RESULT] = [`sha256:${'a'.repeat(64)}`, `sha256:${'b'.repeat(64)}`]
const ASKED = '2026-11-15T12:00:00.000Z'
const NAMES = ['ann', 'bob', 'cid'] as const
type Name = (typeof NAMES)[number]

const keyOf = (name: Name) => keyFromSeed(new Uint8Array(32).fill(NAMES.indexOf(name) + 1))
const human = (id: string): Principal => ({ kind: 'human', id, namespace: 'local' })
const REGISTER = {
  credentials: NAMES.map((name) => ({
    kind: 'passphrase' as const,
    principal: human(name),
    key: encodeBase64(keyOf(name).publicKey),
  })),
  passkeys: [],
}

/** The facts of an act of a run that Ann started, with the yeses of these humans. */
async function replayed(evaluation: object, approvers: readonly Name[]) {
  const common = { action_id: ID, proposal_digest: PROPOSAL, result_digest: RESULT }
  const question = { actionId: ID, proposalDigest: PROPOSAL, resultDigest: RESULT, askedAt: ASKED }
  const decision = { ...common, decision: 'CONFIRM', decided_at: ASKED, approvals: 2 }
  const yes = (name: Name) => ({
    ...common,
    answer: 'APPROVED',
    asked_at: ASKED,
    answered_at: ASKED,
    proof: signApproval(keyOf(name), question),
  })
  const rows: readonly (readonly [string, object, Name])[] = [
    ['evaluation_v1', evaluation, 'ann'],
    ['decision_v1', decision, 'ann'],
    ...approvers.map((name) => ['confirmation_v1', yes(name), name] as const),
    ['promotion_v1', { ...common, status: 'APPLIED' }, 'bob'],
  ]
  const facts = rows.map(([type, payload, name], seq) => {
    const record = { type, payload }
    // What replay reads of a fact.
    return { seq, stream: 'main', principal: human(name), record, payload } as unknown as OpenedFact
  })
  const unused = () => Promise.reject(new Error('nothing else is looked up'))
  const lookup = {
    ofAction: async (_stream: string, type: string) =>
      facts.filter(({ record }) => record.type === type),
    body: unused,
    fact: unused,
    ofRun: unused,
    each: () => {
      throw new Error('nothing else is looked up')
    },
  }
  const last = facts.at(-1)
  if (last === undefined) throw new Error('no fact')
  return replayPromotion(last, lookup, REGISTER)
}

describe('a promotion that two humans had to approve', () => {
  it('holds with two others than the starter', async () => {
    expect(await replayed({ held: {} }, ['bob', 'cid'])).toEqual({ kind: 'equal' })
  })

  it.each([{ held: {} }, { session: {} }])('does not count the starter: %j', async (of) => {
    expect(await replayed(of, ['ann', 'bob'])).toEqual({
      kind: 'different',
      recorded: { approvals: 2 },
      computed: { approvals: 1 },
    })
  })

  it('counts who proposed it at a terminal', async () => {
    expect(await replayed({}, ['ann', 'bob'])).toEqual({ kind: 'equal' })
  })
})
