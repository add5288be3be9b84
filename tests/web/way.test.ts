/**
 * The console in a real browser with a virtual authenticator (W-5): a person opens it, understands the
 * question, approves with a passkey, sees it promoted, and undoes it, at the width of a phone and of a
 * desk; texts of actors stay texts; every page is accessible; the page goes on after a restart.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Json } from '../cli-gate/place.ts'
import { findings, loaded } from './axe.ts'
import { ConsolePlace, NARROW, startBrowser, WIDE } from './console-place.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const PICTURES = join('.cache', 'pictures')

let place: ConsolePlace
let browser: Browser

beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true })
  place = new ConsolePlace('web')
  await place.serve()
  browser = await startBrowser()
})

afterAll(async () => {
  await browser?.close()
  await place?.end()
  place?.remove()
})

/** A question with a deletion, a change and a file that runs by itself later. */
async function ask(name: string, intent?: string): Promise<Json> {
  place.file(`${name}/old/a.txt`, 'one\n')
  place.file(`${name}/src/app.js`, 'const a = 1\nconst b = 2\nconst c = 3\n')
  const root = join(place.project, name)
  const line = `rm -r ${name}/old; sed -i s/2/22/ ${name}/src/app.js; echo KEY=1 > ${name}/.env`
  const effects = {
    create: [`${root}/.env`],
    modify: [`${root}/.env`, `${root}/src/app.js`],
    delete: [`${root}/old`, `${root}/old/a.txt`],
  }
  const act = await place.propose(place.command(line, effects, intent))
  expect(act.status).toBe('waiting')
  return act
}

async function openQuestion(page: Page, words: string): Promise<void> {
  await page.locator('.row', { hasText: words }).first().click()
  await page.getByRole('toolbar', { name: 'Your answer' }).waitFor()
}

describe.each([
  ['desk', WIDE],
  ['phone', NARROW],
])('the whole way at the width of a %s', (name, viewport) => {
  it('leads from the question to the approval, and back by undo', async () => {
    const act = await ask(name)
    const page = await place.open(browser, viewport)
    await place.register(page)
    await page.screenshot({ path: join(PICTURES, `inbox-${name}.png`) })
    await openQuestion(page, `${name}/old`)
    // Who asks, what, why, what would change, and what can be undone are on the page.
    await page.getByText('ai:bot@local').first().waitFor()
    await page.getByText('1 file would run by itself later').waitFor()
    await page
      .getByText('For 14 days after your yes, undo restores all files, but not')
      .first()
      .waitFor()
    await page.getByText('In the actor’s own words, not checked').waitFor()
    await page.getByRole('region', { name: 'Why you are asked' }).waitFor()
    const first = page.locator('.change-rows .row').first()
    expect(await first.textContent()).toContain('deleted')
    await page.locator('.change-rows .row', { hasText: 'app.js' }).click()
    await page.getByText('const b = 22').waitFor()
    await page.screenshot({
      path: join(PICTURES, `question-${name}.png`),
      fullPage: name === 'phone',
    })
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect(width).toBeLessThanOrEqual(viewport.width)
    expect(existsSync(join(place.project, name, '.env'))).toBe(false)
    await page.keyboard.press('a')
    await page.getByRole('button', { name: 'Approve with a passkey' }).click()
    await page.getByRole('button', { name: /Undo/ }).waitFor()
    expect(existsSync(join(place.project, name, '.env'))).toBe(true)
    expect(existsSync(join(place.project, name, 'old'))).toBe(false)
    const shown = (await place.asBot.showAction({ params: { id: act.action_id } })).value as Json
    expect(shown.answers[0].payload).toMatchObject({ answer: 'APPROVED', assurance: 'passkey' })
    await page.screenshot({ path: join(PICTURES, `action-${name}.png`) })
    await page.keyboard.press('u')
    await page.getByRole('button', { name: 'Undo with a passkey' }).click()
    await page.locator('h1 .badge', { hasText: 'undone' }).waitFor()
    expect(readFileSync(join(place.project, name, 'old', 'a.txt'), 'utf8')).toBe('one\n')
    expect(existsSync(join(place.project, name, '.env'))).toBe(false)
    await page.context().close()
    expect(place.reports).toEqual([])
  })
})

describe('answers', () => {
  it('deny with a reason that is on the record', async () => {
    const act = await ask('refused')
    const page = await place.open(browser)
    await place.register(page)
    await openQuestion(page, 'refused/old')
    await page.keyboard.press('d')
    await page.getByLabel('Reason').fill('keep the old ones')
    await page.getByRole('button', { name: 'Deny with a passkey' }).click()
    await page.locator('h1 .badge', { hasText: 'denied' }).waitFor()
    const shown = (await place.asBot.showAction({ params: { id: act.action_id } })).value as Json
    expect(shown.answers[0].payload).toMatchObject({
      answer: 'DENIED',
      reason: 'keep the old ones',
    })
    await page.context().close()
  })
})

