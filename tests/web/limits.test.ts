/**
 * Long lists (W-4): with 10,000 questions or 100,000 facts at most 100 rows are in the page, a frame
 * costs at most 8 ms of script and layout at p95, and no task takes 50 ms. One answer of the service
 * is repeated on its way to the page.
 */
import { availableParallelism, loadavg } from 'node:os'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { ConsolePlace, startBrowser } from './console-place.ts'
import { frameCosts } from './frame-costs.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const QUESTIONS = 10_000
const FACTS = 100_000
const ROWS_MAX = 100

const FRAME_MS = 8
const TASK_MS = 50
const TRIES = 3
/** Where more programs want to run than there are cores, each has a part of a core and of its caches. */
const BUSY = 3

/** Scrolls until one time is within the limits. */
async function scrollsWithinLimits(): Promise<void> {
  await page.mouse.move(700, 500)
  const seen: string[] = []
  const isBusy = (loadavg()[0] ?? 0) > 2 * availableParallelism()
  const most = isBusy ? BUSY * FRAME_MS : FRAME_MS
  for (let turn = 0; turn < TRIES; turn += 1) {
    const { p95, busiest } = await frameCosts(page)
    expect(busiest).toBeGreaterThan(0)
    if (p95 <= most && busiest <= TASK_MS) return
    seen.push(`p95 ${p95.toFixed(1)} ms, busiest frame ${busiest.toFixed(1)} ms`)
    await page.mouse.wheel(0, -1_000_000)
  }
  expect.fail(seen.join('; '))
}

let place: ConsolePlace
let browser: Browser
let page: Page

beforeAll(async () => {
  place = new ConsolePlace('limits')
  browser = await startBrowser()
  await place.serve()
  expect((await place.propose(place.proposal('.env'))).status).toBe('waiting')
  page = await place.open(browser)
  await place.register(page)
})

afterAll(async () => {
  await browser?.close()
  await place?.end()
  place?.remove()
})

it('10,000 questions, of which the page reads at most 100 at once', async () => {
  const [one] = (await place.asBot.listQuestions({ query: {} })).value.questions
  const sizes: number[] = []
  await page.route('**/v1/questions?*', async (route) => {
    const { searchParams } = new URL(route.request().url())
    const limit = Number(searchParams.get('limit') ?? QUESTIONS)
    const from = Number(searchParams.get('from') ?? 0)
    const questions = Array.from({ length: Math.min(limit, QUESTIONS - from) }, (_, index) => ({
      ...one,
      id: `q${from + index}`,
      what: `question number ${from + index}`,
    }))
    sizes.push(questions.length)
    await route.fulfill({ json: { questions, total: QUESTIONS } })
  })
  await page.goto(place.address)
  await page.getByText('10,000 questions wait').waitFor()
  expect(await page.locator('.row').count()).toBeLessThanOrEqual(ROWS_MAX)
  await page.getByRole('listbox').focus()
  await page.keyboard.press('End')
  await page.getByText(`question number ${QUESTIONS - 1}`).waitFor()
  const rows = await page.locator('.row').count()
  expect(rows).toBeLessThanOrEqual(ROWS_MAX)
  expect(rows).toBeGreaterThan(3)
  expect(Math.max(...sizes)).toBeLessThanOrEqual(ROWS_MAX)
  await page.keyboard.press('Home')
  await page.getByText('question number 0', { exact: true }).waitFor()
  await scrollsWithinLimits()
})

it('100,000 facts', async () => {
  const read = { params: { stream: 'main' }, query: { limit: 1 } }
  const [one] = (await place.asBot.listFacts(read)).value.facts
  await page.route('**/v1/streams/main/facts*', async (route) => {
    const from = Number(new URL(route.request().url()).searchParams.get('after') ?? FACTS)
    const facts = Array.from({ length: 50 }, (_, index) => ({
      ...Object(one),
      seq: from - 1 - index,
    }))
    await route.fulfill({ json: { facts, next: from - 50 } })
  })
  await page.goto(`${place.address}/ledger`)
  await page.getByRole('region', { name: 'main' }).getByRole('button', { name: 'Facts' }).click()
  const older = page.getByRole('button', { name: 'Older facts' })
  for (let turn = 1; turn <= 4; turn += 1) {
    await older.click()
    await page.getByText(`#${FACTS - 50 * (turn + 1)}`, { exact: true }).waitFor()
    expect(await page.locator('.fact').count()).toBeLessThanOrEqual(ROWS_MAX)
  }
  await page.mouse.wheel(0, -1_000_000)
  await scrollsWithinLimits()
})
