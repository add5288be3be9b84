/** A long history: laws are tried on all of it with the memory of a short one. */
import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { digestDocument } from '../../src/base/index.ts'
import { openLedger } from '../../src/store/index.ts'
import { type Json, Place } from '../cli-gate/place.ts'
import { commandProposal } from '../gate/document.ts'

vi.setConfig({ testTimeout: 600_000 })

/** A soak runs ten thousand. */
const COUNT = Number(process.env['WRIT_PAST_PROPOSALS'] ?? '400')
const HEAP_MB = 48
const AT_ONCE = 50

let place: Place

beforeAll(() => {
  place = new Place('many', { runs: 'warm' }).init()
  place.write('work/x.txt')
}, 180_000)

afterAll(() => place?.remove())

function payloadOf(type: string): Json {
  const { json } = place.writ(['log', '--type', type, '--newest', '--limit', '1', '--json'])
  return json.facts[0].record.payload
}

/** The same act again and again, each with an id of its own. */
async function repeat(proposal: Json): Promise<void> {
  const records = ['sandbox_result_v1', 'evaluation_v1', 'decision_v1'].map(
    (type) => [type, payloadOf(type)] as const,
  )
  const root = join(place.folder, 'state', 'writ')
  const [id = ''] = readdirSync(root).filter((name) => name !== 'homes.json')
  const ledger = await openLedger({ directory: join(root, id) })
  const principal = { kind: 'human', id: 'ann', namespace: 'local' } as const
  try {
    for (let done = 0; done < COUNT; done += AT_ONCE) {
      const entries = Array.from({ length: Math.min(AT_ONCE, COUNT - done) }, () => {
        const action_id = randomUUID()
        const copy = { ...proposal, descriptor: { ...proposal.descriptor, action_id } }
        const proposal_digest = digestDocument(copy)
        const of = (payload: Json): Json => ({ ...payload, action_id, proposal_digest })
        return [['proposal_v1', copy] as const, ...records.map(([type, one]) => [type, of(one)])]
      })
      const recorded = await ledger.recordAll(
        entries.flat().map(([type, payload]) => ({
          stream: 'main',
          source: 'gate',
          principal,
          record: { type: type as string, payload },
        })),
      )
      expect(recorded.ok).toBe(true)
    }
  } finally {
    await ledger.close()
  }
}

it('judges them all within a small heap', async () => {
  const proposal = commandProposal(place, 'echo y > x.txt', { modify: ['work/x.txt'] })
  const { json } = place.writ(['propose', '-', '--json'], { input: JSON.stringify(proposal) })
  expect(json.promoted).toBe(true)
  await repeat(proposal)
  const law = `laws: [{ policy_id: ASK_X, tier: 2, policy_expr: "modifies('work/x.txt')", priority: 1, override_mode: merge, violation_action: confirm }]\n`
  const file = place.write('trial.yaml', law)
  const tried = place.writ(['laws', 'test', file, '--json'], {
    env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` },
    seconds: 540,
  })
  expect(tried.status, tried.err).toBe(0)
  expect(tried.json).toMatchObject({ proposals: COUNT + 1, unjudgeable: [] })
  expect(tried.json.changed).toHaveLength(COUNT + 1)
})
