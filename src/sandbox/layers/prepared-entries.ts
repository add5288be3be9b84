/**
 * What the holder creates in the working directory of a sandbox before it mounts anything: mount points,
 * links to real paths, and files that are mounted over others.
 */
import { join } from 'node:path'
import type { MachineView } from './machine-view.ts'
import { linkOf, MACHINE, NOTHING, READ_ONLY } from './mount-lines.ts'
import type { OverlayPlan } from './overlay-plan.ts'

export type PreparedEntry =
  | { readonly kind: 'directory'; readonly name: string }
  | { readonly kind: 'link'; readonly name: string; readonly target: string }
  | { readonly kind: 'file'; readonly name: string; readonly mode: number }

/** `over` are the layers over each root, `scratch` says how many private places lie on a disk. */
export function preparedEntries(
  { roots }: OverlayPlan,
  view: MachineView,
  over: readonly (readonly string[])[],
  scratch: number,
): readonly PreparedEntry[] {
  return [
    ...linked(
      roots.map(({ path }) => path),
      'l',
      'm',
    ),
    ...over.flatMap((layers, index) => layersOf(layers, index)),
    ...viewParts(view),
    directory(READ_ONLY),
    // On a disk they may lie where a mask goes, so they are bound here first.
    ...Array.from({ length: scratch }, (_, index) => directory(`p${index}`)),
    { kind: 'file', name: 'empty', mode: 0o444 },
    { kind: 'file', name: 'banned', mode: 0o000 },
  ]
}

/** What lies in the memory filesystem of the view before its parts are mounted. */
function viewParts(view: MachineView): readonly PreparedEntry[] {
  const { covered, bound, files, made, links, emptied } = view
  const at = (path: string): string => join(MACHINE, path)
  const empty = (path: string) => ({ kind: 'file' as const, name: at(path), mode: 0o444 })
  return [
    directory(NOTHING),
    ...[...made, ...covered, ...bound].map((path) => directory(at(path))),
    ...[...files, ...emptied].map(empty),
    ...links.map(({ path, target }) => ({ kind: 'link' as const, name: at(path), target })),
    ...[...covered, ...bound, ...files].map((target, index) => {
      return { kind: 'link' as const, name: linkOf(index), target }
    }),
  ]
}

/** A link to each path, and a directory for what is mounted in its place. */
function linked(paths: readonly string[], from: string, to: string): readonly PreparedEntry[] {
  return paths.flatMap((target, index) => [
    { kind: 'link' as const, name: `${from}${index}`, target },
    directory(`${to}${index}`),
  ])
}

function layersOf(layers: readonly string[], index: number): readonly PreparedEntry[] {
  if (layers.length === 0) return []
  const links = layers.map((target, depth) => {
    return { kind: 'link' as const, name: `l${index}.${depth}`, target }
  })
  return [directory(`b${index}`), ...links]
}

function directory(name: string): PreparedEntry {
  return { kind: 'directory', name }
}
