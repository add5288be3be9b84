/** The register of homes, written by several processes at once. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readTrusted } from '../../src/home/trust.ts'
import { runProgram } from '../ledger/program.ts'
import type { TrustOrder } from './trust.program.ts'

const PROGRAM = 'tests/home/trust.program.ts'

it('loses no home when several processes register at once', async () => {
  const root = mkdtempSync(join(tmpdir(), 'writ-trust-'))
  const names = ['a', 'b', 'c', 'd']
  const orders = names.map((name): TrustOrder => ({ root, name, count: 15 }))
  const ended = await Promise.all(orders.map((order) => runProgram(PROGRAM, order)))
  expect(ended.map(({ status, errors }) => [status, errors])).toEqual(names.map(() => [0, '']))
  expect(readTrusted(root)).toHaveLength(60)
  rmSync(root, { recursive: true })
})
