/**
 * `npm start` as a person does it (W-5): the tour, the address it prints, the question that waits there,
 * approved with a passkey and undone, at the width of a phone and of a desk. Without a terminal, and with
 * `--once`, it ends after the tour.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ensureBuilt } from '../built.ts'
import { NARROW, openPage, registerPasskey, startBrowser, WIDE } from './console-place.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const { WRIT_TOKEN: _token, WRIT_HOME: _home, WRIT_URL: _url, ...env } = process.env
const CTRL_C = '\u0003'
/** Also after a test that failed. */
const children: ChildProcess[] = []

interface Started {
  readonly child: ChildProcess
  readonly address: string
  readonly passphrase: string
  readonly project: string
}

/** Runs `npm start` on a terminal of its own and reads what it prints at its end. */
function startAtTerminal(): Promise<Started> {
  const child = spawn('script', ['-qfec', 'npm start', '/dev/null'], {
    env: { ...env, NO_COLOR: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.push(child)
  let text = ''
  const end = /address\s+(\S+)\s+passphrase\s+(\w+)[\s\S]*The shop is ([^;]+);/
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      text += chunk
      const [, address = '', passphrase = '', project = ''] = end.exec(text) ?? []
      if (project !== '') resolve({ child, address, passphrase, project })
    })
    child.once('exit', () => reject(new Error(`npm start ended: ${text}`)))
  })
}

let browser: Browser

beforeAll(async () => {
  ensureBuilt()
  browser = await startBrowser()
})

afterAll(async () => {
  await browser?.close()
  for (const child of children) if (child.exitCode === null) child.stdin?.end(CTRL_C)
})

describe.each([
  ['desk', WIDE],
  ['phone', NARROW],
])('npm start at the width of a %s', (_name, viewport) => {
  it('leads to a question that is understood, approved, promoted and undone', async () => {
    const { child, address, passphrase, project } = await startAtTerminal()
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
    const reports: string[] = []
    const page = await openPage(browser, address, reports, { viewport })
    await registerPasskey(page, address, passphrase)
    await page.locator('.row', { hasText: 'shop-helper.sh' }).click()
    await page.getByRole('heading', { level: 1, name: 'shop-helper' }).waitFor()
    await page.getByText('1 file would run by itself later').waitFor()
    await page
      .getByText('For 14 days after your yes, undo restores all files, but not')
      .first()
      .waitFor()
    await page.getByText('npm runs the script postinstall at').waitFor()
    const rows = page.locator('.change-rows .row')
    expect((await rows.allTextContents()).map((text) => text.replace(/\s+/g, ' '))).toEqual([
      expect.stringMatching(/^deleted.*notes/),
      expect.stringMatching(/^deleted.*ideas\.txt/),
      expect.stringMatching(/^changed.*package\.json.*runs by itself later/),
      expect.stringMatching(/^changed.*prices\.txt/),
    ])
    await rows.filter({ hasText: 'prices.txt' }).click()
    await page.getByText('cake 6').waitFor()
    const width = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect(width).toBeLessThanOrEqual(viewport.width)
    const note = join(project, 'notes/ideas.txt')
    expect(existsSync(note)).toBe(true)
    await page.getByRole('button', { name: /^Approve(?: all \d+)?(?: a)?$/ }).click()
    await page.getByRole('button', { name: 'Approve with a passkey' }).click()
    await page.locator('h1 .badge', { hasText: 'promoted' }).waitFor()
    expect(existsSync(note)).toBe(false)
    await page.getByRole('button', { name: /^Undo/ }).click()
    await page.getByRole('button', { name: 'Undo with a passkey' }).click()
    await page.locator('h1 .badge', { hasText: 'undone' }).waitFor()
    expect(readFileSync(note, 'utf8')).toBe('the only copy\n')
    expect(readFileSync(join(project, 'prices.txt'), 'utf8')).toContain('cake 4')
    await page.context().close()
    expect(reports).toEqual([])
    child.stdin?.write(CTRL_C)
    await ended
    // npm may end first: the terminal signals it as well.
    await expect.poll(() => existsSync(project), { timeout: 30_000 }).toBe(false)
  })
})

describe('npm start', () => {
  it('ends after the tour without a terminal', () => {
    const { status, stdout } = spawnSync('npm', ['start'], { env, encoding: 'utf8', input: '' })
    expect(status).toBe(0)
    expect(stdout).toContain('The tour is complete.')
    expect(stdout).not.toContain('writ.localhost')
  })

  it('ends after the tour with --once', () => {
    const order = ['-qfec', 'npm start -- --once', '/dev/null']
    const { status, stdout } = spawnSync('script', order, { env, encoding: 'utf8', input: '' })
    expect(status).toBe(0)
    expect(stdout).toContain('The tour is complete.')
    expect(stdout).not.toContain('writ.localhost')
  })
})
