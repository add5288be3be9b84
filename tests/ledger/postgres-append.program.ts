/**
 * Appends drafts to a ledger in PostgreSQL and says each acknowledgement at once: `seq factId key
 * size stream`. It can kill itself before or after a step of a turn; tests kill it, and the
 * server, from outside, too.
 */

import { writeSync } from 'node:fs'
import { FaultError } from '../../src/base/index.ts'
import type { FactDraft } from '../../src/ledger/index.ts'
import {
  keyFromSeed,
  openPostgresStore,
  type PostgresPlace,
  type PostgresStep,
  ringOf,
} from '../../src/store/index.ts'

export interface PostgresAppendInput {
  readonly place: PostgresPlace
  /** In hex. */
  readonly seed: string
  readonly drafts: readonly FactDraft[]
  readonly perCall: number
  /** Calls that are under way at one moment. */
  readonly callsAtOnce: number
  readonly killAt?: {
    readonly step: PostgresStep
    readonly moment: 'before' | 'after'
    readonly turn: number
  }
}

const input = JSON.parse(process.argv[2] ?? '') as PostgresAppendInput
const say = (line: string): number => writeSync(1, `${line}\n`)
await main()

async function main(): Promise<void> {
  const store = await open()
  if (store === null) return
  const calls: (readonly FactDraft[])[] = []
  for (let at = 0; at < input.drafts.length; at += input.perCall) {
    calls.push(input.drafts.slice(at, at + input.perCall))
  }
  say('open')
  let next = 0
  const caller = async (): Promise<void> => {
    for (let drafts = calls[next++]; drafts !== undefined; drafts = calls[next++]) {
      const appended = await told(store.append(drafts))
      appended?.forEach(({ seq, factId, size, stream }, index) => {
        say(`${seq} ${factId} ${drafts[index]?.idempotencyKey} ${size} ${stream}`)
      })
    }
  }
  await Promise.all(Array.from({ length: input.callsAtOnce }, caller))
  await store.close()
}

async function open() {
  const { place, seed, killAt } = input
  let turns = 0
  const opening = openPostgresStore({
    ...place,
    keys: ringOf(keyFromSeed(Buffer.from(seed, 'hex'))),
    waitMsMax: 5_000,
    onStep: (step, moment) => {
      if (step === 'begin' && moment === 'before') turns++
      if (turns === killAt?.turn && step === killAt.step && moment === killAt.moment) {
        process.kill(process.pid, 'SIGKILL')
      }
    },
  })
  return told(opening)
}

/** A failure with a code is an answer; anything else is a bug and ends the program. */
async function told<T>(promise: Promise<T>): Promise<T | null> {
  try {
    return await promise
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    say(`failed ${error.fault.code}`)
    return null
  }
}
