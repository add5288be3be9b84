/**
 * What pages show besides questions (W-2): facts found by words and their proofs drawn, a halt on every
 * page, laws explained and tried, rules judged, the map of tasks and the devices, the list of sessions.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Json } from '../cli-gate/place.ts'
import { PASSPHRASE } from '../server/service-place.ts'
import { ConsolePlace, startBrowser } from './console-place.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const DEVICE_KEY = '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='

const PICTURES = join('.cache', 'pictures')
/** The page reads again what it shows. */
const POLL = { timeout: 30_000 }

let place: ConsolePlace
let browser: Browser
let page: Page
let act: Json

beforeAll(async () => {
  place = new ConsolePlace('looks')
  browser = await startBrowser()
  place.file('notes/old.txt', 'the only copy\n')
  const line = 'echo 7 > total.txt; sleep 1; rm notes/old.txt'
  const words = ['run', '--as', 'helper', '--', 'sh', '-c', line]
  expect(place.writ(words, { isWarm: false }).status).toBe(0)
  place.tokenOf('device:pump@local')
  const enroll = ['device', 'enroll', 'pump@local', DEVICE_KEY, '--pass-fd', '3']
  const enrolled = place.writ(enroll, { passphrase: PASSPHRASE, isWarm: false })
  expect(enrolled.status, enrolled.err).toBe(0)
  await place.serve()
  act = await place.propose(place.proposal('.env'))
  expect(act.status).toBe('waiting')
  page = await place.open(browser)
  await place.register(page)
})

afterAll(async () => {
  await browser?.close()
  await place?.end()
  place?.remove()
})

function section(name: string) {
  return page.getByRole('region', { name, exact: true })
}

function typeIn(fact: string): string {
  return /[a-z_]+_v\d/.exec(fact)?.[0] ?? fact
}

describe('the ledger', () => {
  it('finds facts by words, by kind and by id', async () => {
    await page.goto(`${place.address}/ledger`)
    await section('main').getByRole('button', { name: 'Facts' }).click()
    const facts = section('main').locator('.fact')
    await facts.first().waitFor()
    const all = await facts.count()
    const field = section('main').getByRole('searchbox')
    await field.fill('helper notes/old.txt')
    await expect.poll(() => facts.count(), POLL).toBeLessThan(all)
    await expect.poll(() => facts.count(), POLL).toBeGreaterThan(0)
    await field.fill('session_v1')
    await expect
      .poll(async () => new Set((await facts.allTextContents()).map(typeIn)), POLL)
      .toEqual(new Set(['session_v1']))
    await field.fill(act.action_id)
    await expect
      .poll(async () => (await facts.allTextContents()).join(), POLL)
      .toContain('decision_v1')
    await field.fill('no such words')
    await page.getByText('No fact found').waitFor()
  })

  it('draws the proof of a fact up to the signed root', async () => {
    const root = async (): Promise<string> => {
      const { streams } = (await place.asBot.listStreams({})).value
      return streams.find(({ stream }) => stream === 'main')?.root.slice('sha256:'.length) ?? ''
    }
    await page.reload()
    await section('main').getByRole('button', { name: 'Facts' }).click()
    // Others may come before it.
    const fact = section('main').locator('.fact', { hasText: '#2 ' })
    await fact.getByRole('button', { name: 'Check the proof' }).click()
    await fact.getByText('in the signed tree').waitFor()
    const drawing = fact.getByRole('img')
    await drawing.waitFor()
    const top = await drawing.locator('.proof-root .proof-hash').textContent()
    expect((await root()).startsWith(top ?? '–')).toBe(true)
    expect(await drawing.locator('.proof-given').count()).toBeGreaterThan(2)
    expect(await drawing.getByText('the signed root').count()).toBe(1)
    await fact.screenshot({ path: join(PICTURES, 'proof.png') })
  })
})

