/**
 * Runs inside a sandbox: starts a headless browser, follows the steps, and leaves screenshots where they
 * say. The first step that does not come about ends it. What is typed into a page is never printed.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { UiStep } from '../../contracts/index.ts'
import { takeRequest, UI_STATUS } from './request.ts'

export interface UiRequest {
  /** An empty directory inside that is this run's own. */
  readonly folder: string
  readonly browser: string
  /** The files of the driver, which is laid down inside. */
  readonly driver: readonly { readonly name: string; readonly base64: string }[]
  readonly startUrl: string
  readonly steps: readonly UiStep[]
  /** For everything together. */
  readonly timeoutMs: number
}

const FLAGS = [
  // The walls are those around the whole run; the browser's own need rights that nothing inside has.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--no-first-run',
  // The browser's own requests (updates, reports) get no proxy. There is no other way out of the
  // sandbox, so they fail inside it, in every version and in spite of what its flags leave on.
  '--no-proxy-server',
]
/** What a browser or a program that it starts would find the proxy by. */
const PROXY_VARIABLES = /^(https?|all|ftp|no)_proxy$/i
const STEP_MS = 15_000

class StepFailed extends Error {}

function layDown({ folder, driver }: UiRequest): string {
  const place = join(folder, 'node_modules', 'playwright-core')
  for (const { name, base64 } of driver) {
    const file = join(place, name)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, Buffer.from(base64, 'base64'))
  }
  mkdirSync(join(folder, 'home'), { recursive: true })
  return join(folder, 'driver.js')
}

async function launch(request: UiRequest): Promise<Browser> {
  const require = createRequire(layDown(request))
  // The package that was just laid down.
  const { chromium } = require('playwright-core') as typeof import('playwright-core')
  const kept = Object.entries(process.env).filter(([name]) => !PROXY_VARIABLES.test(name))
  return chromium.launch({
    executablePath: request.browser,
    args: FLAGS,
    env: Object.fromEntries(kept),
    timeout: request.timeoutMs,
    chromiumSandbox: false,
  })
}

/** Opens the context of all pages: only what they ask for goes through the proxy. */
function openContext(browser: Browser): Promise<BrowserContext> {
  const server = process.env['HTTP_PROXY'] ?? process.env['http_proxy']
  if (server === undefined) return browser.newContext()
  // Addresses of the machine itself go through the door as well: there is no other way out.
  return browser.newContext({ proxy: { server, bypass: '<-loopback>' } })
}

async function follow(page: Page, step: UiStep): Promise<void> {
  switch (step.action) {
    case 'goto':
      return visit(page, step.url)
    case 'click':
      return page.click(step.selector)
    case 'fill':
      return page.fill(step.selector, step.content)
    case 'press':
      if (step.selector === undefined) return page.keyboard.press(step.key)
      return page.press(step.selector, step.key)
    case 'select':
      await page.selectOption(step.selector, step.option)
      return
    case 'wait_for': {
      const options = step.timeout_ms === undefined ? {} : { timeout: step.timeout_ms }
      await page.waitForSelector(step.selector, options)
      return
    }
    case 'expect_text':
      return expectText(page, step.text, step.selector ?? 'body')
    case 'screenshot':
      mkdirSync(dirname(step.save_to), { recursive: true })
      await page.screenshot({ path: step.save_to, type: 'png', animations: 'disabled' })
      return
    default:
      step satisfies never
  }
}

/** Opens a page; fails if the server answers with an error status. */
async function visit(page: Page, url: string): Promise<void> {
  const response = await page.goto(url, { waitUntil: 'load' })
  if (response !== null && response.status() >= 400) {
    throw new StepFailed(`the answer was ${response.status()}`)
  }
}

async function expectText(page: Page, text: string, selector: string): Promise<void> {
  await page.locator(selector).filter({ hasText: text }).first().waitFor({ state: 'attached' })
}

async function main(request: UiRequest): Promise<void> {
  let browser: Browser
  try {
    browser = await launch(request)
  } catch (error) {
    process.stderr.write(`the browser did not start: ${firstLine(error)}\n`)
    process.exitCode = UI_STATUS.browser
    return
  }
  try {
    const page = await (await openContext(browser)).newPage()
    page.setDefaultTimeout(Math.min(STEP_MS, request.timeoutMs))
    const steps: readonly UiStep[] = [{ action: 'goto', url: request.startUrl }, ...request.steps]
    for (const [index, step] of steps.entries()) {
      try {
        await follow(page, step)
      } catch (error) {
        const place = index === 0 ? 'start_url' : `steps/${index - 1}`
        process.stderr.write(`${place} (${step.action}): ${firstLine(error)}\n`)
        process.exitCode = UI_STATUS.step
        return
      }
    }
  } finally {
    await browser.close()
  }
}

/** The rest of such a message repeats what was asked for, contents included. */
function firstLine(error: unknown): string {
  return String((error as Error).message).split('\n')[0] ?? ''
}

await main(takeRequest<UiRequest>())
