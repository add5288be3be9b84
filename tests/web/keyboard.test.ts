/** The console by keyboard alone (W-4): lists, a question approved, one denied, an undo, search, help. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { ConsolePlace, startBrowser } from './console-place.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

let place: ConsolePlace
let browser: Browser
let page: Page

beforeAll(async () => {
  place = new ConsolePlace('keyboard')
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

async function ask(name: string): Promise<void> {
  const path = join(place.project, name)
  const act = await place.propose(
    place.command(`echo K=1 > ${name}`, { create: [path], modify: [path] }),
  )
  expect(act.status).toBe('waiting')
}

/** Goes on with Tab to a button and presses it. */
async function tabTo(name: RegExp): Promise<void> {
  const focused = `document.activeElement?.textContent ?? ''`
  for (let steps = 0; steps < 40; steps += 1) {
    if (name.test(await page.evaluate<string>(focused))) return page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
  }
  throw new Error(`no button ${name} by Tab`)
}

it('leads from the list to an approval, its undo, a denial, a search and the help', async () => {
  await ask('.env.one')
  await ask('.env.two')
  await page.locator('.row').nth(1).waitFor()
  // Down and up again: the second row is opened.
  for (const key of ['j', 'k', 'j']) await page.keyboard.press(key)
  expect(await page.locator('.row[data-active="true"]').textContent()).toContain('.env.two')
  await page.keyboard.press('Enter')
  await page.getByRole('toolbar', { name: 'Your answer' }).waitFor()
  await page.keyboard.press('a')
  await page.getByRole('dialog').waitFor()
  await tabTo(/^Approve with a passkey$/)
  await page.locator('h1 .badge', { hasText: 'promoted' }).waitFor()
  expect(existsSync(join(place.project, '.env.two'))).toBe(true)
  await page.keyboard.press('u')
  await page.getByRole('dialog').waitFor()
  await tabTo(/^Undo with a passkey$/)
  await page.locator('h1 .badge', { hasText: 'undone' }).waitFor()
  expect(existsSync(join(place.project, '.env.two'))).toBe(false)
  await page.keyboard.press('i')
  await page.getByRole('heading', { name: 'Inbox' }).waitFor()
  await page.locator('.row', { hasText: '.env.one' }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await page.getByRole('toolbar', { name: 'Your answer' }).waitFor()
  await page.keyboard.press('d')
  await page.getByLabel('Reason').waitFor()
  // Letters in a field are text.
  await page.keyboard.type('ajduh?')
  expect(await page.getByLabel('Reason').inputValue()).toBe('ajduh?')
  await tabTo(/^Deny with a passkey$/)
  await page.locator('h1 .badge', { hasText: 'denied' }).waitFor()
  await page.keyboard.press('/')
  await page.getByRole('heading', { name: 'Actions' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('undone')
  await expect.poll(() => page.locator('.row').count()).toBe(1)
  await page.keyboard.press('Escape')
  await page.locator('main').focus()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(place.reports).toEqual([])
})
