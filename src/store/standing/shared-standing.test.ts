/** Folded states that several gates share. */
import { expect, it } from 'vitest'
import { HOST_STREAM, type StoredFact } from '../../ledger/index.ts'
import { SharedStandings } from './shared-standing.ts'

const OPTIONS = { confirmationMs: 1, questionMs: 1, cooldownMs: 1 }

/** A ledger whose host stream halts and resumes. */
class Halts {
  facts: readonly StoredFact[] = []
  reads = 0

  /** Facts with these states; `mark` tells one history from another. */
  write(states: readonly string[], mark = 0): void {
    this.facts = states.map((state, seq) => {
      const at = `2026-01-01T00:00:0${seq}.000Z`
      const record = { type: 'halt_v1', payload: { state, at } }
      const principal = { kind: 'human', id: 'ann', namespace: 'local' }
      const text = JSON.stringify({ occurred_at: at, principal, record })
      return { seq, text, chain: new Uint8Array([mark, seq]) }
    })
  }

  readonly store = {
    read: async (stream: string, from: number, limit: number) => {
      this.reads++
      await new Promise((next) => setTimeout(next, 1))
      return stream === HOST_STREAM ? this.facts.slice(from, from + limit) : []
    },
  }

  readonly objects = {
    get: async (): Promise<never> => {
      throw new Error('no fact here is long')
    },
  }
}

function shared(ledger: Halts) {
  const standings = new SharedStandings()
  return () => standings.take({ ledger, stream: 'main', keeper: null }, OPTIONS)
}

it('tells each gate of facts that came after the one before', async () => {
  const ledger = new Halts()
  const take = shared(ledger)
  const first = take()
  expect((await first.view.standing()).halted).toBe(false)
  first.rest()
  ledger.write(['HALTED'])
  const second = take()
  expect((await second.view.standing()).halted).toBe(true)
  expect(second.view).toBe(first.view)
})

it('looks once for all calls that come during a look', async () => {
  const ledger = new Halts()
  ledger.write(['HALTED'])
  const { view } = shared(ledger)()
  await view.standing()
  ledger.reads = 0
  const calls = Array.from({ length: 20 }, () => view.standing())
  ledger.write(['HALTED', 'RESUMED'])
  const late = view.standing()
  await Promise.all(calls)
  expect((await late).halted).toBe(false)
  expect(ledger.reads).toBeLessThanOrEqual(4)
})

it('folds again when the ledger was put back to an older state, and went on from there', async () => {
  const ledger = new Halts()
  ledger.write(['RESUMED', 'HALTED'])
  const { view } = shared(ledger)()
  expect((await view.standing()).halted).toBe(true)
  ledger.write(['RESUMED'])
  expect((await view.standing()).halted).toBe(false)
  ledger.write(['HALTED', 'HALTED', 'HALTED'], 1)
  expect((await view.standing()).halted).toBe(true)
  ledger.write(['HALTED', 'HALTED', 'RESUMED', 'RESUMED'], 2)
  expect((await view.standing()).halted).toBe(false)
})
