/** Lines of callers take turns, and each is bounded (H-6). */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Turnstile } from './turnstile.ts'

/** Returns work that lasts until `end` is called. */
function holds() {
  let end = (): void => undefined
  const held = new Promise<void>((resolve) => {
    end = resolve
  })
  return { work: () => held, end: () => end() }
}

it('lets the lines of callers take turns', async () => {
  const turnstile = new Turnstile(1)
  const first = holds()
  const began: string[] = []
  const passing = [turnstile.pass(first.work, 'greedy')]
  for (const name of ['greedy', 'greedy', 'greedy', 'other'])
    passing.push(
      turnstile.pass(async () => {
        began.push(name)
      }, name),
    )
  await turn()
  expect(began).toEqual([])
  first.end()
  await Promise.all(passing)
  expect(began).toEqual(['greedy', 'other', 'greedy', 'greedy'])
})

it('bounds the line of each caller, and of no other', async () => {
  const turnstile = new Turnstile(1, 1)
  const first = holds()
  const passing = [
    turnstile.pass(first.work, 'greedy'),
    turnstile.pass(async () => undefined, 'greedy'),
    turnstile.pass(async () => undefined, 'other'),
  ]
  await expect(turnstile.pass(async () => undefined, 'greedy')).rejects.toThrow(
    'too many requests are under way',
  )
  first.end()
  await Promise.all(passing)
  await turnstile.pass(async () => undefined, 'greedy')
})
