/** The service asks pinned witnesses by itself, and offers witnesses and exports over HTTP. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PASSPHRASE, ServicePlace } from '../server/service-place.ts'

const place = new ServicePlace('anchoring')
const proof = { passphrase: PASSPHRASE }
let [human, agent, url, key] = ['', '', '', '']

beforeAll(async () => {
  const dir = join(place.folder, 'witness')
  key = place.writ(['witness', 'init', 'w.example/1', '--dir', dir]).out.trim()
  const [logKey = ''] = place.writ(['ledger', 'key']).out.split('\n')
  place.writ(['witness', 'add-log', logKey, '--streams', '--dir', dir])
  const child = place.start(['witness', 'serve', '--json', '--dir', dir, '--listen', '127.0.0.1:0'])
  url = await new Promise<string>((resolve) => {
    child.stdout?.once('data', (chunk) => resolve(JSON.parse(String(chunk)).url))
  })
  human = place.tokenOf('human:eve@farm')
  agent = place.tokenOf('ai:bot@farm')
  await place.serve(['--anchor-facts', '1', '--anchor-minutes', '1'])
}, 120_000)

afterAll(async () => {
  await place.end()
  place.remove()
})

describe('the service (H-9)', () => {
  it('pins a witness for a human who proves it, and for no other', async () => {
    const wrong = { url, key, proof: { passphrase: 'no' } }
    await expect(place.client(human).pinWitness({ body: wrong })).rejects.toBeInstanceOf(Error)
    const { value: pinned } = await place.client(human).pinWitness({ body: { url, key, proof } })
    expect(pinned).toMatchObject({ name: 'w.example/1', url })
    const { value } = await place.client(human).listWitnesses({})
    expect(value.witnesses).toHaveLength(1)
    await expect(place.client(agent).listWitnesses({})).rejects.toBeInstanceOf(Error)
  }, 60_000)

  it('has new facts cosigned by itself, and verifies as anchored', async () => {
    await expect.poll(() => place.errors, { timeout: 60_000 }).toContain('"event":"anchored"')
    const { value: report } = await place.client(human).verifyLedger({ query: {} })
    expect(report).toMatchObject({ ok: true, anchored: true })
    expect(report.witnessed).not.toEqual([])
    expect(place.writ(['doctor', '--json']).json.custody).toBe('witnessed')
  }, 120_000)

  it('anchors when a human asks, and exports to every caller', async () => {
    const { value } = await place.client(human).anchorLedger({ body: {} })
    expect([value.ok, value.cosigned.length > 0]).toEqual([true, true])
    await place.client(agent).proposeAction({ query: {}, body: place.proposal('made.txt') })
    const { value: text } = await place
      .client(agent)
      .exportEvents({ query: { format: 'cloudevents' } })
    const [first = ''] = String(text).split('\n')
    expect(JSON.parse(first)).toMatchObject({ specversion: '1.0', type: 'dev.writ.proposal.v1' })
    expect(String(text)).not.toContain('hello')
  }, 60_000)
})
