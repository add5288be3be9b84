/** The default laws load, and do what docs/laws.md says of each of them. */
import { describe, expect, it } from 'vitest'
import { DEFAULT_LAWS, loadLaws } from './index.ts'

describe('the default laws', () => {
  it('load without a fault', async () => {
    const reading = await loadLaws(DEFAULT_LAWS)
    expect(reading).toMatchObject({ ok: true })
    if (!reading.ok) return
    expect(
      reading.laws.laws.map(({ policyId, tier, readsResult }) => [policyId, tier, readsResult]),
    ).toEqual([
      ['WRIT_ITSELF', 0, true],
      ['NO_CRITICAL', 1, false],
      ['NO_CREDENTIALS', 1, true],
      ['ASK_HIGH', 2, false],
      ['ASK_MANY_DELETIONS', 2, true],
      ['ASK_REPOSITORY_GONE', 2, true],
      ['ASK_ENV_FILES', 2, true],
      ['ASK_INPUTS_CHANGED', 2, true],
      ['ASK_AFTER_ROLLBACKS', 2, false],
    ])
  })
})
