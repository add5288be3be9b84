/**
 * Accessibility (W-4) of the pages of one thing and of the dialogs that only some questions have, in light
 * and dark colours: axe-core finds nothing.
 */
import type { Browser, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Json } from '../cli-gate/place.ts'
import { findings, loaded } from './axe.ts'
import { ConsolePlace, NARROW, startBrowser, WIDE } from './console-place.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const FLOW = `type: flow_v1
flow_id: letter
title: A letter to the neighbours
nodes:
  - { node_id: draft, kind: WORK, phase_id: p, title: Write the letter, actor: ann, executor: { human: ann }, max_attempts: 3 }
  - { node_id: sent, kind: GOAL, phase_id: p, title: Sent, actor: ann, max_attempts: 1 }
edges:
  - { edge_id: E1, source: draft, target: sent, class: Progress }
`

let place: ConsolePlace
let browser: Browser
let pages: Readonly<Record<string, string>>
let parts = ''
let grantable = ''

beforeAll(async () => {
  place = new ConsolePlace('access')
  browser = await startBrowser()
  place.file('hours.txt', 'open from 9\n')
  place.file('letter.yaml', FLOW)
  const line = 'echo 1 > one.txt; echo 2 > two.txt; echo K=1 > .env'
  place.writ(['exec', '--', 'sh', '-c', line], { isWarm: false })
  // Alike, so that both can be approved together.
  const other = 'echo 3 > three.txt; echo 4 > four.txt; echo K=1 > .env.more'
  place.writ(['exec', '--', 'sh', '-c', other], { isWarm: false })
  const edit = ['run', '--as', 'writer', '--', 'sed', '-i', 's/9/10/', 'hours.txt']
  expect(place.writ(edit, { isWarm: false }).status).toBe(0)
  place.file('old.txt', 'the only copy\n')
  const work = 'echo 7 > total.txt; sleep 1; rm old.txt'
  const helped = place.writ(['run', '--as', 'helper', '--', 'sh', '-c', work], { isWarm: false })
  expect(helped.status, helped.err).toBe(0)
  const run = place.writ(['flow', 'run', 'letter.yaml', '--json'], { isWarm: false }).json.run_id
  const { sessions } = place.writ(['session', 'list', '--json']).json
  const of = (agent: string): Json => sessions.find((one: Json) => one.agent === agent)
  grantable = of('writer').question
  await place.serve()
  const { questions } = (await place.asBot.listQuestions({ query: {} })).value
  parts = questions.find(({ what }) => what.includes('two.txt'))?.id ?? ''
  const { actions } = (await place.asBot.listActions({ query: { limit: 20 } })).value as Json
  const done = actions.find(({ status }: Json) => status === 'promoted')
  expect(done, JSON.stringify(actions.map(({ status }: Json) => status))).toBeDefined()
  pages = {
    session: `/sessions/${of('helper').session_id}`,
    run: `/flows/${run}`,
    action: `/actions/${done.action_id}`,
  }
})

afterAll(async () => {
  await browser?.close()
  await place?.end()
  place?.remove()
})

type Found = Record<string, readonly string[]>

/** Looks at the dialog that a button opens, and closes it. */
async function lookAt(page: Page, button: Locator, found: Found, name: string): Promise<void> {
  await button.click()
  await page.getByRole('dialog').waitFor()
  await loaded(page)
  found[name] = await findings(page)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
}

async function lookAtDialogs(page: Page, found: Found): Promise<void> {
  const button = (name: string | RegExp): Locator => page.getByRole('button', { name })
  await page.goto(`${place.address}/questions/${parts}`)
  await lookAt(page, button('Approve alike ones'), found, 'alike')
  await page.locator('.change-rows .row', { hasText: 'two.txt' }).locator('.mark').click()
  await lookAt(page, button('Approve 1 chosen'), found, 'part')
  await page.goto(`${place.address}/questions/${grantable}`)
  await lookAt(page, button('Always'), found, 'always')
  await page.goto(`${place.address}${pages['action']}`)
  await lookAt(page, button(/^Undo/), found, 'undo')
}

/** The dialog that issues a task, and the page of the task. */
async function lookAtTask(page: Page, found: Found): Promise<void> {
  await page.goto(`${place.address}/tasks`)
  await page.getByRole('button', { name: 'Issue a task' }).click()
  const dialog = page.getByRole('dialog')
  const keys = JSON.stringify([{ name: 'water_mm', type: 'number', min: 0, max: 40 }])
  await dialog.getByLabel('Parameters: names, types and bounds').fill(keys)
  await dialog.getByLabel('Place', { exact: true }).fill('north/7')
  await dialog.getByLabel('water_mm (0…40)').fill('12')
  found['issue'] = await findings(page)
  await dialog.getByRole('button', { name: /passkey/ }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: /^act-/ }).first().click()
  await page.waitForURL(/\/tasks\/./)
  // Without what the dialog read out: that stays in the page for some seconds.
  await page.reload()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await loaded(page)
  found['task'] = await findings(page)
}

/** What asks once more on the pages of a session, a run and people; a halt; a proof; the menu of a phone. */
async function lookAtOthers(page: Page, found: Found): Promise<void> {
  const button = (name: string | RegExp): Locator => page.getByRole('button', { name }).first()
  await page.goto(`${place.address}${pages['session']}`)
  await lookAt(page, button('Discard all'), found, 'discard')
  await page.goto(`${place.address}${pages['run']}`)
  await lookAt(page, button('Hand in the document'), found, 'document')
  await page.goto(`${place.address}/people`)
  await lookAt(page, button('Remove'), found, 'remove')
  await page.goto(`${place.address}/ledger`)
  const main = page.getByRole('region', { name: 'main' })
  await main.getByRole('button', { name: 'Facts' }).click()
  await main.getByRole('button', { name: 'Check the proof' }).nth(1).click()
  await main.getByRole('img').waitFor()
  found['proof'] = await findings(page)
  await button(/^Halt/).click()
  await button('Halt now').click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await lookAt(page, button('End the halt'), found, 'resume')
  found['halted'] = await findings(page)
  await button('End the halt').click()
  await page.getByRole('dialog').getByRole('button', { name: 'End the halt' }).click()
  await page.getByRole('region', { name: 'Everything is halted' }).waitFor({ state: 'detached' })
  await page.setViewportSize(NARROW)
  await page.goto(place.address)
  await page.getByRole('button', { name: 'Menu' }).click()
  await page.getByRole('link', { name: 'Ledger' }).waitFor()
  await loaded(page)
  found['menu'] = await findings(page)
}

describe.each(['light', 'dark'] as const)('in %s colours', (colorScheme) => {
  it('nothing is found on the page of a session, a run, an action or a task, nor in dialogs', async () => {
    // Only the test looks into the page with a script of its own.
    const page = await place.open(browser, WIDE, { colorScheme, bypassCSP: true })
    await place.register(page)
    const found: Found = {}
    for (const [name, at] of Object.entries(pages)) {
      await page.goto(`${place.address}${at}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await loaded(page)
      found[name] = await findings(page)
    }
    await lookAtDialogs(page, found)
    await lookAtTask(page, found)
    await lookAtOthers(page, found)
    await page.context().close()
    expect(Object.keys(found)).toHaveLength(16)
    expect(Object.entries(found).filter(([, list]) => list.length > 0)).toEqual([])
    expect(place.reports).toEqual([])
  })
})
