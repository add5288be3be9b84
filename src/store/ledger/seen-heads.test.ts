/** What a machine has seen of a ledger on a server, while other processes of it look as well. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { FaultError, fault, faultCode, faultError } from '../../base/index.ts'
import { hashText, type SignedHead } from '../../ledger/index.ts'
import { compareHeads, readSeen, refuseBehind } from './seen-heads.ts'

let state = ''

beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'writ-heads-'))
})

afterEach(() => rmSync(state, { recursive: true }))

function head(size: number): SignedHead {
  return { stream: 'main', origin: 'x', size, root: Buffer.alloc(32, size), checkpoint: '' }
}

function seenSize(): number {
  return JSON.parse(readFileSync(join(state, 'heads.json'), 'utf8')).main.size
}

it('takes a server with fewer facts than were seen for one that lost some', async () => {
  await compareHeads(state, async () => [head(5)])
  await compareHeads(state, async () => [head(6)])
  const late = await compareHeads(state, async () => [head(4)]).catch(faultCode)
  expect([late, seenSize()]).toEqual(['ledger.truncated', 6])
})

it('does not blame the server for what another process saw after it was asked', async () => {
  await compareHeads(state, async () => [head(5)])
  await compareHeads(state, async () => {
    const root = hashText(Buffer.alloc(32, 8))
    writeFileSync(join(state, 'heads.json'), JSON.stringify({ main: { size: 8, root } }))
    return [head(6)]
  })
  expect(seenSize()).toBe(8)
})

it.each([
  ['cut off', '{"main":{"size":5,'],
  ['empty', ''],
  ['of another form', '[]'],
  ['without a size', '{"main":{"root":"x"}}'],
  ['without a root', '{"main":{"size":5}}'],
])('is refused in words when it is %s, and the server is not believed', async (_, text) => {
  expect(readSeen(state)).toEqual(new Map())
  writeFileSync(join(state, 'heads.json'), text)
  const refused = await compareHeads(state, async () => [head(4)]).catch((error) => error.fault)
  expect(refused).toMatchObject({ code: 'ledger.corrupt', at: join(state, 'heads.json') })
  expect(refused.message).toContain('heads.json')
  expect(refused.hint).toContain('`writ ledger verify --from kept.txt`')
  expect(readFileSync(join(state, 'heads.json'), 'utf8')).toBe(text)
})

it('is noted only where what came since is signed', async () => {
  await compareHeads(state, async () => [head(5)])
  const asked: number[] = []
  const refuse = async (heads: readonly SignedHead[]): Promise<void> => {
    asked.push(...heads.map(({ size }) => size))
    if (heads.length > 0) throw new Error('not signed')
  }
  await compareHeads(state, async () => [head(5)], refuse)
  await expect(compareHeads(state, async () => [head(6)], refuse)).rejects.toThrow('not signed')
  expect([asked, seenSize()]).toEqual([[6], 5])
})

it('is compared with by readers, also where one head is wrong; only damage is left to reading', async () => {
  await compareHeads(state, async () => [head(5)])
  const asked: number[] = []
  const check = async (heads: readonly SignedHead[]): Promise<void> => {
    asked.push(...heads.map(({ size }) => size))
  }
  const failing = (code: 'ledger.tampered' | 'ledger.closed') => async () => {
    throw faultError(code, 'main')
  }
  const looked = async (ask: () => Promise<readonly SignedHead[]>) =>
    refuseBehind(state, ask, check).then(() => 'passed', faultCode)
  expect(await looked(async () => [head(5)])).toBe('passed')
  expect(await looked(async () => [head(4)])).toBe('ledger.truncated')
  expect(await looked(failing('ledger.tampered'))).toBe('ledger.tampered')
  expect(await looked(failing('ledger.closed'))).toBe('ledger.closed')
  expect(await looked(() => Promise.reject(damaged))).toBe('passed')
  expect(await looked(async () => [head(7)])).toBe('passed')
  expect([asked, seenSize()]).toEqual([[7], 5])
})

const damaged = new FaultError(fault('ledger.corrupt', 'main', { reason: 'a table is gone' }))
