/** A fresh ledger for each test, and the gate's view of it: for what is decided by appending alone. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { LedgerView } from '../../src/service/records/ledger-view.ts'
import type { GateContext } from '../../src/service/surface/context.ts'
import { type Actor, createLedger, type Ledger, openLedger } from '../../src/store/ledger/ledger.ts'

const ANN = { kind: 'human', id: 'ann', namespace: 'local' } as const
const ACTOR: Actor = { principal: ANN, source: 'cli' }

export interface OpenView {
  readonly ledger: () => Ledger
  readonly view: () => LedgerView
}

export function useLedgerView(name: string): OpenView {
  let folder = ''
  let ledger: Ledger
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), `writ-${name}-`))
    await createLedger({ directory: folder }, 'example.org/writ/test', ACTOR)
    ledger = await openLedger({ directory: folder })
  })
  afterEach(async () => {
    await ledger.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return {
    ledger: () => ledger,
    view: () => {
      const caller = { principal: ANN, streams: null, proof: 'none' }
      // A view reads these alone.
      const context = { ledger, caller, stream: 'main' } as unknown as GateContext
      return new LedgerView(context, { confirmationMs: 1, cooldownMs: 1 })
    },
  }
}
