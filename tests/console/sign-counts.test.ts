/** What a passkey counted last is read from the facts (W-3): no file can be deleted to forget it. */
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { ApprovalChallenge } from '../../src/contracts/index.ts'
import { HOST_STREAM, MAIN_STREAM } from '../../src/ledger/index.ts'
import { SignCounts } from '../../src/server/console/sign-counts.ts'
import { createLedger, type Ledger, openLedger } from '../../src/store/index.ts'
import { ANN } from '../ledger/entries.ts'
import { SoftwarePasskey } from '../ledger/software-passkey.ts'
import { NAME, scratch } from '../ledger/test-ledger.ts'

const ID = '8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11'
const PARTS = {
  by: `human:${ANN.id}@${ANN.namespace}`,
  moment: '2026-11-15T08:00:50.000Z',
  checkpoint: `${NAME}\n1\n${'A'.repeat(43)}=\n`,
}
const ANSWER = {
  answer: 'APPROVED',
  proposal_digest: `sha256:${'a'.repeat(64)}`,
  result_digest: `sha256:${'b'.repeat(64)}`,
  asked_at: '2026-11-15T08:00:03.000Z',
} as const
const CHALLENGE: ApprovalChallenge = {
  type: 'approval_challenge_v1',
  question: ID,
  ...ANSWER,
  ...PARTS,
}

let place: ReturnType<typeof scratch>
let ledger: Ledger
const passkey = new SoftwarePasskey()
const known = { passkey: passkey.passkey, principal: ANN, addedAt: '', removedAt: null }

beforeEach(async () => {
  place = scratch()
  const directory = join(place.directory, 'state')
  await createLedger({ directory }, NAME, { principal: ANN, source: 'test' })
  ledger = await openLedger({ directory })
})

afterEach(async () => {
  await ledger.close()
  place.remove()
})

async function record(stream: string, type: string, payload: unknown): Promise<void> {
  const entry = { stream, source: 'test', principal: ANN, record: { type, payload } }
  const told = await ledger.record(entry)
  if (!told.ok) throw new Error(JSON.stringify(told.violations))
}

const confirmation = (count: number) => ({
  action_id: ID,
  ...ANSWER,
  assurance: 'passkey',
  level: 'seatbelt',
  answered_at: '2026-11-15T08:01:00.000Z',
  expires_at: '2026-11-16T08:00:03.000Z',
  assertion: passkey.sign(CHALLENGE, count),
})

/** A service that starts now: it knows nothing but the facts. */
const refused = async (count: number): Promise<string | null> =>
  new SignCounts(ledger).take(known, count).then(
    () => null,
    (error: Error & { fault?: { code: string } }) => error.fault?.code ?? error.message,
  )

it('is that of the newest answer', async () => {
  expect(await refused(1)).toBe(null)
  await record(MAIN_STREAM, 'confirmation_v1', confirmation(7))
  expect([await refused(6), await refused(7), await refused(8)]).toEqual([
    'credential.cloned',
    'credential.cloned',
    null,
  ])
})

it('is that of the newest proof of a request', async () => {
  const challenge = {
    type: 'request_challenge_v1' as const,
    route: 'createToken',
    request: `sha256:${'c'.repeat(64)}`,
    ...PARTS,
  }
  const assertion = { ...passkey.sign(CHALLENGE, 11), challenge }
  await record(HOST_STREAM, 'passkey_proof_v1', { route: 'createToken', assertion })
  expect([await refused(11), await refused(12)]).toEqual(['credential.cloned', null])
})

it('is that of the newest login', async () => {
  await record(HOST_STREAM, 'principal_v1', {
    change: 'token_created',
    principal: ANN,
    token_id: 'tok-1',
    token_digest: `sha256:${'d'.repeat(64)}`,
    use: 'browser',
    passkey_id: passkey.passkey.passkey_id,
    sign_count: 21,
  })
  expect([await refused(21), await refused(22)]).toEqual(['credential.cloned', null])
})

it('grows within one service before there is a fact, and with facts of others', async () => {
  const counts = new SignCounts(ledger)
  await counts.take(known, 3)
  await expect(counts.take(known, 3)).rejects.toThrow('went from 3 to 3')
  const both = await Promise.allSettled([counts.take(known, 4), counts.take(known, 4)])
  expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  await record(MAIN_STREAM, 'confirmation_v1', confirmation(9))
  await expect(counts.take(known, 8)).rejects.toThrow('went from 9 to 8')
})

it('stays 0 for an authenticator that does not count', async () => {
  const counts = new SignCounts(ledger)
  await counts.take(known, 0)
  await expect(counts.take(known, 0)).resolves.toBe(undefined)
})
