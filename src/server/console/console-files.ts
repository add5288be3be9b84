/**
 * The files of the console (W-1), as the build left them: served under the console's name alone, with a
 * policy that lets a page load and call nothing but this service. Read once, when first asked for. The
 * build packed them; who takes no packed file gets the plain one.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyReply, FastifyRequest } from 'fastify'

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
}

const INDEX = '/index.html'
/** Ways of packing, the smaller first, and how the names of packed files end. */
const PACKED = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const
/** Names with a hash in them never change what they hold. */
const HASHED = /^\/assets\/.*[-.][A-Za-z0-9_-]{8,}\.\w+$/
/** Addresses of the service itself, where a page would hide a mistake. */
const OWN = /^\/(?:v1|mcp|healthz|readyz|metrics|openapi\.json)(?:\/|$)/

/** Next to the script of the program: `dist/cli/serve.cjs` and `dist/console`. */
export function consoleFolder(): string {
  return join(dirname(dirname(fileURLToPath(import.meta.url))), 'console')
}

function readFiles(folder: string): ReadonlyMap<string, Buffer> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return new Map(
    entries
      .filter(({ name }) => TYPES[extname(name.replace(/\.(?:br|gz)$/, ''))] !== undefined)
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => [`/${relative(folder, file).replaceAll(sep, '/')}`, readFileSync(file)]),
  )
}

export class ConsoleFiles {
  readonly #folder: string
  #found: ReadonlyMap<string, Buffer> | null = null

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Answers with a file, or with the page for an address of the page; false if there is none. */
  answer(
    request: Pick<FastifyRequest, 'method' | 'url' | 'headers'>,
    reply: FastifyReply,
  ): boolean {
    const { method, url, headers } = request
    const [path = ''] = url.split('?')
    if ((method !== 'GET' && method !== 'HEAD') || OWN.test(path)) return false
    this.#found ??= existsSync(this.#folder) ? readFiles(this.#folder) : new Map()
    // Those that are packed have no type, and no address.
    const isFile = TYPES[extname(path)] !== undefined && this.#found.has(path)
    // An address with an extension names a file; that of a page has none.
    if (!isFile && extname(path) !== '') return false
    const name = isFile ? path : INDEX
    const { bytes, packing } = this.#packedFor(headers['accept-encoding'] ?? '', name)
    if (bytes === undefined) return false
    reply.status(200).headers({ ...HEADERS, ...headersOf(name, bytes), ...packing })
    // What a GET would say, without the bytes.
    reply.send(method === 'HEAD' ? null : bytes)
    return true
  }

  #packedFor(accepted: string, name: string) {
    const taken = accepted.split(',').map((way) => way.trim())
    for (const [way, ending] of PACKED) {
      const bytes = this.#found?.get(`${name}${ending}`)
      // One with a weight is not asked for by browsers.
      if (bytes !== undefined && taken.includes(way))
        return { bytes, packing: { 'content-encoding': way } }
    }
    return { bytes: this.#found?.get(name), packing: {} }
  }
}

const HEADERS = {
  vary: 'accept-encoding',
  'content-security-policy': POLICY,
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy':
    'publickey-credentials-get=(self), publickey-credentials-create=(self), camera=(), microphone=(), geolocation=()',
}

function headersOf(name: string, bytes: Buffer) {
  return {
    'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
    'content-length': String(bytes.length),
    'cache-control': HASHED.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
  }
}
