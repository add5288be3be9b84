/** What a yes has to stand on, and which answers count. */
import { describe, expect, it } from 'vitest'
import { loadConfirmations } from '../../../tests/vectors/confirmation-vector.ts'
import type { Assurance, SandboxResult } from '../../contracts/index.ts'
import {
  answerFault,
  confirmationNeed,
  countsAhead,
  finalRisk,
  type Need,
  satisfies,
} from './confirmation.ts'

describe('what a yes needs', () => {
  const cases = loadConfirmations('spec/vectors/gate/confirmation.json')

  for (const { id, note, act, circumstances, want } of cases) {
    it(`${id}: ${note}`, () => {
      expect(confirmationNeed(act, circumstances)).toBe(want.need)
      expect(countsAhead(act, circumstances)).toBe(want.counts_ahead)
    })
  }

  it('is asked in many cases', () => {
    expect(cases.length).toBeGreaterThanOrEqual(25)
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
