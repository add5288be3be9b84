/** What the client of a service sends goes to the registered address alone, and never unprotected. */
import { createServer, type Server } from 'node:http'
import { afterEach, expect, it } from 'vitest'
import { createClient } from '../../src/api/index.ts'
import { faultCode } from '../../src/base/index.ts'
import { checkKeys, keysOf, told, wholeUrl } from '../../src/cli/remote/remotes.ts'

const servers: Server[] = []
afterEach(() => {
  for (const one of servers.splice(0)) one.close().closeAllConnections()
})

/** Listens on loopback; returns the address and what arrived. */
async function answering(status: number, headers: Record<string, string>, body = '') {
  const seen: string[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    seen.push(`${request.headers.authorization} ${text}`)
    response.writeHead(status, headers).end(body)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { url: `http://127.0.0.1:${address.port}`, seen }
}

const JSON_TYPE = { 'content-type': 'application/json' }

it.each([301, 302, 303, 307, 308])(
  'follows no redirect of status %i, and says so',
  async (status) => {
    const elsewhere = await answering(200, JSON_TYPE, '{"streams":[]}')
    const there = await answering(status, { location: `${elsewhere.url}/v1/halt` })
    const client = createClient({ url: there.url, token: 'the-token' })
    const proof = { passphrase: 'the-passphrase' }
    const sent = told(client.resume({ body: { proof } }))
    await expect(sent).rejects.toThrow(`leads to \`${elsewhere.url}/v1/halt\``)
    await expect(sent).rejects.toSatisfy((error) => faultCode(error) === 'api.foreign_answer')
    await expect(keysOf(client, there.url)).rejects.toThrow('redirects are not followed')
    expect(there.seen[0]).toContain('the-passphrase')
    expect(elsewhere.seen).toEqual([])
  },
)

it('names what answers in another form than a service', async () => {
  const { url } = await answering(200, JSON_TYPE, '{"hello":1}')
  const client = createClient({ url, token: 'the-token' })
  await expect(keysOf(client, url)).rejects.toThrow('is no service of writ')
  const remote = { name: 'farm', url, key: 'k' }
  await expect(checkKeys(client, remote, [remote.key])).rejects.toThrow('is no service of writ')
})

it('takes plain http on this machine only', () => {
  for (const url of ['http://127.0.0.1:4180', 'http://localhost:4180', 'http://[::1]:4180'])
    expect(wholeUrl(url)).toBe(url)
  expect(wholeUrl('https://farm.example:4180/x')).toBe('https://farm.example:4180')
  for (const url of ['http://192.0.2.1:4180', 'http://farm.example', 'http://localhost.example'])
    expect(() => wholeUrl(url)).toThrow('plain http would show your token')
  for (const url of ['farm', 'ftp://farm.example', ''])
    expect(() => wholeUrl(url)).toThrow('is no address')
})
