/** What a machine has seen of a ledger on a server, while other processes of it look as well. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { faultCode } from '../../base/index.ts'
import { hashText, type SignedHead } from '../../ledger/index.ts'
import { compareHeads } from './seen-heads.ts'

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
