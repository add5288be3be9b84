/** The files of the console as the service gives them out (W-1, H-6). */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ConsoleFiles } from '../../src/server/console/console-files.ts'

const folder = mkdtempSync(join(tmpdir(), 'writ-console-'))
const app = Fastify({ exposeHeadRoutes: false })
const pages = new ConsoleFiles(folder)

beforeAll(async () => {
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), '<!doctype html><title>writ</title>')
  writeFileSync(join(folder, 'assets', 'index-Dk3fA9b2.js'), 'export {}')
  writeFileSync(join(folder, 'assets', 'index-Dk3fA9b2.js.br'), 'packed well')
  writeFileSync(join(folder, 'assets', 'index-Dk3fA9b2.js.gz'), 'packed')
  writeFileSync(join(folder, 'secret.key'), 'no file of a page')
  app.setNotFoundHandler((request, reply) => {
    if (!pages.answer(request, reply)) reply.status(404).send({ code: 'api.no_route' })
  })
  await app.ready()
})

afterAll(async () => {
  await app.close()
  rmSync(folder, { recursive: true })
})

it('the page answers every address of a page, with a strict policy', async () => {
  for (const url of ['/', '/inbox', '/sessions/s-1?tab=acts']) {
    const { statusCode, headers, body } = await app.inject({ url })
    expect([url, statusCode, body]).toEqual([url, 200, '<!doctype html><title>writ</title>'])
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(headers['cache-control']).toBe('no-cache')
  }
})

it('files with a hash in their names are kept by browsers for ever', async () => {
  const { headers } = await app.inject({ url: '/assets/index-Dk3fA9b2.js' })
  expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
  expect(headers['content-type']).toBe('text/javascript; charset=utf-8')
  const head = await app.inject({ method: 'HEAD', url: '/assets/index-Dk3fA9b2.js' })
  expect([head.statusCode, head.body, head.headers['content-length']]).toEqual([200, '', '9'])
})

it('who takes packed files gets them packed, and others plain', async () => {
  const url = '/assets/index-Dk3fA9b2.js'
  for (const [accepted, packing, body] of [
    ['gzip, deflate, br, zstd', 'br', 'packed well'],
    ['gzip, deflate', 'gzip', 'packed'],
    ['gzip;q=0', undefined, 'export {}'],
    ['identity', undefined, 'export {}'],
  ] as const) {
    const found = await app.inject({ url, headers: { 'accept-encoding': accepted } })
    expect(found.headers['content-type']).toBe('text/javascript; charset=utf-8')
    expect(found.headers['vary']).toBe('accept-encoding')
    expect([accepted, found.headers['content-encoding'], found.body]).toEqual([
      accepted,
      packing,
      body,
    ])
    expect(found.headers['content-length']).toBe(String(body.length))
  }
  for (const ending of ['.br', '.gz'])
    expect((await app.inject({ url: `${url}${ending}` })).statusCode).toBe(404)
})

it('nothing else is given out', async () => {
  for (const url of ['/secret.key', '/assets/none.js', '/../package.json', '/%2e%2e/secret.key'])
    expect([url, (await app.inject({ url })).statusCode]).toEqual([url, 404])
  for (const url of ['/v1/none', '/v1', '/mcp/x', '/metrics/x'])
    expect([url, (await app.inject({ url })).statusCode]).toEqual([url, 404])
  for (const method of ['POST', 'PUT', 'DELETE'] as const)
    expect((await app.inject({ method, url: '/inbox' })).statusCode).toBe(404)
})
