/**
 * Makes changes real the way promotion does: files by a new inode that is renamed into place, directories
 * that exist in place, deletions from the leaves up.
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
  /** Called before each step; throws to crash there. */
  readonly onStep?: () => void
}

export function promote(
  changes: readonly Change[],
  { layers, onStep = () => {} }: Promotion,
): void {
  const down = [...changes].sort((one, other) => (one.path < other.path ? -1 : 1))
  for (const { path, before, after } of [...down].reverse()) {
    if (before === null || after?.kind === before.kind) continue
    // A file is replaced by the rename below.
    if (after !== null && before.kind !== 'directory' && after.kind !== 'directory') continue
    onStep()
    if (before.kind === 'directory') rmdirSync(path)
    else unlinkSync(path)
  }
  const links = new Map<string, string>()
  for (const { path, before, after } of down) {
    if (after === null) continue
    onStep()
    if (after.kind === 'directory') {
      if (before?.kind !== 'directory') mkdirSync(path)
      chmodSync(path, after.mode)
      continue
    }
    const first = after.linkGroup === null ? undefined : links.get(after.linkGroup)
    put(path, upperOf(path, layers), first)
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
