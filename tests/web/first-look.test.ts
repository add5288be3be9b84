/**
 * The question is drawn before the console is loaded (W-4): with the console held back it can be read, and
 * a press or key is kept and done once the console is there.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { ConsolePlace, startBrowser } from './console-place.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const CONSOLE = '**/assets/main-*.js'

let place: ConsolePlace
let browser: Browser
let page: Page
let at = ''

beforeAll(async () => {
  place = new ConsolePlace('first-look')
  browser = await startBrowser()
  await place.serve()
  page = await place.open(browser)
  await place.register(page)
  const act = await place.propose(place.proposal('.env'))
  expect(act.status).toBe('waiting')
  at = `${place.address}/questions/${act.action_id}`
})

afterAll(async () => {
  await browser?.close()
  await place?.end()
  place?.remove()
})

/** Opens the question while the console is held back; returns what lets it come. */
async function openHeld(): Promise<() => Promise<void>> {
  let letGo = (): void => undefined
  const held = new Promise<void>((resolve) => {
    letGo = resolve
  })
  await page.route(CONSOLE, async (route) => {
    await held
    await route.continue()
  })
  await page.goto(at, { waitUntil: 'commit' })
  await page.getByRole('toolbar', { name: 'Your answer' }).waitFor()
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('ai:bot@local')
  expect(await page.locator('.change-rows .row').first().textContent()).toContain('.env')
  return async () => {
    const came = page.waitForResponse(/main-[^/]*\.js$/)
    letGo()
    await came
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  }
}

it.each([
  ['Deny', 'Deny this question?'],
  ['Halt', 'Halt everything?'],
])('a press of %s is kept', async (name, title) => {
  const letGo = await openHeld()
  await page.getByRole('button', { name }).click()
  expect(await page.getByRole('dialog').count()).toBe(0)
  await letGo()
  await page.getByRole('dialog', { name: title }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

it('the key a is kept, and nothing is approved without the passkey', async () => {
  const letGo = await openHeld()
  await page.keyboard.press('a')
  await letGo()
  const dialog = page.getByRole('dialog', { name: 'Approve exactly these effects?' })
  await dialog.waitFor()
  expect(existsSync(join(place.project, '.env'))).toBe(false)
  await dialog.getByRole('button', { name: 'Approve with a passkey' }).click()
  await page.locator('h1 .badge', { hasText: 'promoted' }).waitFor()
  expect(existsSync(join(place.project, '.env'))).toBe(true)
  expect(place.reports).toEqual([])
})

it('a console that does not come leaves a message, and no buttons that do nothing', async () => {
  const { length } = place.reports
  await page.route(CONSOLE, (route) => route.abort())
  await page.goto(at)
  await page.getByRole('alert').getByText('Load it again.').waitFor()
  expect(await page.getByRole('button').count()).toBe(0)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  place.reports.length = length
})

it('an address without a question leads to the console, which says so', async () => {
  await page.goto(at)
  await page.getByText('This question waits no longer').waitFor()
})
