/** Which keys may sign which sizes when several machines write one ledger. */
import { describe, expect, it } from 'vitest'
import {
  checkSigners,
  formatVerifierKey,
  KeySchedule,
  signCheckpoint,
  verifierFor,
} from '../../src/ledger/index.ts'
import { keyFromSeed, publicKeyOf, signerFor } from '../../src/store/index.ts'

const ORIGIN = 'writ/a/main'
const keyOf = (byte: number) => keyFromSeed(new Uint8Array(32).fill(byte))
const textOf = (byte: number) => formatVerifierKey(publicKeyOf(keyOf(byte), ORIGIN))

const change = (kind: 'joined' | 'removed', byte: number, seq: number) => ({
  change: kind,
  machine: `m${byte}`,
  stream: 'main',
  origin: ORIGIN,
  key: textOf(byte),
  size: seq + 1,
})

/** What is said of a checkpoint of that size, signed by these keys. */
function verdict(schedule: KeySchedule, size: number, ...bytes: readonly number[]): string | null {
  const signers = bytes.map((byte) => signerFor(keyOf(byte), ORIGIN))
  const note = signCheckpoint(ORIGIN, size, new Uint8Array(32), signers)
  return checkSigners(note, size, schedule, verifierFor, 'exact')?.code ?? null
}

function schedule(): KeySchedule {
  const made = new KeySchedule(ORIGIN)
  expect(made.begin(textOf(1))).toBeNull()
  expect(made.change(change('joined', 2, 4), 4)).toBeNull()
  return made
}

describe('a machine that joins', () => {
  it('signs beyond the kept checkpoint with its certificate, and not before', () => {
    const made = schedule()
    expect(made.settle([5])).toEqual([])
    expect(verdict(made, 5, 1)).toBeNull()
    expect(verdict(made, 5, 2)).toBe('ledger.key_retired')
    expect([verdict(made, 6, 2), verdict(made, 6, 1)]).toEqual([null, null])
    expect(verdict(made, 6, 1, 2)).toBe('ledger.signers')
  })

  it('does not certify itself: a later kept checkpoint is not its own to sign', () => {
    const made = schedule()
    expect(made.settle([10_000])).toEqual([])
    expect(verdict(made, 10_000, 2)).toBe('ledger.key_retired')
    expect(verdict(made, 9_000, 2)).toBe('ledger.key_retired')
    expect(verdict(made, 10_001, 2)).toBeNull()
  })

  it('needs a kept checkpoint', () => {
    expect(schedule().settle([4])).toEqual([5])
  })

  it('has a key that no other machine had', () => {
    expect(schedule().change(change('joined', 2, 7), 7)?.code).toBe('ledger.key_unfit')
    expect(schedule().change(change('joined', 1, 7), 7)?.code).toBe('ledger.key_unfit')
  })
})

describe('a machine that is removed', () => {
  it('signs up to the fact, and never again', () => {
    const made = schedule()
    expect(made.change(change('removed', 2, 8), 8)).toBeNull()
    expect(made.settle([5, 9])).toEqual([])
    expect([verdict(made, 8, 2), verdict(made, 9, 2)]).toEqual([null, 'ledger.key_retired'])
    expect(made.change(change('joined', 2, 12), 12)?.code).toBe('ledger.key_unfit')
    expect(made.change(change('removed', 3, 12), 12)?.code).toBe('ledger.key_unfit')
  })

  it('may have rotated its key before; the rotation is signed by both', () => {
    const made = schedule()
    const rotation = { origin: ORIGIN, old_key: textOf(2), new_key: textOf(3), last_size: 8 }
    expect(made.rotate(rotation, 7)).toBeNull()
    made.settle([5, 8])
    expect([verdict(made, 8, 2, 3), verdict(made, 8, 1)]).toEqual([null, 'ledger.signers'])
    expect([verdict(made, 9, 3), verdict(made, 9, 1), verdict(made, 9, 2)]).toEqual([
      null,
      null,
      'ledger.key_retired',
    ])
  })
})

it('a key that no fact certifies signs nothing', () => {
  const made = schedule()
  made.settle([5])
  expect(verdict(made, 6, 9)).toBe('ledger.signers')
})
