/**
 * The pictures of the READMEs, made from a shop whose agent asks something: question, inbox, session, run
 * and ledger, wide and narrow, light and dark. `WRIT_RECORD=1` writes them to docs/images; without it they
 * are made in `.cache`, and those in docs/images are only looked at, since another browser draws otherwise.
 */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Json } from '../cli-gate/place.ts'
import { ConsolePlace, NARROW, startBrowser, WIDE } from './console-place.ts'
import { smallPng } from './small-png.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const KEPT = join('docs', 'images')
const MADE = process.env['WRIT_RECORD'] === '1' ? KEPT : join('.cache', 'pictures')
const BYTES_MAX = 150_000

const SHOP = {
  'prices.txt': 'tea 3\ncake 4\nbread 5\n',
  'notes/ideas.txt': 'the only copy\n',
  'package.json': '{\n  "name": "shop",\n  "scripts": { "start": "node shop.js" }\n}\n',
}
const WORK = [
  "echo 'tea and cake: 7' > total.txt",
  'sleep 1',
  'rm -r notes',
  "sed -i 's/cake 4/cake 6/' prices.txt",
  `sed -i 's/"node shop.js"/"node shop.js", "postinstall": "node update.js"/' package.json`,
].join('\n')

let place: ConsolePlace
let browser: Browser
let question = ''
let session = ''
let run = ''
let grantable = ''

beforeAll(async () => {
  mkdirSync(MADE, { recursive: true })
  place = new ConsolePlace('pictures')
  browser = await startBrowser()
  for (const [name, text] of Object.entries(SHOP)) place.file(name, text)
  place.file('helper.sh', `${WORK}\n`)
  place.writ(['exec', '--', 'sh', '-c', 'echo 1 > a.txt'], { isWarm: false })
  const words = ['run', '--as', 'shop-helper', '--', 'sh', 'helper.sh', 'add up the prices']
  expect(place.writ(words, { isWarm: false }).status).toBe(0)
  place.file('docs/hours.txt', 'open from 9\n')
  const edit = ['run', '--as', 'writer', '--', 'sed', '-i', 's/9/10/', 'docs/hours.txt']
  expect(place.writ(edit, { isWarm: false }).status).toBe(0)
  const { sessions } = place.writ(['session', 'list', '--json']).json
  const of = (agent: string): Json => sessions.find((one: Json) => one.agent === agent)
  session = of('shop-helper').session_id
  question = of('shop-helper').question
  grantable = of('writer').question
  place.file('letter.yaml', FLOW)
  run = place.writ(['flow', 'run', 'letter.yaml', '--json'], { isWarm: false }).json.run_id
  await place.serve()
})

afterAll(async () => {
  await browser?.close()
  await place?.end()
  place?.remove()
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
`

async function take(page: Page, name: string): Promise<void> {
  await expect.poll(() => page.locator('.loading').count(), { timeout: 60_000 }).toBe(0)
  const path = join(MADE, `${name}.png`)
  const png = smallPng(await page.screenshot())
  writeFileSync(path, png)
  expect(png.length, name).toBeLessThan(BYTES_MAX)
}

/** The answers that a person can give, each before it is signed. */
async function takeDialogs(page: Page, name: (what: string) => string): Promise<void> {
  const close = async (): Promise<void> => {
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  for (const [key, what] of [
    ['a', 'approve'],
    ['d', 'deny'],
  ] as const) {
    await page.keyboard.press(key)
    await page.getByRole('dialog').waitFor()
    await take(page, name(what))
    await close()
  }
  await page.locator('.change-rows .row', { hasText: 'prices.txt' }).locator('.mark').click()
  await page.getByRole('button', { name: 'Approve 1 chosen' }).click()
  await page.getByText('3 paths are left out:').waitFor()
  await take(page, name('part'))
  await close()
  await page.goto(`${place.address}/questions/${grantable}`)
  await page.getByRole('button', { name: 'Always' }).click()
  await page.getByRole('dialog').waitFor()
  await take(page, name('always'))
  await close()
}

describe.each([
  ['wide', 'light', WIDE],
  ['wide', 'dark', WIDE],
  ['narrow', 'light', NARROW],
  ['narrow', 'dark', NARROW],
] as const)('pictures, %s and %s', (width, colorScheme, viewport) => {
  it('are made, and small', async () => {
    const page = await place.open(browser, viewport, { colorScheme })
    await place.register(page)
    const name = (what: string): string => `${what}-${width}-${colorScheme}`
    await page.locator('.row').first().waitFor()
    await take(page, name('inbox'))
    await page.goto(`${place.address}/questions/${question}`)
    await page
      .getByRole('region', { name: 'Laws that spoke' })
      .locator('.laws li')
      .first()
      .waitFor()
    // What runs by itself later is opened first.
    await page.getByText('"postinstall"').waitFor()
    await page.getByText('npm runs the script postinstall at').waitFor()
    // All of it, with the bar of answers below the last section.
    const height = await page.evaluate<number>('document.documentElement.scrollHeight')
    await page.setViewportSize({ ...viewport, height })
    await take(page, name('question'))
    await page.setViewportSize(viewport)
    if (colorScheme === 'light') await takeDialogs(page, name)
    await page.goto(`${place.address}/sessions/${session}`)
    await page.getByText('promoted').first().waitFor()
    await take(page, name('session'))
    await page.goto(`${place.address}/flows/${run}`)
    await page.locator('.graph-node').first().waitFor()
    await take(page, name('run'))
    await page.goto(`${place.address}/ledger`)
    const main = page.getByRole('region', { name: 'main' })
    await main.getByRole('button', { name: 'Verify in this browser' }).click()
    await page.getByText('The tree is the one that the home signed').waitFor()
    await take(page, name('ledger'))
    await page.context().close()
    expect(place.reports).toEqual([])
  })
})

describe('the pictures that are kept', () => {
  it('are small, and both READMEs show them', () => {
    const names = readdirSync(KEPT)
    for (const what of ['question', 'inbox', 'session', 'run', 'ledger'])
      for (const width of ['wide', 'narrow'])
        for (const colours of ['light', 'dark'])
          expect(names).toContain(`${what}-${width}-${colours}.png`)
    for (const name of names) expect(statSync(join(KEPT, name)).size, name).toBeLessThan(BYTES_MAX)
    for (const page of ['README.md', 'README.zh-CN.md']) {
      const shown = [...readFileSync(page, 'utf8').matchAll(/docs\/images\/([\w-]+\.png)/g)]
      expect(shown.length, page).toBeGreaterThan(4)
      for (const [, name] of shown) expect(names, page).toContain(name)
    }
  })
})
