/**
 * Layers that outlive their sandbox. A root keeps the number of its layer for ever, also when other
 * roots come and go between two openings. One sandbox at a time uses them: `keepLayers` waits until the
 * processes of the one before are gone, for example after `kill -9` of its owner.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { faultError } from '../../base/index.ts'
import { readableText, writeWhole } from '../../machine/index.ts'
import { startedAt } from '../driver/owner.ts'
import { isWithin } from '../kernel/mount-table.ts'
import type { OverlayPlan } from '../layers/overlay-plan.ts'

const NUMBERS = 'layers.json'
const USER = 'user.json'
const WAIT_MS = 5000
const LOOK_MS = 5

export interface KeptLayers {
  /** By the place of each root in the plan. */
  readonly numbers: readonly number[]
  /** Notes the process that uses the layers now. */
  take(pid: number): void
}

export async function keepLayers(directory: string, { roots }: OverlayPlan): Promise<KeptLayers> {
  refuseOverlap(directory, roots)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  await untilFree(directory)
  const known = readNumbers(join(directory, NUMBERS))
  const before = known.size
  const numbers = roots.map(({ path }) => {
    const number = known.get(path) ?? Math.max(-1, ...known.values()) + 1
    known.set(path, number)
    return number
  })
  if (known.size > before) {
    writeWhole(join(directory, NUMBERS), JSON.stringify(Object.fromEntries(known)), 0o600)
  }
  return {
    numbers,
    take: (pid) => writeFileSync(join(directory, USER), JSON.stringify([pid, startedAt(pid)])),
  }
}

/** Overlayfs refuses an upper layer inside its own lower one. */
function refuseOverlap(directory: string, roots: OverlayPlan['roots']): void {
  const around = roots.find(({ path }) => isWithin(directory, path))
  if (around === undefined) return
  const message = `the layers at \`${directory}\` would lie inside the root \`${around.path}\` that they are for`
  const hint = 'set XDG_STATE_HOME to a directory outside of it, or narrow the scope'
  throw faultError('sandbox.filesystem', around.path, message, hint)
}

function readNumbers(file: string): Map<string, number> {
  const text = readableText(file)
  if (text === '') return new Map()
  // Written by `keepLayers`, whole.
  return new Map(Object.entries(JSON.parse(text) as Record<string, number>))
}

async function untilFree(directory: string): Promise<void> {
  const text = readableText(join(directory, USER))
  if (text === '') return
  // Written by `take`; a file that a crash cut short is of a process that is gone.
  const [pid, start] = partsOf(text)
  for (let waited = 0; startedAt(pid) === start && start !== ''; waited += LOOK_MS) {
    if (waited >= WAIT_MS) {
      const message = `the layers at \`${directory}\` are in use by process ${pid}`
      throw faultError('sandbox.failed', directory, message, 'wait until it has ended')
    }
    await pause(LOOK_MS)
  }
}

function partsOf(text: string): readonly [pid: number, start: string] {
  try {
    return JSON.parse(text)
  } catch {
    return [0, '']
  }
}
