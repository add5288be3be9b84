/** What a witness answers, by the C2SP page: every status, and what it keeps. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { formatVerifierKey, verifierKey } from '../../src/ledger/index.ts'
import type { Ledger } from '../../src/store/index.ts'
import { startWitness, WitnessDirectory } from '../../src/witness/index.ts'
import { checkCosigned } from '../verifier/tlog.mjs'
import { foreignKey, LogRig, logKey, NAME, requestFrom } from './log-rig.ts'

const rig = new LogRig()
const closing: (() => Promise<void>)[] = []
let [log, fork] = [null, null] as unknown as [Ledger, Ledger] // Opened before the first test.
let witness = null as unknown as WitnessDirectory // As above.
let url = ''

beforeAll(async () => {
  const first = await rig.create('log', 5)
  ;[log, fork] = await rig.copy(first, 'log', 'fork')
  await rig.append(log, 4)
  await rig.append(fork, 4)
  witness = WitnessDirectory.create(rig.path('witness'), 'witness.example/w1')
  witness.addLog(NAME, [await logKey(log)], true)
  witness.addLog('other.example/log', [foreignKey()], false)
  const listen = { host: '127.0.0.1', port: 0, isBehindProxy: false }
  const options = { directory: witness, listen, tls: null, nowMs: Date.now, writeLog: () => {} }
  const started = await startWitness(options)
  url = started.url
  closing.push(
    () => started.stop(),
    () => log.close(),
    () => fork.close(),
  )
})

afterAll(async () => {
  for (const close of closing) await close()
  rig.remove()
})

async function ask(body: string, path = '/add-checkpoint', method = 'POST') {
  const answer = await fetch(`${url}${path}`, method === 'GET' ? {} : { method, body })
  const { status, headers } = answer
  return { status, type: headers.get('content-type'), text: await answer.text() }
}

const kept = () => witness.log(`${NAME}/main`)?.kept?.size ?? 0

describe('a witness (H-9)', () => {
  it('refuses what is no request', async () => {
    for (const body of ['', 'old 0\n', 'old 01\n\nx', 'old 0\nAAA\n\nx', 'old 0\n\nno note\n']) {
      expect((await ask(body)).status, body).toBe(400)
    }
    const lines = `${'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n'.repeat(64)}`
    expect((await ask(`old 0\n${lines}\n${'x'}`)).status).toBe(400)
    expect((await ask('', '/add-checkpoint', 'GET')).status).toBe(405)
    expect((await ask('', '/')).status).toBe(404)
    expect((await ask('x'.repeat(1_200_000))).status).toBe(413)
    expect(kept()).toBe(0)
  })

  it('does not know the logs of others (404), and wants their signature (403)', async () => {
    const body = await requestFrom(log, 0)
    expect((await ask(body.replaceAll(NAME, 'writ/else'))).status).toBe(404)
    // The text is another one, so the signature of the log does not fit.
    expect((await ask(body.replace('\n9\n', '\n8\n'))).status).toBe(403)
    expect((await ask(body.replaceAll(`${NAME}/main`, 'other.example/log'))).status).toBe(403)
    expect(kept()).toBe(0)
  })

  it('cosigns the first checkpoint, and keeps it before it answers', async () => {
    const { status, text } = await ask(await requestFrom(log, 0))
    expect(status).toBe(200)
    expect(kept()).toBe(9)
    const head = await log.store.head('main')
    const { publicKey, type } = await logKey(log)
    const key = formatVerifierKey(verifierKey(`${NAME}/main`, type, publicKey))
    const own = formatVerifierKey(witness.key)
    const { size, times } = checkCosigned(`${head?.checkpoint}${text}`, key, [own])
    expect(size).toBe(9)
    expect(Math.abs((times[0] ?? 0) - Date.now() / 1000)).toBeLessThan(60)
    // The check itself goes red on another text.
    const other = `${head?.checkpoint}${text}`.replace('\n9\n', '\n8\n')
    expect(() => checkCosigned(other, key, [own])).toThrow('did not sign')
  })

  it('says the size that it knows (409), and cosigns the same checkpoint again', async () => {
    expect(await ask(await requestFrom(log, 0))).toEqual({
      status: 409,
      type: 'text/x.tlog.size',
      text: '9\n',
    })
    expect((await ask(await requestFrom(log, 9))).status).toBe(200)
    expect((await ask((await requestFrom(log, 9)).replace('old 9', 'old 10'))).status).toBe(400)
  })

  it('refuses a fork of the same size (409) and a larger one (422), and a wrong proof', async () => {
    expect((await ask(await requestFrom(fork, 9))).status).toBe(409)
    await rig.append(fork, 2)
    expect((await ask(await requestFrom(fork, 9))).status).toBe(422)
    await rig.append(log, 3)
    expect((await ask(await requestFrom(log, 9, 8))).status).toBe(422)
    expect(kept()).toBe(9)
    expect((await ask(await requestFrom(log, 9))).status).toBe(200)
    expect(kept()).toBe(12)
  })

  it('refuses an old copy: the size is smaller than the one it knows (409)', async () => {
    expect((await ask(await requestFrom(fork, 0))).text).toBe('12\n')
    expect(kept()).toBe(12)
  })

  it('cosigns nothing for a log whose kept file is damaged', async () => {
    const folder = join(rig.path('witness'), 'kept')
    const [file = ''] = readdirSync(folder)
    const before = readFileSync(join(folder, file), 'utf8')
    writeFileSync(join(folder, file), before.replace('\n12\n', '\n11\n'))
    await rig.append(log, 1)
    expect((await ask(await requestFrom(log, 12))).status).toBe(500)
    writeFileSync(join(folder, file), before)
    expect((await ask(await requestFrom(log, 12))).status).toBe(200)
  })

  it('is served by one process at a time', () => {
    expect(() => witness.hold()).toThrow(
      expect.objectContaining({ fault: expect.objectContaining({ code: 'witness.running' }) }),
    )
  })
})
