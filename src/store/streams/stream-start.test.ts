/** Whether a stream without rows was begun, asked after another process has begun it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createLedger, openLedger } from '../ledger/ledger.ts'
import { openLedgerDatabase } from '../sqlite/engine.ts'
import { checkNotBegun } from './stream-start.ts'

const directory = mkdtempSync(join(tmpdir(), 'writ-start-'))
const principal = { kind: 'human', id: 'ann', namespace: 'farm' } as const

afterAll(() => rmSync(directory, { recursive: true, force: true }))

it('does not call a stream lost that another process begins between two statements', async () => {
  await createLedger({ directory }, 'example.org/writ/test', { principal, source: 'test' })
  const reader = openLedgerDatabase(join(directory, 'ledger.db'), 'read')
  expect(() => checkNotBegun(reader, 'main')).not.toThrow()
  const ledger = await openLedger({ directory })
  const payload = { kind: 'note' }
  await ledger.record({ stream: 'main', source: 'test', principal, record: { type: 'x', payload } })
  await ledger.close()
  for (const stream of ['main', 'host']) expect(() => checkNotBegun(reader, stream)).not.toThrow()
  reader.close()
})
