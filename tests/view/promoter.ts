/**
 * Makes changes real the way promotion does: files by a new inode that is renamed into place, directories
 * that exist in place, deletions from the leaves up. After a crash the steps that are left can be done, as
 * recovery does them.
 */
import {
  chmodSync,
  copyFileSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs'
import type { Change } from '../../src/gate/index.ts'
import type { Layer } from '../../src/sandbox/index.ts'

export interface Promotion {
  readonly layers: readonly Layer[]
  /** Called before each step with its number; kills the process to crash there. */
  readonly onStep?: (step: number) => void
  /** How many steps were done before a crash: they are not done again. */
  readonly done?: number
}

export function promote(
  changes: readonly Change[],
  { layers, onStep = () => {}, done = 0 }: Promotion,
): void {
  let step = 0
  const isDone = (): boolean => {
    if (step++ < done) return true
    onStep(step - 1)
    return false
  }
  const down = [...changes].sort((one, other) => (one.path < other.path ? -1 : 1))
  for (const { path, before, after } of [...down].reverse()) {
    if (before === null || after?.kind === before.kind) continue
    // A file is replaced by the rename below.
    if (after !== null && before.kind !== 'directory' && after.kind !== 'directory') continue
    if (isDone()) continue
    if (before.kind === 'directory') rmdirSync(path)
    else unlinkSync(path)
  }
  const links = new Map<string, string>()
  for (const { path, before, after } of down) {
    if (after === null) continue
    const first = after.linkGroup === null ? undefined : links.get(after.linkGroup)
    if (isDone()) {
      // Only what follows from it is left.
    } else if (after.kind === 'directory') {
      if (before?.kind !== 'directory') mkdirSync(path)
      chmodSync(path, after.mode)
    } else put(path, upperOf(path, layers), first)
    if (after.linkGroup !== null && first === undefined) links.set(after.linkGroup, path)
  }
}

function upperOf(path: string, layers: readonly Layer[]): string {
  const layer = layers.find(({ root }) => path.startsWith(`${root}/`))
  if (layer === undefined) throw new Error(`no layer for ${path}`)
  return `${layer.upper}${path.slice(layer.root.length)}`
}

function put(path: string, from: string, first: string | undefined): void {
  const temporary = `${path}.promoting`
  const stats = lstatSync(from, { bigint: true })
  if (first !== undefined) linkSync(first, temporary)
  else if (stats.isSymbolicLink()) symlinkSync(readlinkSync(from), temporary)
  else {
    copyFileSync(from, temporary)
    chmodSync(temporary, Number(stats.mode) & 0o7777)
  }
  // A promotion keeps times to the nanosecond; Node sets them to the microsecond.
  if (first === undefined) lutimesSync(temporary, seconds(stats.atimeNs), seconds(stats.mtimeNs))
  renameSync(temporary, path)
}

function seconds(timeNs: bigint): number {
  return Number(timeNs) / 1e9
}
