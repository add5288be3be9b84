/** A home that is served, and a browser with a passkey that looks at its console. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import type { Client } from '../../src/api/index.ts'
import type { Json } from '../cli-gate/place.ts'
import { PASSPHRASE, ServicePlace } from '../server/service-place.ts'

/** Other tests may keep the machine busy. */
const WAIT_MS = 45_000
/** A question that was answered is no longer found, and says so. */
const GONE = 'Failed to load resource: the server responded with a status of 404 (Not Found)'

const BROWSER = '/usr/bin/chromium'
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  // Pictures have one colour an edge instead of three.
  '--disable-lcd-text',
  '--disable-quic',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

export const WIDE = { width: 1440, height: 900 }
export const NARROW = { width: 360, height: 740 }

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: BROWSER, args: FLAGS })
}

/**
 * A page in a fresh context, with an authenticator that answers by itself. `reports` gets what the page
 * reports: errors, breaches of its rules, and requests to another host than that of the address.
 */
export async function openPage(
  browser: Browser,
  address: string,
  reports: string[],
  options: Json = {},
): Promise<Page> {
  const context: BrowserContext = await browser.newContext({
    viewport: WIDE,
    locale: 'en-US',
    reducedMotion: 'reduce',
    ...options,
  })
  const page = await context.newPage()
  page.setDefaultTimeout(WAIT_MS)
  page.on('pageerror', (error) => reports.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' && message.text() !== GONE)
      reports.push(`console: ${message.text()} ${message.location().url}`)
  })
  page.on('request', (request) => {
    const { host, protocol } = new URL(request.url())
    if (protocol !== 'data:' && protocol !== 'blob:' && host !== new URL(address).host)
      reports.push(`foreign request: ${request.url()}`)
  })
  const session = await context.newCDPSession(page)
  await session.send('WebAuthn.enable')
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return page
}

/**
 * Registers a passkey: with the passphrase of the home, as a person does the first time, or with a recovery
 * code. Returns the recovery codes if the page shows them.
 */
export async function registerPasskey(
  page: Page,
  address: string,
  passphrase: string,
  code: string | null = null,
): Promise<readonly string[]> {
  await page.goto(address)
  await page.getByRole('heading', { name: 'writ' }).waitFor()
  const another = page.getByRole('button', { name: 'Register another passkey' })
  const form = page.getByRole('button', { name: 'Register the passkey' })
  await another.or(form).first().waitFor()
  if (await another.isVisible()) await another.click()
  if (code === null) await page.getByLabel('Passphrase of this home').last().fill(passphrase)
  else {
    await page.getByLabel('Prove who you are by').selectOption('recovery_code')
    await page.getByLabel('Recovery code', { exact: true }).last().fill(code)
  }
  await form.click()
  const saved = page.getByRole('button', { name: 'I saved them' })
  const inbox = page.getByRole('heading', { name: 'Inbox' })
  await saved.or(inbox).first().waitFor()
  const codes = await page.locator('.recovery code').allTextContents()
  if (await saved.isVisible()) await saved.click()
  await inbox.waitFor()
  return codes
}

export class ConsolePlace extends ServicePlace {
  readonly #bot: string
  /** Recovery codes that were not used. */
  readonly #codes: string[] = []
  /** What pages reported: errors, and breaches of their rules. */
  readonly reports: string[] = []

  constructor(name: string) {
    super(name)
    this.#bot = this.tokenOf('ai:bot@local')
  }

  get address(): string {
    return `http://writ.localhost:${new URL(this.url).port}`
  }

  get asBot(): Client {
    return this.client(this.#bot)
  }

  /** A page in a fresh context, with an authenticator that answers by itself. */
  open(browser: Browser, viewport = WIDE, options: Json = {}): Promise<Page> {
    return openPage(browser, this.address, this.reports, { viewport, ...options })
  }

  /** Registers a passkey with the passphrase the first time; once there is one, with a recovery code. */
  async register(page: Page): Promise<void> {
    const code = this.#codes.shift() ?? null
    this.#codes.push(...(await registerPasskey(page, this.address, PASSPHRASE, code)))
  }

  file(name: string, text: string): string {
    const path = join(this.project, name)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, text)
    return path
  }

  /** A command that an agent wants to run; its effects are declared. */
  command(line: string, effects: Json, intent = 'tidy up the project'): Json {
    const example = this.writ(['propose', '--example', 'COMMAND_EXECUTION']).json
    const { descriptor, operation } = example
    const filesystem = { create: [], modify: [], delete: [], ...effects }
    return {
      descriptor: {
        ...descriptor,
        action_id: crypto.randomUUID(),
        intent_summary: intent,
        scope: {
          ...descriptor.scope,
          filesystem: { ...descriptor.scope.filesystem, paths: [this.project] },
        },
        effects: { ...descriptor.effects, filesystem },
      },
      operation: { ...operation, argv: ['sh', '-c', line], cwd: this.project },
    }
  }

  /** Proposes as the bot. */
  async propose(body: Json): Promise<Json> {
    const { value } = await this.asBot.proposeAction({ query: {}, body, wait: 60 })
    return value
  }
}
