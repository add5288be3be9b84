/** Small readings that the lifecycle of a proposal is made from. */
import type { Fault } from '../../base/index.ts'
import type { Obstacle } from '../../contracts/index.ts'
import { realPathOf } from './host-facts.ts'

/** Failures of sandbox, scan and stage carry a fault; anything else is a defect and goes on. */
export function obstacleOf(error: unknown): Obstacle {
  const { fault } = error as { readonly fault?: Fault }
  if (!(error instanceof Error) || fault === undefined) throw error
  return { code: fault.code, detail: fault.message, ...(fault.at === '' ? {} : { path: fault.at }) }
}

export function pathDirectories(path: string | undefined): readonly string[] {
  const directories = (path ?? '').split(':').filter((directory) => directory.startsWith('/'))
  return [...new Set(directories.map(realPathOf))]
}
