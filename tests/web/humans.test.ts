/**
 * Who answers, by clicks in the browser (W-2, W-3): two humans where a law wants two, a stolen cookie in a
 * browser without passkey and page key, a grant by "always", and a request for an undo that is denied.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { severalLaw } from '../laws/humans.ts'
import { PASSPHRASE } from '../server/service-place.ts'
import { ConsolePlace, startBrowser } from './console-place.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

let place: ConsolePlace
let browser: Browser
let ann: Page
let bea: Page
let grantable = ''

beforeAll(async () => {
  place = new ConsolePlace('humans')
  browser = await startBrowser()
  const file = join(place.project, '.writ', 'laws.yaml')
  const laws = severalLaw('prod/**', 'TWO_HUMANS', 2)
  writeFileSync(file, readFileSync(file, 'utf8').replace('laws:\n', `laws:\n${laws}`))
  const pass = { passphrase: PASSPHRASE }
  expect(place.writ(['laws', 'accept', '--yes', '--pass-fd', '3'], pass).status).toBe(0)
  const token = place.tokenOf('human:bea@local')
  const seen = place.person(['passkey', 'code'], [], { token })
  const [, code = ''] = /code for \S+: (\S+)/.exec(seen.output) ?? []
  place.file('hours.txt', 'open from 9\n')
  const edit = ['run', '--as', 'writer', '--', 'sed', '-i', 's/9/10/', 'hours.txt']
  expect(place.writ(edit, { isWarm: false }).status).toBe(0)
  grantable = place.writ(['session', 'list', '--json']).json.sessions[0].question
  await place.serve()
  ann = await place.open(browser)
  await place.register(ann)
  bea = await place.open(browser)
  await registerWithCode(bea, code)
})

afterAll(async () => {
  await browser?.close()
  await place?.end()
  place?.remove()
})

async function registerWithCode(page: Page, code: string): Promise<void> {
  await page.goto(place.address)
  await page.getByRole('button', { name: 'Register another passkey' }).click()
  await page.getByLabel('Prove who you are by').selectOption('code')
  await page.getByLabel('One-time code').last().fill(code)
  await page.getByRole('button', { name: 'Register the passkey' }).click()
  const saved = page.getByRole('button', { name: 'I saved them' })
  await saved.waitFor()
  // The codes are shown once, so the browser asks before the page is left in any other way.
  const asked = page.waitForEvent('dialog')
  const left = page.evaluate('location.reload()').catch(() => undefined)
  const question = await asked
  expect(question.type()).toBe('beforeunload')
  await question.dismiss()
  await left
  await saved.click()
  await page.getByRole('heading', { name: 'Inbox' }).waitFor()
}

/** Presses a button of the page, and the button of the dialog that needs the passkey. */
async function answer(page: Page, button: string | RegExp, act: string): Promise<void> {
  await page.getByRole('button', { name: button }).first().click()
  await page.getByRole('dialog').getByRole('button', { name: act }).click()
}

it('two humans approve, each with a passkey of their own, and one of them counts once', async () => {
  const target = join(place.project, 'prod/one.txt')
  const act = await place.propose(place.proposal('prod/one.txt'))
  const at = `${place.address}/questions/${act.action_id}`
  await ann.goto(at)
  await ann.getByText('0 of 2 people approved').waitFor()
  await answer(ann, /^Approve(?: all \d+)?(?: a)?$/, 'Approve with a passkey')
  await ann.getByRole('dialog').waitFor({ state: 'detached' })
  expect(existsSync(target)).toBe(false)
  await ann.goto(at)
  await ann.getByText('1 of 2 people approved').waitFor()
  await answer(ann, /^Approve(?: all \d+)?(?: a)?$/, 'Approve with a passkey')
  await ann.getByRole('dialog').getByText('confirm.repeated').waitFor()
  expect(existsSync(target)).toBe(false)
  await bea.goto(at)
  await bea.getByText('1 of 2 people approved').waitFor()
  const asked = bea.getByRole('region', { name: 'Who asks' })
  await asked.getByRole('definition').filter({ hasText: 'human:ann@local, ' }).waitFor()
  await answer(bea, /^Approve(?: all \d+)?(?: a)?$/, 'Approve with a passkey')
  await bea.getByRole('button', { name: /Undo/ }).waitFor()
  expect(existsSync(target)).toBe(true)
})

