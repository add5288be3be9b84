/** Pools of one process do not get in each other's way. */
import { expect, it, vi } from 'vitest'
import type { SandboxRequest } from './driver.ts'
import type { Survey } from './survey.ts'
import { WarmPool } from './warm-pool.ts'

it('gives every sandbox that is kept ready a name of its own, whichever pool keeps it', async () => {
  const names: string[] = []
  // What is never ready is enough to see what was asked for.
  const pools = [1, 2].map(
    () =>
      new WarmPool(2, ({ sandboxId }) => {
        names.push(sandboxId)
        return new Promise(() => undefined)
      }),
  )
  const [request, found] = [{} as SandboxRequest, {} as Survey]
  for (const pool of pools) expect(pool.take('same', request, found)).toBeNull()
  await vi.waitFor(() => expect(names.length).toBe(4), { timeout: 5000 })
  expect(new Set(names).size).toBe(4)
})
