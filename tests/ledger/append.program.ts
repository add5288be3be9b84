/**
 * Appends drafts to a ledger and says each acknowledgement at once: `seq factId key size`. It can be
 * told to kill itself before or after a step of a commit, and to append one fact per call; tests kill
 * it from outside, too.
 */

import { writeSync } from 'node:fs'
import { FaultError } from '../../src/base/index.ts'
import type { FactDraft } from '../../src/ledger/index.ts'
import {
  type AppendStep,
  InlineWriter,
  keyFromSeed,
  ringOf,
  type Writer,
} from '../../src/store/index.ts'
import { readInput } from './program-input.ts'

export interface AppendInput {
  readonly file: string
  /** In hex. */
  readonly seed: string
  readonly drafts: readonly FactDraft[]
  readonly perCall: number
  /** Calls that are under way at one moment. */
  readonly callsAtOnce: number
  readonly killAt?: {
    readonly step: AppendStep
    readonly moment: 'before' | 'after'
    readonly turn: number
  }
  /** Begins no earlier, so that programs started one by one begin together. */
  readonly startAtMs?: number
  /** Appends the first draft over and over for so long, as fast as it goes, and says `count N`. */
  readonly forMs?: number
}

const input = readInput<AppendInput>()
const say = (line: string): number => writeSync(1, `${line}\n`)
await main()

async function main(): Promise<void> {
  const writer = openWriter()
  const calls: (readonly FactDraft[])[] = []
  for (let at = 0; at < input.drafts.length; at += input.perCall) {
    calls.push(input.drafts.slice(at, at + input.perCall))
  }
  say('open')
  const delayMs = (input.startAtMs ?? 0) - Date.now()
  if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs))
  if (input.forMs !== undefined) return hammer(writer, input.forMs)
  let longestMs = 0
  let next = 0
  const caller = async (): Promise<void> => {
    for (let drafts = calls[next++]; drafts !== undefined; drafts = calls[next++]) {
      const started = performance.now()
      const appended = await writer.append(drafts)
      longestMs = Math.max(longestMs, performance.now() - started)
      appended.forEach(({ seq, factId, size }, index) => {
        say(`${seq} ${factId} ${drafts[index]?.idempotencyKey} ${size}`)
      })
    }
  }
  try {
    await Promise.all(Array.from({ length: input.callsAtOnce }, caller))
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    say(`failed ${error.fault.code}`)
  }
  await writer.close()
  say(`longest ${longestMs.toFixed(1)}`)
}

async function hammer(writer: Writer, forMs: number): Promise<void> {
  const end = performance.now() + forMs
  let count = 0
  for (; performance.now() < end; count++) await writer.append(input.drafts)
  await writer.close()
  say(`count ${count}`)
}

function openWriter(): Writer {
  const { file, seed, killAt } = input
  let turns = 0
  return new InlineWriter({
    file,
    keys: ringOf(keyFromSeed(Buffer.from(seed, 'hex'))),
    onStep: (step, moment) => {
      if (step === 'begin' && moment === 'before') turns++
      if (turns === killAt?.turn && step === killAt.step && moment === killAt.moment) {
        process.kill(process.pid, 'SIGKILL')
      }
    },
  })
}
