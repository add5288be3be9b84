/** Two acts that rest on the last use of one override: one is promoted, the other decided again. */
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { isUuid } from '../../src/base/index.ts'
import { type Json, Place } from '../cli-gate/place.ts'

vi.setConfig({ testTimeout: 180_000 })

const passphrase = 'one and two and three'
const LAWS = `laws:
  - { policy_id: NO_X, tier: 1, policy_expr: "creates('*.x')", priority: 1, override_mode: merge, violation_action: block }
`

let place: Place
beforeAll(() => {
  place = new Place('override-race').init(passphrase)
  place.write('.writ/laws.yaml', LAWS)
  const accepted = place.writ(['laws', 'accept', '--yes', '--pass-fd', '3'], { passphrase })
  expect(accepted.status, accepted.err).toBe(0)
}, 180_000)
afterAll(() => place?.remove())

/** Starts a run that is still going on when the other one was admitted. */
async function make(name: string): Promise<number> {
  const child = place.start(['exec', '--yes', '--', 'sh', '-c', `sleep 3; echo x > ${name}`])
  child.stdin?.end()
  const [status] = await once(child, 'exit')
  return status as number // The run was not killed.
}

it('refuses the second, as replay does, and keeps none of its bytes', async () => {
  const order = ['override', '--law', 'NO_X', '--for', '30m', '--reason', 'once', '--pass-fd', '3']
  expect(place.writ(order, { passphrase }).status).toBe(0)
  const statuses = await Promise.all([make('1.x'), make('2.x')])
  expect([...statuses].sort()).toEqual([0, 125])
  expect([place.has('1.x'), place.has('2.x')]).toEqual(statuses.map((status) => status === 0))
  const { json } = place.writ(['log', '--type', 'decision_v1', '--json'])
  const codes = json.facts.map(({ record }: Json) => record.payload.code)
  expect([...codes].sort()).toEqual(['confirm.descriptor', 'law.NO_X'])
  expect(place.writ(['replay']).status).toBe(0)
  const root = join(place.folder, 'state', 'writ')
  const [id = ''] = readdirSync(root).filter((name) => name !== 'homes.json')
  expect(readdirSync(join(root, id, 'stage')).filter(isUuid)).toEqual([])
})
