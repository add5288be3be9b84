/** A home that `writ serve` serves, with principals and their tokens. */
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'
import { type Client, createClient } from '../../src/api/index.ts'
import { type Json, Place } from '../cli-gate/place.ts'

export const PASSPHRASE = 'correct horse battery staple'
const WAIT_MS = 30_000

export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly json: Json
}

export interface RawRequest {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  readonly socket?: string
}

/** The schemas of answers, as the description of the service has them. */
class Description {
  readonly #document: Json
  readonly #ajv = new Ajv2020({ strict: false })

  constructor(document: Json) {
    this.#document = document
    this.#ajv.addSchema(document, 'service')
  }

  answerOf(path: string, method: string, status: number) {
    const [pattern] = Object.keys(this.#document.paths)
      .filter((one) => new RegExp(`^${one.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path))
      .sort((left, right) => left.split('{').length - right.split('{').length)
    const name = `${method} ${pattern} ${status}`
    const known = this.#document.paths[pattern ?? '']?.[method.toLowerCase()]?.responses[status]
    const place =
      known === undefined
        ? ['components', 'responses', 'Problem', 'content', 'application/problem+json', 'schema']
        : [
            'paths',
            pattern,
            method.toLowerCase(),
            'responses',
            status,
            'content',
            Object.keys(known.content)[0],
            'schema',
          ]
    const pointer = place.map((part) =>
      encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1')),
    )
    const route: string | undefined =
      this.#document.paths[pattern ?? '']?.[method.toLowerCase()]?.operationId
    return { name, route, validate: this.#ajv.compile({ $ref: `service#/${pointer.join('/')}` }) }
  }
}

export class ServicePlace extends Place {
  url = ''
  socket = ''
  service: ChildProcess | null = null
  errors = ''
  /** Routes that answered well, each answer judged by the description of the service. */
  readonly succeeded = new Set<string>()
  /** Variables of the service's process. */
  variables: Record<string, string> = {}

  /** `options`: more words for `writ init`. */
  constructor(name: string, options: readonly string[] = []) {
    super(name, { runs: 'warm' })
    this.init(PASSPHRASE, options)
  }

  async serve(options: readonly string[] = []): Promise<this> {
    const words = ['serve', '--json', '--listen', '127.0.0.1:0', ...options]
    const child = this.start(words, { env: this.variables })
    this.service = child
    child.stderr?.on('data', (chunk) => {
      this.errors += chunk
    })
    const line = await new Promise<string>((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`no address: ${this.errors}`)), WAIT_MS)
      child.stdout?.once('data', (chunk) => {
        clearTimeout(late)
        resolve(String(chunk))
      })
      child.once('exit', () => reject(new Error(`the service ended: ${this.errors}`)))
    })
    const { url, socket } = JSON.parse(line)
    this.url = url
    this.socket = socket
    return this
  }

  /** Ends the service and waits until it has ended. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    const { service } = this
    if (service === null) return null
    this.service = null
    if (service.exitCode !== null) return service.exitCode
    const ended = new Promise<number | null>((resolve) => service.once('exit', resolve))
    service.kill(signal)
    return ended
  }

  /** Adds a principal and returns a token of it. */
  tokenOf(principal: string, ...options: readonly string[]): string {
    const pass = { passphrase: PASSPHRASE }
    this.writ(['principal', 'add', principal, '--pass-fd', '3', ...options], pass)
    return this.anotherToken(principal)
  }

  /** A token of a principal that is registered. */
  anotherToken(principal: string, ...options: readonly string[]): string {
    const words = ['token', 'create', principal, '--json', '--pass-fd', '3', ...options]
    return this.writ(words, { passphrase: PASSPHRASE }).json.token
  }

  /** Every answer that it gets must be of the schema that the service describes. */
  client(token: string | null): Client {
    return createClient({ url: this.url, token, fetch: this.#checkedFetch })
  }

  readonly #checkedFetch: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init)
    const text = await answer.clone().text()
    const type = answer.headers.get('content-type') ?? ''
    if (type.includes('vnd.writ')) return answer
    const schema = await this.#schemaOf(new URL(String(input)).pathname, init?.method, answer)
    // A text is judged as a text; bytes and words of commands have no schema.
    const isValid = schema.validate(type.includes('json') ? JSON.parse(text) : text)
    expect(schema.validate.errors ?? [], `${schema.name}: ${text.slice(0, 400)}`).toEqual([])
    expect(isValid).toBe(true)
    if (answer.ok && schema.route !== undefined) this.succeeded.add(schema.route)
    return answer
  }

  async #schemaOf(path: string, method = 'GET', { status }: Response) {
    this.#description ??= new Description((await this.raw({ path: '/openapi.json' })).json)
    return this.#description.answerOf(path, method, status)
  }

  #description: Description | null = null

  /** As a client without any help: every byte of the head is the caller's. */
  raw({ method = 'GET', path, headers = {}, body, socket }: RawRequest): Promise<RawAnswer> {
    const { hostname, port } = new URL(this.url)
    const where = socket === undefined ? { hostname, port } : { socketPath: socket }
    return new Promise((resolve, reject) => {
      // A connection of its own: one that is kept may be closed while a command runs here.
      const sent = request({ ...where, method, path, headers, agent: false }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => {
          const isJson = response.headers['content-type']?.includes('json') === true
          const json = isJson ? JSON.parse(text) : null
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json })
        })
      })
      sent.once('error', reject)
      sent.end(body)
    })
  }

  /** A proposal that writes a file of the project. */
  proposal(name: string, text = 'hello'): Json {
    const example = this.writ(['propose', '--example', 'FILE_WRITE']).json
    const path = join(this.project, name)
    const { descriptor, operation } = example
    return {
      descriptor: {
        ...descriptor,
        action_id: randomUUID(),
        effects: {
          ...descriptor.effects,
          filesystem: { create: [path], modify: [path], delete: [] },
        },
      },
      operation: { ...operation, path, content: text },
    }
  }
}