describe('a part of a question', () => {
  it('is judged by itself and signed; the rest is listed and left out', async () => {
    const line = 'echo 1 > part-one.txt; echo 2 > part-two.txt; echo K=1 > .env.part'
    place.writ(['exec', '--', 'sh', '-c', line], { isWarm: false })
    const page = await place.open(browser)
    await place.register(page)
    await openQuestion(page, 'part-one')
    await page.locator('.change-rows .row', { hasText: 'part-two.txt' }).locator('.mark').click()
    await page.getByRole('button', { name: 'Approve 1 chosen' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('2 paths are left out:').waitFor()
    await dialog.getByText('Can all be undone for 14 days after your yes').waitFor()
    await dialog.getByText('Why this part needs your answer:').waitFor()
    expect(await dialog.textContent()).not.toContain('took a part of the act')
    // This question alone is of its kind.
    expect(await page.getByText('Approve alike ones').count()).toBe(0)
    await page
      .getByRole('region', { name: 'Why you are asked', includeHidden: true })
      .getByText('“Always” is not offered: it is for what an agent does')
      .waitFor()
    expect(await page.getByRole('dialog').getByRole('listitem').allTextContents()).toEqual(
      expect.arrayContaining([expect.stringMatching(/^new .*part-one\.txt/)]),
    )
    await page.getByRole('button', { name: 'Approve the part' }).click()
    await page.getByRole('button', { name: /Undo/ }).waitFor()
    expect(existsSync(join(place.project, 'part-two.txt'))).toBe(true)
    expect(existsSync(join(place.project, 'part-one.txt'))).toBe(false)
    await page.context().close()
    const { status, out, err } = place.writ(['ledger', 'verify'], { isWarm: false })
    expect(status, out + err).toBe(0)
  })
})

/** An answer is recorded before its act is promoted. */
const POLL = { timeout: 30_000, interval: 200 }

describe('questions that are alike', () => {
  it('are all listed, and each is signed by itself', async () => {
    const acts = [await ask('twin-one'), await ask('twin-two')]
    const page = await place.open(browser)
    await place.register(page)
    await openQuestion(page, 'twin-one/old')
    await page.getByRole('button', { name: 'Approve alike ones (2)…' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('twin-one/old').waitFor()
    await dialog.getByText('twin-two/old').waitFor()
    const listed = await dialog.getByRole('listitem').count()
    await dialog.getByRole('button', { name: `Approve all ${listed}` }).click()
    await dialog.waitFor({ state: 'detached' })
    for (const { action_id: id } of acts) {
      const look = async () => (await place.asBot.showAction({ params: { id } })).value as Json
      await expect.poll(async () => (await look()).status, POLL).toBe('promoted')
      const shown = await look()
      expect(shown.answers[0].payload).toMatchObject({ assurance: 'passkey' })
    }
    await page.context().close()
  })
})

describe('Chinese', () => {
  it('is chosen by the browser or the person, and kept', async () => {
    const page = await place.open(browser, WIDE, { locale: 'zh-CN' })
    await page.goto(place.address)
    await page.getByText('由你决定智能体、脚本和机器可以做什么。').waitFor()
    await page.getByLabel('语言').selectOption('en')
    await page.getByText('Decide what agents, scripts and machines may do.').waitFor()
    await page.reload()
    await page.getByText('Decide what agents, scripts and machines may do.').waitFor()
    await page.context().close()
  })
})

const EVIL = `<img src=x onerror="window.hit=1"><script>window.hit=1</script>`

describe('texts of actors', () => {
  it('are shown as text in names, contents, intents and commands', async () => {
    const name = `evil/<img src=x onerror=hit=1>\u202egnp.js`
    const path = join(place.project, name)
    const example = place.proposal('.env.evil')
    const { descriptor, operation } = example
    const act = await place.propose({
      descriptor: {
        ...descriptor,
        intent_summary: EVIL,
        confirmation: { ...descriptor.confirmation, required: true, reason: EVIL },
        effects: {
          ...descriptor.effects,
          filesystem: { create: [path, join(place.project, 'evil')], modify: [path], delete: [] },
        },
      },
      operation: { ...operation, path, content: `${EVIL}\n\u202eabc\n` },
    })
    expect(act.status).toBe('waiting')
    const page = await place.open(browser)
    await place.register(page)
    await openQuestion(page, 'gnp.js')
    await page.locator('.change-rows .row', { hasText: 'gnp.js' }).click()
    await page.getByText('\\u202eabc').waitFor()
    await page
      .getByRole('region', { name: 'Why you are asked' })
      .getByText('onerror')
      .first()
      .waitFor()
    for (const at of [`/actions/${act.action_id}`, '/actions', '/']) {
      await page.goto(`${place.address}${at}`)
      await page.getByText('gnp.js').first().waitFor()
      expect(await page.content()).not.toContain('\u202e')
    }
    expect(await page.evaluate(() => Reflect.get(globalThis, 'hit') ?? null)).toBeNull()
    expect(await page.locator('img').count()).toBe(0)
    await page.context().close()
    expect(place.reports).toEqual([])
  })
})

describe('a large question', () => {
  it('of 5,000 files keeps at most 100 rows in the page', async () => {
    const root = join(place.project, 'many')
    mkdirSync(root)
    const line =
      'i=0; while [ $i -lt 5000 ]; do echo $i > many/f$i.txt; i=$((i+1)); done; echo K=1 > many/.env'
    const act = await place.propose(
      place.command(line, { create: [`${root}/**`], modify: [`${root}/**`] }),
    )
    expect(act.status).toBe('waiting')
    const page = await place.open(browser)
    await place.register(page)
    await openQuestion(page, 'many/f')
    await page.locator('.change-rows .row').nth(5).waitFor()
    expect(await page.locator('.row').count()).toBeLessThanOrEqual(100)
    await page.locator('.change-rows').focus()
    await page.keyboard.press('End')
    await page.locator('.change-rows .row', { hasText: 'f999.txt' }).waitFor()
    expect(await page.locator('.row').count()).toBeLessThanOrEqual(100)
    await page.context().close()
  })
})

describe('the page', () => {
  it('goes on by itself after the service was restarted, and shows what came', async () => {
    const page = await place.open(browser)
    await place.register(page)
    await page.getByText('Live', { exact: true }).waitFor()
    const { port } = new URL(place.url)
    await place.end()
    await page.getByText('Connecting again…').waitFor()
    await place.serve(['--listen', `127.0.0.1:${port}`])
    await page.getByText('Live', { exact: true }).waitFor()
    await ask('later')
    await page.locator('.row', { hasText: 'later/old' }).first().waitFor()
    await page.context().close()
    place.reports.length = 0
  })

  it('halts with one key', async () => {
    const page = await place.open(browser)
    await place.register(page)
    await page.keyboard.press('h')
    await page.getByRole('button', { name: 'Halt now' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(place.writ(['log', '--json']).out).toContain('halt')
    await page.goto(`${place.address}/laws`)
    await page.getByRole('button', { name: 'End the halt' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End the halt' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.context().close()
  })

  it('verifies the ledger by its own hashes', async () => {
    const page = await place.open(browser)
    await place.register(page)
    await page.goto(`${place.address}/ledger`)
    await page
      .getByRole('region', { name: 'main' })
      .getByRole('button', { name: 'Verify in this browser' })
      .click()
    await page.getByText('The tree is the one that the home signed').waitFor()
    await page.context().close()
  })
})

const PAGES = [
  '/',
  '/actions',
  '/sessions',
  '/flows',
  '/tasks',
  '/ledger',
  '/rules',
  '/laws',
  '/people',
  '/nowhere',
]
describe.each(['light', 'dark'] as const)('accessibility in %s colours', (colorScheme) => {
  it('has no findings on any page and dialog', async () => {
    await ask(`plain-${colorScheme}`)
    // Only the test looks into the page with a script of its own.
    const page = await place.open(browser, WIDE, { colorScheme, bypassCSP: true })
    await page.goto(`${place.address}/login`)
    await page.getByRole('heading', { name: 'writ' }).waitFor()
    const found: Record<string, readonly string[]> = { login: await findings(page) }
    await place.register(page)
    for (const at of PAGES) {
      await page.goto(`${place.address}${at}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await loaded(page)
      found[at] = await findings(page)
      await page.screenshot({
        path: join(PICTURES, `${colorScheme}${at.replaceAll('/', '-')}.png`),
      })
    }
    await page.goto(place.address)
    await openQuestion(page, `plain-${colorScheme}/old`)
    await loaded(page)
    found['question'] = await findings(page)
    await page.screenshot({ path: join(PICTURES, `${colorScheme}-question.png`) })
    for (const [key, title] of [
      ['a', 'Approve exactly'],
      ['d', 'Deny this'],
      ['h', 'Halt everything?'],
      ['?', 'Keys'],
    ] as const) {
      await page.keyboard.press(key)
      await page.getByRole('dialog', { name: title }).waitFor()
      found[`dialog ${title}`] = await findings(page)
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    }
    await page.context().close()
    expect(Object.entries(found).filter(([, list]) => list.length > 0)).toEqual([])
  })
})
