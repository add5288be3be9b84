/** What a question shows of one path (W-2): both sides next to each other, and pictures as pictures. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { ConsolePlace, startBrowser } from './console-place.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

/** One red pixel. */
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='

let place: ConsolePlace
let browser: Browser

beforeAll(async () => {
  place = new ConsolePlace('differences')
  browser = await startBrowser()
  await place.serve()
})

afterAll(async () => {
  await browser?.close()
  await place?.end()
  place?.remove()
})

it('a text in one column or two, a picture, and what became of similar ones', async () => {
  place.file('prices.txt', 'tea 3\ncake 4\n')
  const line = `sed -i s/4/6/ prices.txt; echo ${PIXEL} | base64 -d > logo.png; printf '\\177ELF\\0\\1' > tool.bin; echo K=1 > .env`
  place.writ(['exec', '--', 'sh', '-c', line], { isWarm: false })
  const page = await place.open(browser)
  await place.register(page)
  await page.locator('.row', { hasText: 'prices.txt' }).click()
  const similar = page.getByRole('region', { name: 'Similar ones before' })
  await similar.getByText('None: the stream has 1 action.').waitFor()
  await page.locator('.change-rows .row', { hasText: 'prices.txt' }).click()
  await page.getByText('cake 6').waitFor()
  expect(await page.locator('.cm-editor').count()).toBe(1)
  await page.getByRole('button', { name: 'Side by side' }).click()
  await page.locator('.diff[data-beside=true] .cm-editor').nth(1).waitFor()
  expect(await page.locator('.cm-editor').allTextContents()).toEqual([
    expect.stringContaining('cake 4'),
    expect.stringContaining('cake 6'),
  ])
  await page.locator('.change-rows .row', { hasText: 'logo.png' }).click()
  const picture = page.getByRole('img', { name: 'then' })
  await picture.waitFor()
  expect(await picture.evaluate((one) => Reflect.get(one, 'naturalWidth'))).toBe(1)
  await page.locator('.change-rows .row', { hasText: 'tool.bin' }).click()
  const bytes = page.getByRole('figure', { name: 'then: the first 6 bytes' }).locator('pre')
  expect(await bytes.textContent()).toBe(`0000  7f 45 4c 46 00 01${' '.repeat(32)}.ELF..`)
  await page.getByLabel('Language').selectOption('zh')
  await page.getByText('此流最近 1 个操作中没有类似的。').waitFor()
  await page.context().close()
  expect(place.reports).toEqual([])
})
