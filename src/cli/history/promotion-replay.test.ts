/** Promotions counted again: a yes for what was asked, and all of them where several were wanted. */
import { describe, expect, it } from 'vitest'
import { approvalText } from '../../gate/index.ts'
import { signApproval } from '../../home/index.ts'
import { encodeBase64, type OpenedFact, type ReplayLookup } from '../../ledger/index.ts'
import { keyFromSeed, type LedgerKey } from '../../store/index.ts'
import { replayPromotion } from './promotion-replay.ts'

const ACTION = '8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11'
const ASKED = '2026-11-15T12:00:00.000Z'
const DIGESTS = { proposal_digest: 'sha256:p', result_digest: 'sha256:r' }
const QUESTION = {
  actionId: ACTION,
  proposalDigest: 'sha256:p',
  resultDigest: 'sha256:r',
  askedAt: ASKED,
}

const keys = new Map<string, LedgerKey>(
  ['ann', 'bob'].map((who, index) => [who, keyFromSeed(new Uint8Array(32).fill(index + 1))]),
)
const human = (id: string) => ({ kind: 'human', id, namespace: 'local' }) as const
const register = {
  credentials: [...keys].map(([who, key]) => ({
    kind: 'passphrase' as const,
    principal: human(who),
    key: encodeBase64(key.publicKey),
  })),
  passkeys: [],
}

let seq = 0
// Only what is read of a fact.
const fact = (type: string, payload: object, who = 'ann'): OpenedFact =>
  ({ seq: seq++, stream: 'main', principal: human(who), record: { type }, payload }) as OpenedFact

const decision = (more: object = {}): OpenedFact =>
  fact('decision_v1', {
    action_id: ACTION,
    ...DIGESTS,
    decision: 'CONFIRM',
    decided_at: ASKED,
    ...more,
  })

function yes(who: string, more: object = {}, signer = who): OpenedFact {
  const key = keys.get(signer) as LedgerKey
  const proof = signApproval(key, QUESTION)
  const payload = { action_id: ACTION, ...DIGESTS, answer: 'APPROVED', asked_at: ASKED, proof }
  return fact('confirmation_v1', { ...payload, ...more }, who)
}

async function replayed(...facts: readonly OpenedFact[]) {
  const promotion = fact('promotion_v1', { action_id: ACTION, ...DIGESTS, status: 'APPLIED' })
  // What replay asks of a ledger here is the facts of one type about the action.
  const lookup = {
    ofAction: async (_: string, type: string) => facts.filter(({ record }) => record.type === type),
  } as unknown as ReplayLookup
  return replayPromotion(promotion, lookup, register)
}

const falsified = (needed: number, found: number) => ({
  kind: 'different',
  recorded: { approvals: needed },
  computed: { approvals: found },
})

describe('a promotion', () => {
  it('that no person was asked about, or one human approved, tells nothing', async () => {
    expect(await replayed(decision({ decision: 'PROMOTE' }))).toBe(null)
    expect(await replayed(decision(), yes('ann'))).toBe(null)
  })

  it('that was asked about and no human approved is different', async () => {
    expect(await replayed(decision())).toEqual(falsified(1, 0))
    expect(await replayed(decision(), yes('ann', { answer: 'DENIED' }))).toEqual(falsified(1, 0))
    const other = yes('ann', { result_digest: 'sha256:x' })
    expect(await replayed(decision(), other)).toEqual(falsified(1, 0))
  })

  it('that several humans had to approve is equal with all of them, and different with fewer', async () => {
    const asked = () => decision({ approvals: 2 })
    expect(await replayed(asked(), yes('ann'), yes('bob'))).toEqual({ kind: 'equal' })
    expect(await replayed(asked(), yes('ann'))).toEqual(falsified(2, 1))
    expect(await replayed(asked(), yes('ann'), yes('ann'))).toEqual(falsified(2, 1))
    expect(await replayed(asked(), yes('ann'), yes('bob', {}, 'ann'))).toEqual(falsified(2, 1))
    const denied = yes('bob', { answer: 'DENIED' })
    expect(await replayed(asked(), yes('ann'), denied)).toEqual(falsified(2, 0))
  })

  it('counts no signature of a key that the human does not have, or for other words', async () => {
    const asked = () => decision({ approvals: 2 })
    const eve = keyFromSeed(new Uint8Array(32).fill(9))
    const forged = yes('bob', { proof: signApproval(eve, QUESTION) })
    expect(await replayed(asked(), yes('ann'), forged)).toEqual(falsified(2, 1))
    const bob = keys.get('bob') as LedgerKey
    const words = { ...QUESTION, resultDigest: 'sha256:x' }
    expect(approvalText(words)).not.toBe(approvalText(QUESTION))
    const elsewhere = yes('bob', { proof: signApproval(bob, words) })
    expect(await replayed(asked(), yes('ann'), elsewhere)).toEqual(falsified(2, 1))
    const unsigned = yes('bob', { proof: undefined })
    expect(await replayed(asked(), yes('ann'), unsigned)).toEqual(falsified(2, 1))
  })

  it('counts nothing that came behind it', async () => {
    const asked = decision({ approvals: 2 })
    const late = { ...yes('bob'), seq: 1_000_000 }
    expect(await replayed(asked, yes('ann'), late)).toEqual(falsified(2, 1))
  })
})
