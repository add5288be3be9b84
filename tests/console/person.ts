/** A person in a real browser, with an authenticator of their own (CDP). */
import {
  type Browser,
  type BrowserContext,
  type CDPSession,
  chromium,
  type Page,
} from 'playwright-core'
import type { Json } from '../cli-gate/place.ts'

const BROWSER = '/usr/bin/chromium'
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--disable-component-update',
  '--no-first-run',
]

export function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: BROWSER, args: FLAGS })
}

export interface Answered {
  readonly status: number
  readonly json: Json
}

/** What an authenticator is like; everything that a passkey needs without them. */
interface AuthenticatorTraits {
  readonly isUserVerified?: boolean
}

export class BrowserPerson {
  readonly context: BrowserContext
  readonly page: Page
  readonly cdp: CDPSession
  readonly authenticator: string
  pageKey: string | null = null

  private constructor(context: BrowserContext, page: Page, cdp: CDPSession, authenticator: string) {
    this.context = context
    this.page = page
    this.cdp = cdp
    this.authenticator = authenticator
  }

  static async open(
    browser: Browser,
    origin: string,
    { isUserVerified = true }: AuthenticatorTraits = {},
  ): Promise<BrowserPerson> {
    // Without the console’s files the page is an answer of the service, which may load nothing.
    const context = await browser.newContext({ bypassCSP: true })
    const page = await context.newPage()
    await page.goto(`${origin}/healthz`)
    const cdp = await context.newCDPSession(page)
    await cdp.send('WebAuthn.enable')
    const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified,
        automaticPresenceSimulation: true,
      },
    })
    return new BrowserPerson(context, page, cdp, authenticatorId)
  }

  /** A request of the page itself. */
  call(
    method: string,
    path: string,
    body?: Json,
    more: Record<string, string> = {},
  ): Promise<Answered> {
    const headers = {
      ...(this.pageKey === null ? {} : { 'writ-page-key': this.pageKey }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...more,
    }
    return this.page.evaluate(
      async ([asked, address, sent, content]) => {
        const answer = await fetch(address, {
          method: asked,
          headers: sent,
          ...(content === null ? {} : { body: content }),
        })
        const text = await answer.text()
        return { status: answer.status, json: text.startsWith('{') ? JSON.parse(text) : text }
      },
      [method, path, headers, body === undefined ? null : JSON.stringify(body)] as const,
    )
  }

  post(path: string, body: Json): Promise<Answered> {
    return this.call('POST', path, body)
  }

  /** `navigator.credentials.create` of these options. */
  make(options: Json): Promise<Json> {
    return this.page.evaluate(async (given) => {
      // The browser’s own globals, of which Node’s types know nothing.
      const { PublicKeyCredential, navigator } = globalThis as Json
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(given)
      const made = await navigator.credentials.create({ publicKey })
      return made.toJSON()
    }, options)
  }

  /** `navigator.credentials.get` of these options. */
  touch(options: Json): Promise<Json> {
    return this.page.evaluate(async (given) => {
      const { PublicKeyCredential, navigator } = globalThis as Json
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(given)
      const got = await navigator.credentials.get({ publicKey })
      return got.toJSON()
    }, options)
  }

  /** Registers a passkey; keeps the page key of the session. */
  async register(proof: Json, more: Json = {}): Promise<Answered> {
    const offered = await this.post('/v1/passkeys/options', { name: 'laptop', proof, ...more })
    if (offered.status !== 200) return offered
    const response = await this.make(offered.json.options)
    const added = await this.post('/v1/passkeys', { response })
    this.pageKey = added.json.session?.page_key ?? null
    return added
  }

  async login(): Promise<Answered> {
    const { json } = await this.post('/v1/login/options', {})
    const response = await this.touch(json.options)
    const answered = await this.post('/v1/login', { response })
    this.pageKey = answered.json.page_key ?? null
    return answered
  }

  /** The proof of a request: a challenge for it, and a touch. */
  async prove(route: string, params: Json, body: Json): Promise<Json> {
    const { json, status } = await this.post('/v1/challenges', { route, params, body })
    if (status !== 200) throw new Error(`no challenge: ${JSON.stringify(json)}`)
    return { passkey: await this.touch(json.options) }
  }

  /** A request with its proof. */
  async proven(route: string, path: string, params: Json, body: Json): Promise<Answered> {
    return this.post(path, { ...body, proof: await this.prove(route, params, body) })
  }

  close(): Promise<void> {
    return this.context.close()
  }
}
