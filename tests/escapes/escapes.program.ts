/**
 * Runs attempts of the corpus, each in a sandbox of its own over ground of its own, as the user this
 * process has. Prints a JSON line for each: what was wrong, which should be nothing. Its one argument
 * is an order; see trial.ts.
 */
import { readdirSync, rmdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Finished } from './attempt.ts'
import { CORPUS } from './corpus/index.ts'
import { type EscapeOrder, makeSetting, tried } from './trial.ts'

const ATTEMPT_MS_MAX = 180_000
const order: EscapeOrder = JSON.parse(process.argv[2] ?? '{}')
const setting = await makeSetting(order)
const waiting = [...order.ids]

await Promise.all(Array.from({ length: order.parallel }, work))
await setting.close()
const left = [setting.sandboxes, setting.disk].flatMap((place) => readdirSync(place))
if (left.length === 0) rmdirSync(setting.sandboxes)
const wrong = left.map((name) => `left ${name}`)
say({ id: 'after/everything', as: order.as, durationMs: 0, wrong })

function say(finished: Finished): void {
  process.stdout.write(`${JSON.stringify(finished)}\n`)
}

async function work(): Promise<void> {
  for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
    const attempt = CORPUS.find((one) => one.id === id)
    if (attempt === undefined) throw new Error(`no attempt ${id}`)
    const startedMs = performance.now()
    const late = pause(ATTEMPT_MS_MAX, ['did not end in time'], { ref: false })
    const wrong = await Promise.race([tried(setting, attempt), late]).catch((error) => [
      `threw ${error}`,
    ])
    say({ id, as: order.as, wrong, durationMs: Math.round(performance.now() - startedMs) })
  }
}
