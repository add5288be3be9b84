/**
 * The pages of one session, one run and one task, and the inbox's requests for an undo, opened and used as
 * a person does (W-2): undo next to each act, work and judgement of a human participant, a task issued from
 * its parameters.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Json } from '../cli-gate/place.ts'
import { ConsolePlace, startBrowser } from './console-place.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

let place: ConsolePlace
let browser: Browser
let page: Page

beforeAll(async () => {
  place = new ConsolePlace('pages')
  browser = await startBrowser()
  await place.serve()
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

async function touch(): Promise<void> {
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: /passkey/ }).click()
  const refused = dialog.getByRole('alert')
  await refused.or(page.locator('body:not(:has([role=dialog]))')).first().waitFor()
  expect(await refused.allTextContents()).toEqual([])
}

describe('a session', () => {
  it('shows what is pending, its acts with undo next to each, and what it used', async () => {
    place.file('notes/old.txt', 'the only copy\n')
    place.file('prices.txt', 'tea 3\ncake 4\n')
    const line = 'echo 7 > total.txt; sleep 1; rm notes/old.txt; sed -i s/4/6/ prices.txt'
    const words = ['run', '--as', 'helper', '--', 'sh', '-c', line]
    const { status, err } = place.writ(words, { isWarm: false })
    expect(status, err).toBe(0)
    await page.goto(`${place.address}/sessions`)
    await page.getByRole('link', { name: 'helper' }).click()
    await page.getByRole('heading', { level: 1, name: 'Session helper' }).waitFor()
    const pending = section('Pending changes')
    await pending.getByText('old.txt').waitFor()
    expect(await pending.textContent()).toContain('waits for your answer')
    await pending.getByText('Show the lines').click()
    await pending.getByText('cake 6').waitFor()
    expect(await section('Used so far').textContent()).toContain('0 in, 0 out')
    const acts = section('Acts of this session').getByRole('listitem')
    await acts.filter({ hasText: 'waits' }).waitFor()
    const done = acts.filter({ hasText: 'promoted' })
    await done.getByRole('button', { name: 'Undo' }).click()
    expect(existsSync(join(place.project, 'total.txt'))).toBe(true)
    await touch()
    await acts.filter({ hasText: 'undone' }).waitFor()
    expect(existsSync(join(place.project, 'total.txt'))).toBe(false)
    await pending.getByRole('button', { name: 'Discard all' }).click()
    await touch()
    // Nothing is left of it but its record.
    await section('What is on record').getByText('Discarded').waitFor()
    expect(existsSync(join(place.project, 'notes/old.txt'))).toBe(true)
  })
})

const FLOW = `type: flow_v1
flow_id: letter
title: A letter to the neighbours
nodes:
  - { node_id: draft, kind: WORK, phase_id: p, title: Write the letter, actor: ann, executor: { human: ann }, max_attempts: 3 }
  - { node_id: check, kind: CHECK, phase_id: p, title: Judge the letter, actor: ann, reviewer: { human: ann }, target: draft, max_attempts: 3 }
  - { node_id: sent, kind: GOAL, phase_id: p, title: Sent, actor: ann, max_attempts: 1 }
edges:
  - { edge_id: E1, source: draft, target: check, class: Progress }
  - { edge_id: E2, source: check, target: sent, class: Gate, guard_expr: "state.validator_verdict == 'APPROVE'" }
  - { edge_id: E3, source: check, target: draft, class: Loop, guard_expr: "state.validator_verdict == 'REJECT'" }
`

async function handIn(text: string): Promise<void> {
  await page.getByRole('button', { name: 'Hand in the document' }).click()
  await page.getByLabel('Your work, as text').fill(text)
  await touch()
}

describe('a run', () => {
  it('is worked on and judged in the browser, and shows guards, versions and the report', async () => {
    place.file('letter.yaml', FLOW)
    const { json } = place.writ(['flow', 'run', 'letter.yaml', '--json'], { isWarm: false })
    await page.goto(place.address)
    const waiting = section('1 run waits for a person')
    await waiting.getByText('Write the letter').waitFor()
    await waiting.getByRole('link', { name: 'A letter to the neighbours' }).click()
    await page.getByRole('heading', { level: 1, name: 'letter' }).waitFor()
    await page.goto(`${place.address}/flows`)
    await page.getByRole('option', { name: 'A letter to the neighbours' }).click()
    await page.getByRole('heading', { level: 1, name: 'letter' }).waitFor()
    expect(page.url()).toContain(json.run_id)
    await page.locator('.graph-node', { hasText: 'Write the letter' }).waitFor()
    await handIn('Dear neighbours\n')
    await page.getByRole('button', { name: 'Reject the work' }).click()
    await page.getByLabel('Comment').fill('say when')
    await touch()
    await handIn('Dear neighbours\non Sunday\n')
    await page.getByRole('button', { name: 'draft', exact: true }).click()
    await section('Details of the node').getByText('on Sunday').waitFor()
    await page.getByRole('button', { name: 'Approve the work' }).click()
    await touch()
    await page.locator('.page-head .badge', { hasText: 'done' }).waitFor()
    const ways = section('Ways between nodes, and the values that their guards read')
    await ways.getByText('state.validator_verdict = "REJECT"').waitFor()
    await ways.getByText(`state.validator_verdict == 'APPROVE' = true`).waitFor()
    const versions = section('Versions of artifacts, each against the one before')
    await versions.locator('.line-added', { hasText: 'on Sunday' }).waitFor()
    expect(await section('Reviews').textContent()).toContain('say when')
    const kept = section('Artifacts and their versions').getByRole('listitem')
    await kept.filter({ hasText: 'version 1' }).waitFor()
    expect(await kept.filter({ hasText: 'version 2' }).textContent()).toContain('approved')
    expect(await section('Answers of attempts').getByText('valid').count()).toBeGreaterThan(1)
    const saved = page.waitForEvent('download')
    await section('Report').getByRole('button', { name: 'Save the report' }).click()
    expect((await saved).suggestedFilename()).toBe(`${json.run_id}.json`)
    expect(place.writ(['flow', 'status', json.run_id, '--json']).json.status).toBe('DONE')
  })
})

const KEYS = JSON.stringify([
  { name: 'water_mm', type: 'number', min: 0, max: 40 },
  { name: 'method', type: 'enum', enum: ['drip', 'pivot'] },
])

describe('a task', () => {
  it('is issued by a form that follows from its parameters, and shows its receipts', async () => {
    await page.goto(`${place.address}/tasks`)
    await page.getByRole('button', { name: 'Issue a task' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Parameters: names, types and bounds').fill(KEYS)
    await dialog.getByLabel('Place', { exact: true }).fill('north/7')
    await dialog.getByLabel('water_mm (0…40)').fill('12')
    await dialog.getByLabel('method').selectOption('drip')
    await touch()
    await page.getByRole('link', { name: /^act-/ }).click()
    await page.getByText('The record is intact').waitFor()
    const facts = section('Task and receipts')
    expect(await facts.textContent()).toContain('field north/7')
    const [task] = place.writ(['task', 'list', '--json']).json.tasks
    const device = place.client(place.tokenOf('device:pump@local'))
    await device.submitReceipt({ body: { receipt: receiptOf(task.act_task_id) } })
    await facts.getByRole('heading', { name: 'Receipt', exact: true }).waitFor()
    const text = await facts.textContent()
    expect(text).toContain('device:pump')
    expect(text).toContain('executed')
  })
})

function receiptOf(act_task_id: string): Json {
  const now = Date.now()
  return {
    type: 'ao_act_receipt_v0',
    act_task_id,
    executor_id: { kind: 'device', id: 'pump', namespace: 'local' },
    execution_time: { start_ts: now, end_ts: now + 1000 },
    execution_coverage: { kind: 'field', ref: 'north/7' },
    resource_usage: { fuel_l: null, electric_kwh: 4.2, water_l: 1200, chemical_ml: null },
    logs_refs: [{ kind: 'controller', ref: 'log:1' }],
    status: 'executed',
    constraint_check: { violated: false, violations: [] },
    observed_parameters: { water_mm: 12, method: 'drip' },
    created_at_ts: now + 2000,
    meta: { idempotency_key: 'one' },
  }
}

describe('a request of an actor to take an action back', () => {
  it('waits in the inbox and is carried out after a yes', async () => {
    const proposal = place.proposal('plain.txt')
    const act = await place.propose(proposal)
    if (act.status === 'waiting') {
      await page.goto(`${place.address}/questions/${act.action_id}`)
      await page.getByRole('button', { name: /^Approve(?: all \d+)?(?: a)?$/ }).click()
      await touch()
    }
    await expect.poll(() => existsSync(join(place.project, 'plain.txt'))).toBe(true)
    const reason = 'the file was meant for another project'
    await place.asBot.requestUndo({ body: { action_id: act.action_id, reason } })
    await page.goto(place.address)
    const request = section('1 request to take an action back')
    await request.getByText(reason).waitFor()
    await request.getByRole('button', { name: 'Take it back' }).click()
    await touch()
    await request.waitFor({ state: 'detached' })
    expect(existsSync(join(place.project, 'plain.txt'))).toBe(false)
  })
})

describe('the pages', () => {
  it('reported nothing', () => expect(place.reports).toEqual([]))
})
