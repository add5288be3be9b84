/** What a yes has to stand on, and which answers count. */
import { describe, expect, it } from 'vitest'
import type { Assurance, Proposal, SandboxResult } from '../contracts/index.ts'
import {
  answerFault,
  type Circumstances,
  confirmationNeed,
  finalRisk,
  type Need,
  satisfies,
} from './confirmation.ts'

const PERSON: Circumstances = {
  actorKind: 'human',
  startedByPerson: true,
  agent: null,
  plainYesAllowed: true,
  hasPasskey: false,
  approvals: 1,
}

// Only what is read of a proposal.
const COMMAND = { operation: { type: 'COMMAND_EXECUTION' } } as unknown as Proposal
const REQUEST = { operation: { type: 'NETWORK_REQUEST' } } as unknown as Proposal

describe('a plain yes', () => {
  it.each(['LOW', 'MEDIUM'] as const)('is enough for a person at %s', (risk) => {
    expect(confirmationNeed(COMMAND, risk, PERSON)).toBe('plain')
  })

  it.each(['HIGH', 'CRITICAL'] as const)('is not at %s', (risk) => {
    expect(confirmationNeed(COMMAND, risk, PERSON)).toBe('passphrase')
  })

  it.each<[string, Partial<Circumstances>]>([
    ['for an agent', { actorKind: 'ai' }],
    ['for a script', { actorKind: 'script' }],
    ['for a device', { actorKind: 'device' }],
    ['with the ticket of an agent', { startedByPerson: false }],
    ['below a known agent', { agent: 'claude' }],
    ['when no law allows it', { plainYesAllowed: false }],
    ['where several humans have to approve', { approvals: 2 }],
  ])('is not %s', (_, circumstances) => {
    expect(confirmationNeed(COMMAND, 'LOW', { ...PERSON, ...circumstances })).toBe('passphrase')
  })

  it('is not for anything that is not wholly staged', () => {
    expect(confirmationNeed(REQUEST, 'LOW', PERSON)).toBe('passphrase')
    const mixed = { children: [COMMAND, REQUEST] } as unknown as Proposal
    expect(confirmationNeed(mixed, 'LOW', PERSON)).toBe('passphrase')
  })
})

describe('a passkey', () => {
  it('is needed above MEDIUM once there is one', () => {
    const owner = { ...PERSON, hasPasskey: true }
    expect(confirmationNeed(COMMAND, 'HIGH', owner)).toBe('passkey')
    expect(confirmationNeed(COMMAND, 'MEDIUM', owner)).toBe('plain')
    expect(confirmationNeed(REQUEST, 'MEDIUM', owner)).toBe('passphrase')
  })
})

describe('the risk of what happened', () => {
  const result = (deleted: number, modified: number, ...codes: string[]): SandboxResult =>
    ({
      diff: { counts: { added: 0, modified, deleted } },
      findings: codes.map((code) => ({ code })),
    }) as unknown as SandboxResult

  it.each([
    [20, 200, [], 'LOW'],
    [21, 0, [], 'HIGH'],
    [0, 201, [], 'HIGH'],
    [0, 0, ['effect.deferred_execution'], 'HIGH'],
    [0, 0, ['effect.discarded'], 'LOW'],
  ])('%d deleted, %d modified, %j: %s', (deleted, modified, codes, risk) => {
    expect(finalRisk('LOW', result(deleted, modified, ...codes))).toBe(risk)
  })

  it('never lowers it', () => {
    expect(finalRisk('CRITICAL', result(0, 0))).toBe('CRITICAL')
  })
})

describe('an answer', () => {
  const question = {
    actionId: 'a',
    proposalDigest: 'p',
    resultDigest: 'r',
    askedAt: '2026-11-15T12:00:00Z',
    expiresMs: 1000,
  }
  const yes = { proposalDigest: 'p', resultDigest: 'r', assurance: 'terminal' as Assurance }

  it('counts once, for this proposal and this result, in time', () => {
    expect(answerFault(question, yes, 'plain', 999)).toBe(null)
    expect(answerFault(null, yes, 'plain', 999)).toBe('confirm.used')
    expect(answerFault(question, yes, 'plain', 1000)).toBe('confirm.expired')
    expect(answerFault(question, { ...yes, resultDigest: 'x' }, 'plain', 0)).toBe(
      'confirm.mismatch',
    )
    expect(answerFault(question, { ...yes, proposalDigest: 'x' }, 'plain', 0)).toBe(
      'confirm.mismatch',
    )
    expect(answerFault(question, yes, 'passphrase', 0)).toBe('confirm.assurance')
  })

  it.each<[Assurance, Need, boolean]>([
    ['none', 'plain', false],
    ['terminal', 'plain', true],
    ['terminal', 'passphrase', false],
    ['passphrase', 'plain', true],
    ['passphrase', 'passphrase', true],
    ['passphrase', 'passkey', false],
    ['passkey', 'passkey', true],
  ])('%s for %s: %s', (assurance, need, wanted) => {
    expect(satisfies(assurance, need)).toBe(wanted)
  })
})
