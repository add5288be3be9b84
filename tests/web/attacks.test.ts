/**
 * Texts of actors stay texts on every page that shows them (W-5): titles and texts of flows, contents of
 * artifacts, names and values of task parameters, texts of laws, names of agents, reasons of undo requests.
 */
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { ConsolePlace, startBrowser } from './console-place.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const EVIL = `<img src=x onerror="globalThis.hit=1"><script>globalThis.hit=1</script>`
/** What a person sees of it. */
const SHOWN = '<img src=x onerror='

/** A refusal is an answer that the page shows. */
const REFUSED = /^console: Failed to load resource: the server responded with a status of 4/

let place: ConsolePlace
let browser: Browser
let page: Page

beforeAll(async () => {
  place = new ConsolePlace('attacks')
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

/** The text is there to be read, and made nothing of the page. */
async function staysText(least = 1): Promise<void> {
  await page.getByText(SHOWN).first().waitFor()
  expect(await page.getByText(SHOWN).count()).toBeGreaterThanOrEqual(least)
  expect(await page.locator('img, main script, main iframe, main object').count()).toBe(0)
  expect(await page.evaluate(() => Reflect.get(globalThis, 'hit') ?? null)).toBeNull()
  expect(place.reports.filter((report) => !REFUSED.test(report))).toEqual([])
}

it('texts of flows', async () => {
  const node = { phase_id: 'p', actor: 'ann', max_attempts: 2 }
  const flow = {
    type: 'flow_v1',
    flow_id: 'evil',
    title: EVIL,
    nodes: [
      { ...node, node_id: 'draft', kind: 'WORK', title: EVIL, executor: { human: 'ann' } },
      { ...node, node_id: 'sent', kind: 'GOAL', title: 'Sent' },
    ],
    edges: [{ edge_id: 'E1', source: 'draft', target: 'sent', class: 'Gate', label: EVIL }],
  }
  place.file('evil.json', JSON.stringify(flow))
  const { json, err } = place.writ(['flow', 'run', 'evil.json', '--json'], { isWarm: false })
  expect(json?.status, err).toBe('WAITING')
  await page.goto(`${place.address}/flows`)
  await staysText()
  await page.goto(`${place.address}/flows/${json.run_id}`)
  await page.locator('.graph-node').first().waitFor()
  await page.getByRole('button', { name: 'Hand in the document' }).click()
  await page.getByLabel('Your work, as text').fill(EVIL)
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /passkey/ })
    .click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'draft', exact: true }).click()
  await page.locator('pre.output', { hasText: SHOWN }).waitFor()
  await staysText(2)
})

it('texts of laws', async () => {
  await page.goto(`${place.address}/laws`)
  const text = `laws:\n  - policy_id: ${JSON.stringify(EVIL)}\n    tier: 2\n`
  await page.getByLabel('Text of laws').fill(text)
  await page.getByRole('button', { name: 'Try it' }).click()
  await page.getByRole('alert').waitFor()
  await staysText()
})

it('parameters of tasks', async () => {
  await page.goto(`${place.address}/tasks`)
  await page.getByRole('button', { name: 'Issue a task' }).click()
  const dialog = page.getByRole('dialog')
  const keys = [{ name: 'method', type: 'enum', enum: [EVIL, 'drip'] }]
  await dialog.getByLabel('Parameters: names, types and bounds').fill(JSON.stringify(keys))
  await dialog.getByLabel('Place', { exact: true }).fill('north/7')
  await dialog.getByLabel('method').selectOption(EVIL)
  await dialog.getByRole('button', { name: /passkey/ }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: /^act-/ }).click()
  await staysText()
})

it('reasons of requests for an undo, in the inbox', async () => {
  const act = await place.propose(place.proposal('plain.txt'))
  if (act.status === 'waiting') {
    await page.goto(`${place.address}/questions/${act.action_id}`)
    await page.getByRole('button', { name: /^Approve(?: all \d+)?(?: a)?$/ }).click()
    await page.getByRole('button', { name: 'Approve with a passkey' }).click()
    await page.locator('h1 .badge', { hasText: 'promoted' }).waitFor()
  }
  await place.asBot.requestUndo({ body: { action_id: act.action_id, reason: EVIL } })
  await page.goto(place.address)
  await staysText()
})

it('facts of the ledger that hold such texts', async () => {
  await page.goto(`${place.address}/ledger`)
  await page.getByRole('region', { name: 'main' }).getByRole('button', { name: 'Facts' }).click()
  const contents = page.getByText('Contents')
  await contents.first().waitFor()
  for (const one of await contents.all()) await one.click()
  await staysText()
})

it('a script that came into the page all the same is not run, by the rules of the page', async () => {
  await page.goto(place.address)
  await page.getByRole('heading', { name: 'Inbox' }).waitFor()
  const { length } = place.reports
  const refused = await page.evaluate<readonly string[]>(`(async () => {
    const seen = []
    document.addEventListener('securitypolicyviolation', (one) => seen.push(one.effectiveDirective))
    const script = document.createElement('script')
    script.textContent = 'globalThis.hit = 1'
    document.body.append(script)
    const place = document.createElement('div')
    place.innerHTML = '<i onclick="globalThis.hit = 1"></i><b style="color: red"></b>'
    document.body.append(place)
    place.firstChild.click()
    const picture = new Image()
    picture.src = 'http://127.0.0.1:9/leak'
    await new Promise((done) => setTimeout(done, 500))
    script.remove()
    place.remove()
    return seen
  })()`)
  expect(new Set(refused)).toEqual(
    new Set(['script-src-elem', 'script-src-attr', 'style-src-attr', 'img-src']),
  )
  expect(await page.evaluate('globalThis.hit ?? null')).toBeNull()
  // What the page reported is what was tried.
  place.reports.length = length
})
