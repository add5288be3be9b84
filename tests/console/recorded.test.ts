/** What passkeys signed, checked without the service (W-3): several humans, and records that were changed. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Client, createClient } from '../../src/api/index.ts'
import { answerAssertionFault, RegisterFold } from '../../src/ledger/index.ts'
import { openLedger } from '../../src/store/index.ts'
import type { Json } from '../cli-gate/place.ts'
import { severalLaw } from '../laws/humans.ts'
import { PASSPHRASE, ServicePlace } from '../server/service-place.ts'
import { verifyBundle } from '../verifier/verify.mjs'
import { BrowserPerson, startBrowser } from './person.ts'

vi.setConfig({ testTimeout: 120_000 })

let place: ServicePlace
let browser: Browser
let ann: BrowserPerson
let bea: BrowserPerson
let asBot: Client

beforeAll(async () => {
  place = new ServicePlace('recorded')
  const file = join(place.project, '.writ', 'laws.yaml')
  const laws = severalLaw('prod/**', 'TWO_HUMANS', 2)
  writeFileSync(file, readFileSync(file, 'utf8').replace('laws:\n', `laws:\n${laws}`))
  const pass = { passphrase: PASSPHRASE }
  expect(place.writ(['laws', 'accept', '--yes', '--pass-fd', '3'], pass).status).toBe(0)
  const bot = place.tokenOf('ai:bot@local')
  const token = place.tokenOf('human:bea@local')
  const seen = place.person(['passkey', 'code'], [], { token })
  const [, code = ''] = /code for \S+: (\S+)/.exec(seen.output) ?? []
  await place.serve()
  const origin = `http://writ.localhost:${new URL(place.url).port}`
  asBot = createClient({ url: place.url, token: bot })
  browser = await startBrowser()
  ann = await BrowserPerson.open(browser, origin)
  bea = await BrowserPerson.open(browser, origin)
  expect((await ann.register({ passphrase: PASSPHRASE })).status).toBe(200)
  expect((await bea.register({ code })).status).toBe(200)
}, 240_000)

afterAll(async () => {
  await browser?.close()
  await place?.end()
  place?.remove()
})

describe('a law that wants two humans', () => {
  it('counts two passkeys of two people, and one person once', async () => {
    const body = place.proposal('prod/one.txt')
    await asBot.proposeAction({ query: {}, body, wait: 60 } as Json)
    const { questions } = (await asBot.listQuestions({ query: {} })).value
    const found = questions.find(({ action_id }) => action_id === body.descriptor.action_id) as Json
    const { id, result_digest } = found
    expect(found.approvals).toMatchObject({ needed: 2, given: [] })
    const approve = (person: BrowserPerson) =>
      person.proven('approveQuestion', `/v1/questions/${id}/approve`, { id }, { result_digest })
    const first = await approve(ann)
    expect([first.status, first.json.status]).toEqual([202, 'waiting'])
    expect(existsSync(join(place.project, 'prod/one.txt'))).toBe(false)
    const again = await approve(ann)
    expect(again.json.code).toBe('confirm.repeated')
    // Ann’s answer to her own challenge is no answer of Bea.
    const foreign = await ann.prove('approveQuestion', { id }, { result_digest })
    const borrowed = await bea.post(`/v1/questions/${id}/approve`, {
      result_digest,
      proof: foreign,
    })
    expect(borrowed.json.code).toBe('credential.challenge')
    const second = await approve(bea)
    expect([second.status, second.json.status]).toEqual([200, 'promoted'])
    expect(place.writ(['replay', '--json']).json).toMatchObject({ ok: true })
  })
})

describe('the record', () => {
  it('is verified by the ledger, by the independent verifier and by a pure function', async () => {
    expect(place.writ(['ledger', 'verify', '--json']).json).toMatchObject({ ok: true })
    const bundle = join(place.folder, 'bundle')
    expect(place.writ(['ledger', 'export', bundle]).status).toBe(0)
    const keys = place.writ(['ledger', 'key', '--all']).out.trim().split(/\s+/)
    expect(verifyBundle(bundle, { keys })).toMatchObject({ ok: true, problems: [] })
    const facts = readFileSync(join(bundle, 'facts.jsonl'), 'utf8')
    const confirmed = facts
      .split('\n')
      .filter((line) => line.includes('"type":"confirmation_v1"'))
      .map((line) => JSON.parse(line))
    expect(confirmed).toHaveLength(2)
    const fold = new RegisterFold()
    const host = place.writ(['log', '--facts', '--stream', 'host', '--json']).json.facts
    for (const fact of host) fold.take(fact)
    const register = fold.finish()
    for (const { principal, record } of confirmed) {
      expect(answerAssertionFault(register, record.payload, principal)).toBe(null)
      const other = { ...record.payload, answer: 'DENIED' }
      expect(answerAssertionFault(register, other, principal)).toContain('another answer')
      expect(answerAssertionFault({ passkeys: [] }, record.payload, principal)).toContain('passkey')
    }
  })

  it('with an assertion that was changed is found out, though chain and tree are whole', async () => {
    await place.end()
    const { facts } = place.writ(['log', '--type', 'confirmation_v1', '--json']).json
    const { record, principal } = facts.at(-1)
    const { assertion } = record.payload
    const states = join(place.folder, 'state', 'writ')
    const directory = findLedger(states)
    const ledger = await openLedger({ directory })
    const flipped = `${assertion.signature.slice(0, -6)}AAAAAA`
    const payload = { ...record.payload, assertion: { ...assertion, signature: flipped } }
    const source = 'gate'
    const stream = 'main'
    const told = await ledger.record({
      stream,
      source,
      principal,
      record: { type: 'confirmation_v1', payload },
    })
    await ledger.close()
    expect(told.ok).toBe(true)
    const verified = place.writ(['ledger', 'verify', '--json'], { isWarm: false })
    expect(verified.status).toBe(1)
    expect(verified.json.problems.map(({ code }: Json) => code)).toEqual(['ledger.assertion'])
    const bundle = join(place.folder, 'changed')
    expect(place.writ(['ledger', 'export', bundle], { isWarm: false }).status).toBe(0)
    const keys = place.writ(['ledger', 'key', '--all']).out.trim().split(/\s+/)
    const report = verifyBundle(bundle, { keys })
    expect(report.ok).toBe(false)
    expect(report.problems[0]).toContain('not signed by its key')
  })
})

/** The directory below that holds the ledger. */
function findLedger(folder: string): string {
  const [found] = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    ({ name }) => name === 'ledger.db',
  )
  if (found === undefined) throw new Error(`no ledger below ${folder}`)
  return found.parentPath
}
