/**
 * Paths that the items of maps say they write: those of `required_files` and of `writes` that name one
 * file and have a placeholder. Two items of one map with the same path would overwrite each other's work.
 */
import { showPath } from '../../base/index.ts'
import type { FlowNode, ListFault } from '../../contracts/index.ts'
import { labelOf, type MapItem } from './placeholders.ts'

/** An item, with the items that its map lies inside of, the outermost first. */
type ItemPlace = readonly { readonly mapId: string; readonly item: MapItem }[]

export class ItemOutputs {
  /** By node. */
  readonly #places = new Map<string, ItemPlace>()
  readonly #byPath = new Map<string, ItemPlace[]>()
  fault: ListFault | null = null

  /** Takes the copy of a node that an item of a map has, and the node that it is a copy of. */
  add(mapId: string, item: MapItem, source: FlowNode, copy: FlowNode): void {
    const place = [...(this.#places.get(mapId) ?? []), { mapId, item }]
    this.#places.set(copy.node_id, place)
    if (item.index > item.count) return
    for (const path of outputsOf(source, copy)) this.#take(path, place)
  }

  #take(path: string, place: ItemPlace): void {
    const known = this.#byPath.get(path) ?? []
    for (const other of known) this.fault ??= collision(path, other, place)
    this.#byPath.set(path, [...known, place])
  }
}

/** The paths of a node that the item filled in; a pattern is an area that items may share. */
function outputsOf(source: FlowNode, copy: FlowNode): ReadonlySet<string> {
  const filled = (from: readonly string[] = [], to: readonly string[] = []): readonly string[] =>
    to.filter((path, index) => path !== from[index] && !path.includes('*'))
  return new Set([
    ...filled(source.required_files, copy.required_files),
    ...filled(source.writes, copy.writes),
  ])
}

/** Null for nodes of one item, and for items of maps that follow one another. */
function collision(path: string, one: ItemPlace, other: ItemPlace): ListFault | null {
  const at = one.findIndex(
    ({ mapId, item }, level) =>
      mapId !== other[level]?.mapId || item.index !== other[level]?.item.index,
  )
  const [first, second] = [one[at], other[at]]
  if (first === undefined || second === undefined || first.mapId !== second.mapId) return null
  const names = `${nameOf(first.item)} and ${nameOf(second.item)}`
  const message = `items ${names} have the same path ${showPath(path)}`
  return { problem: 'path_twice', index: second.item.index, message }
}

function nameOf(item: MapItem): string {
  const label = labelOf(item)
  return label === '' ? String(item.index) : `${item.index} (${label})`
}
