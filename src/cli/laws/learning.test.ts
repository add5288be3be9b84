/** The file that learning proposes is a law file, with what was there before. */
import { expect, it } from 'vitest'
import type { LearnedGrant } from '../../gate/index.ts'
import { LAYERED, loadLaws } from '../../policy/index.ts'
import { withGrants } from './learning.ts'

const GRANT: LearnedGrant = {
  agent: 'claude',
  kind: 'change',
  glob: 'docs/api/*',
  support: { answers: 5, days: 3, sessions: 2 },
  examples: [],
}

it.each([
  ['an empty file', ''],
  ['laws alone', '# ours\nlaws: []\n'],
  ['other grants', 'laws: []\ngrants:\n  - {grant_id: MINE, create: ["src/**"]} # kept\n'],
])('adds grants to %s, bounded in time, and keeps the rest', async (_name, text) => {
  const made = withGrants(text, [GRANT], Date.parse('2026-11-18T00:00:00Z'))
  const reading = await loadLaws(made, LAYERED)
  if (!reading.ok) throw new Error(JSON.stringify(reading.faults))
  const learned = reading.laws.grants.find(({ grant_id }) => grant_id.startsWith('LEARNED_'))
  expect(learned).toMatchObject({ actors: ['agent:claude'], change: ['docs/api/*'] })
  expect(learned?.until).toBe('2027-02-16T00:00:00.000Z')
  for (const kept of ['# ours', 'MINE', '# kept']) {
    if (text.includes(kept)) expect(made).toContain(kept)
  }
})