describe('a halt', () => {
  it('is on every page, with who and why, until a person ends it', async () => {
    await page.goto(`${place.address}/rules`)
    await page.getByRole('heading', { name: 'Rules', level: 1 }).waitFor()
    await page.keyboard.press('h')
    await page.getByRole('dialog').getByLabel('Reason').fill('the deploy looks wrong')
    await page.getByRole('button', { name: 'Halt now' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const halted = section('Everything is halted')
    for (const at of ['/rules', '/', '/people']) {
      await page.goto(`${place.address}${at}`)
      await halted.getByText('the deploy looks wrong').waitFor()
      await halted.getByText('human:ann@local').waitFor()
    }
    // A yes is refused before it is signed, and the question waits on.
    await page.goto(`${place.address}/questions/${act.action_id}`)
    await halted.waitFor()
    await page.getByRole('toolbar', { name: 'Your answer' }).waitFor()
    await page.keyboard.press('a')
    await page.getByRole('button', { name: 'Approve with a passkey' }).click()
    await page.getByText('the question still waits').waitFor()
    await page.keyboard.press('Escape')
    await halted.getByRole('button', { name: 'End the halt' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End the halt' }).click()
    await halted.waitFor({ state: 'detached' })
    const { status } = (await place.asBot.showAction({ params: { id: act.action_id } })).value
    expect(status).toBe('waiting')
    place.reports.length = 0
  })
})

const STRICT = `laws:
  - policy_id: NO_ENV
    tier: 1
    policy_expr: touches('**/.env')
    priority: 60
    override_mode: hard_override
    violation_action: block
`

describe('laws', () => {
  it('say what they ask, why an action waits, and what another text would have decided', async () => {
    await page.goto(`${place.address}/laws`)
    const inForce = section('In force')
    await inForce.getByRole('row', { name: /ASK_HIGH/ }).waitFor()
    expect(await inForce.textContent()).toContain('is a person’s decision')
    const explain = section('Explain a decision')
    await explain.getByLabel('Action').selectOption(act.action_id)
    await explain.locator('.laws li').first().waitFor()
    await explain.getByText('What a person can do').waitFor()
    // Nothing on this page acts.
    expect(await page.locator('main').getByRole('button').allTextContents()).toEqual(['Try it'])
    await page.getByLabel('Text of laws').fill(STRICT)
    await page.getByRole('button', { name: 'Try it' }).click()
    const trial = section('Try a text on history')
    await trial.getByRole('status').waitFor()
    await trial.getByRole('cell', { name: 'NO_ENV' }).first().waitFor()
    expect(await trial.getByRole('row').nth(1).textContent()).toContain('BLOCK')
    await page.screenshot({ path: join(PICTURES, 'laws.png'), fullPage: true })
  })
})

const RULES = join('examples', 'documents')
const INPUTS = join('examples', 'constitution', 'inputs', 'gappy.json')

describe('rules', () => {
  it('of files that the person opens are checked, evaluated, proved and compared', async () => {
    await page.goto(`${place.address}/rules`)
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
    const answer = section('Answer')
    await section('Ruleset').getByLabel('Open a file').setInputFiles(join(RULES, 'new-rules.yaml'))
    await expect
      .poll(() => section('Ruleset').getByRole('textbox').inputValue(), POLL)
      .toBe(readFileSync(join(RULES, 'new-rules.yaml'), 'utf8'))
    await press('Check')
    await answer.getByText('admissible', { exact: true }).waitFor()
    const inputs = page.getByLabel('Inputs to evaluate with, as JSON')
    await inputs.fill(readFileSync(INPUTS, 'utf8'))
    await press('Evaluate')
    await answer.getByText('"ALLOW"').waitFor()
    await inputs.fill('{ "a": ')
    await press('Evaluate')
    await page.getByText('This text is no JSON.').waitFor()
    const claim = section('What to prove')
    await claim.getByLabel('Verdict').selectOption('DENY')
    await press('Prove')
    await answer.getByText('not so: an input is below').waitFor()
    await claim.getByLabel(/^When/).fill('EQ(problem_state.problem_type, "EVIDENCE_CONFLICT")')
    await press('Prove')
    await answer.getByText('proved for every input').waitFor()
    const older = section('Older version, to compare with')
    await older.getByLabel('Open a file').setInputFiles(join(RULES, 'old-rules.yaml'))
    await press('Compare')
    await answer.getByText('they differ').waitFor()
    await older.getByLabel('Open a file').setInputFiles(join(RULES, 'new-rules.yaml'))
    await press('Compare')
    await answer.getByText('they say the same').waitFor()
    place.reports.length = 0
  })
})

describe('tasks', () => {
  it('are counted on the map of states, which chooses; devices are listed with their keys', async () => {
    await page.goto(`${place.address}/tasks`)
    await section('Devices with a key').getByText('pump@local').waitFor()
    for (const device of ['', 'pump']) {
      await page.getByRole('button', { name: 'Issue a task' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Place', { exact: true }).fill('north/7')
      await dialog.getByLabel('Device that carries it out').fill(device)
      await dialog.getByLabel('depth_mm (1…50)').fill('5')
      await dialog.getByRole('button', { name: /passkey/ }).click()
      await dialog.waitFor({ state: 'detached' })
    }
    const map = section('Where the tasks are')
    const tasks = section('Tasks').getByRole('listitem')
    await expect.poll(() => tasks.count(), POLL).toBe(2)
    const forPeople = map.getByRole('button', { name: '1 for no device' })
    await forPeople.click()
    await expect.poll(() => tasks.count(), POLL).toBe(1)
    expect(await tasks.first().textContent()).not.toContain('pump')
    await forPeople.click()
    await expect.poll(() => tasks.count(), POLL).toBe(2)
    await page.screenshot({ path: join(PICTURES, 'tasks.png') })
    const states = await map.getByRole('button').allTextContents()
    const counted = states.map((text) => Number.parseInt(text, 10))
    expect(counted).toHaveLength(11)
    expect(counted.reduce((sum, one) => sum + one, 0)).toBe(2)
  })
})

describe('the list of sessions', () => {
  it('says what each does now, what is pending, and its tokens', async () => {
    await page.goto(`${place.address}/sessions`)
    const card = section('helper')
    await card.getByRole('link', { name: 'It asks you something' }).waitFor()
    await card.getByText('1 change', { exact: true }).waitFor()
    await card.getByText('0 in, 0 out').waitFor()
    await page.screenshot({ path: join(PICTURES, 'sessions.png') })
  })
})

describe('actions', () => {
  it('older than the first page are read when they are asked for', async () => {
    const [one] = (await place.asBot.listActions({ query: { limit: 1 } })).value.actions
    await page.route('**/v1/actions?*', async (route) => {
      const isOlder = new URL(route.request().url()).searchParams.has('until')
      const actions = Array.from({ length: isOlder ? 1 : 200 }, (_, index) => ({
        ...one,
        action_id: isOlder ? 'the oldest' : `act-${index}`,
        what: isOlder ? 'the oldest' : `number ${index}`,
      }))
      await route.fulfill({ json: { actions } })
    })
    await page.goto(`${place.address}/actions`)
    await page.locator('.row').first().waitFor()
    await page.getByRole('searchbox').fill('the oldest')
    await page.getByText('No action found').waitFor()
    await page.getByRole('button', { name: 'Older actions' }).click()
    await page.locator('.row', { hasText: 'the oldest' }).waitFor()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  it('since a moment are rolled back, after what that restores was shown', async () => {
    const total = join(place.project, 'total.txt')
    expect(existsSync(total)).toBe(true)
    await page.goto(`${place.address}/actions`)
    await page.getByRole('button', { name: 'Roll back since…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Show it, with a passkey' }).click()
    const asked = page.getByRole('dialog', { name: 'Roll all of this back?' })
    await asked.getByText('total.txt').waitFor()
    expect(existsSync(total)).toBe(true)
    await asked.getByRole('button', { name: 'Roll back with a passkey' }).click()
    await asked.waitFor({ state: 'detached' })
    expect(existsSync(total)).toBe(false)
    await page.locator('.row', { hasText: 'undone' }).waitFor()
  })

  it('reported nothing', () => expect(place.reports).toEqual([]))
})