it('a stolen cookie shows and answers nothing without the page key, nor with it and no passkey', async () => {
  const act = await place.propose(place.proposal('.env'))
  const at = `/questions/${act.action_id}`
  const thief = await browser.newContext({ storageState: { cookies: [], origins: [] } })
  await thief.addCookies(await ann.context().cookies())
  const page = await thief.newPage()
  await page.goto(`${place.address}${at}`)
  await page.getByText('Log in with the passkey that you registered for this home.').waitFor()
  expect(page.url()).toBe(`${place.address}/login`)
  const key = await ann.evaluate<string>(`localStorage.getItem('writ.page_key')`)
  // A key of another session is refused by the service, and the page goes back to the login.
  await page.evaluate(`localStorage.setItem('writ.page_key', '${'A'.repeat(key.length)}')`)
  await page.goto(`${place.address}${at}`)
  await page.waitForURL(`${place.address}/login`)
  // With both it is ann's session, and still there is no passkey to answer with.
  await page.evaluate(`localStorage.setItem('writ.page_key', '${key}')`)
  const session = await thief.newCDPSession(page)
  await session.send('WebAuthn.enable')
  await page.goto(`${place.address}${at}`)
  await answer(page, /^Approve(?: all \d+)?(?: a)?$/, 'Approve with a passkey')
  await page.waitForTimeout(1_500)
  expect(existsSync(join(place.project, '.env'))).toBe(false)
  const { value } = await place.asBot.showAction({ params: { id: act.action_id } })
  expect(value.status).toBe('waiting')
  await thief.close()
})

it('always approves, and the narrow grant is in the list and is taken back', async () => {
  await ann.goto(`${place.address}/people`)
  await ann.getByText('Nothing is granted.').waitFor()
  await ann.goto(`${place.address}/questions/${grantable}`)
  await answer(ann, 'Always', 'Approve and grant')
  await ann.getByRole('dialog').waitFor({ state: 'detached' })
  await expect
    .poll(() => readFileSync(join(place.project, 'hours.txt'), 'utf8'), { timeout: 30_000 })
    .toBe('open from 10\n')
  await ann.goto(`${place.address}/people`)
  const people = ann.getByRole('region', { name: 'Principals' })
  await people.getByRole('row', { name: /human:ann@local passphrase, 1 passkey/ }).waitFor()
  const tokens = ann.getByRole('region', { name: 'Tokens', exact: true }).getByRole('listitem')
  const logins = tokens.filter({ hasText: 'login in a browser' })
  await logins.first().waitFor()
  expect(await logins.filter({ hasText: 'human:' }).count()).toBe(await logins.count())
  expect(await logins.filter({ hasText: 'ai:bot@local' }).count()).toBe(0)
  const grants = ann.getByRole('region', { name: 'Granted with always' })
  const grant = grants.getByRole('listitem')
  await grant.getByText('hours.txt').waitFor()
  expect(await grant.textContent()).toContain('writer')
  await grant.getByRole('button', { name: 'Take back' }).click()
  await ann
    .getByRole('dialog')
    .getByRole('button', { name: /passkey/ })
    .click()
  await grants.getByText('Nothing is granted.').waitFor()
})

it('a request for an undo is denied with a reason, and the action stays', async () => {
  const act = await place.propose(place.proposal('kept.txt'))
  if (act.status === 'waiting') {
    await ann.goto(`${place.address}/questions/${act.action_id}`)
    await answer(ann, /^Approve(?: all \d+)?(?: a)?$/, 'Approve with a passkey')
  }
  await expect
    .poll(() => existsSync(join(place.project, 'kept.txt')), { timeout: 30_000 })
    .toBe(true)
  await place.asBot.requestUndo({ body: { action_id: act.action_id, reason: 'a mistake' } })
  await ann.goto(place.address)
  const request = ann.getByRole('region', { name: '1 request to take an action back' })
  await request.getByRole('button', { name: 'Keep it' }).click()
  await ann.getByLabel('Reason').fill('it is needed')
  await ann.getByRole('dialog').getByRole('button', { name: 'Deny with a passkey' }).click()
  await request.waitFor({ state: 'detached' })
  expect(existsSync(join(place.project, 'kept.txt'))).toBe(true)
  expect(place.writ(['log', '--facts', '--json']).out).toContain('it is needed')
})
