/** The changes of a question as a tree of directories: deletions, then what runs later, then the rest. */
import { inOrder, kindOf, named, type QuestionChange, sharedFolder } from './question.ts'

export interface FolderRow {
  readonly change: null
  /** With its kind, since a directory can hold changes of several. */
  readonly key: string
  readonly name: string
  readonly level: number
  readonly isOpen: boolean
  /** Everything below, which is chosen with it. */
  readonly below: readonly QuestionChange[]
}

interface ChangeRow {
  readonly change: QuestionChange
  readonly key: string
  readonly name: string
  readonly level: number
}

export type TreeRow = FolderRow | ChangeRow

/** The rows of the tree; what is below a closed directory is left out. */
export function treeRows(
  changes: readonly QuestionChange[],
  closed: ReadonlySet<string>,
): readonly TreeRow[] {
  const shared = sharedFolder(changes.map(({ path }) => path))
  const kinds = new Map<string, QuestionChange[]>()
  for (const change of inOrder(changes)) {
    const kind = kindOf(change)
    kinds.set(kind, [...(kinds.get(kind) ?? []), change])
  }
  const rows: TreeRow[] = []
  for (const [kind, list] of kinds) addRows(rows, { kind, closed, list, prefix: shared, level: 0 })
  return rows
}

interface Branch {
  readonly kind: string
  readonly closed: ReadonlySet<string>
  readonly list: readonly QuestionChange[]
  /** What all paths of the list begin with. */
  readonly prefix: string
  readonly level: number
}

/** What is at one name of a directory: an entry that changes, changes below it, or both. */
interface Place {
  self: QuestionChange | null
  readonly below: QuestionChange[]
}

function addRows(rows: TreeRow[], branch: Branch): void {
  const { list, prefix, level } = branch
  for (const { self, below } of placesOf(list, prefix).values()) {
    const [only, ...more] = below
    if (self !== null) {
      rows.push({ change: self, key: self.path, name: named(self, prefix), level })
      if (only !== undefined)
        addRows(rows, { ...branch, list: below, prefix: `${self.path}/`, level: level + 1 })
    } else if (only !== undefined && more.length === 0)
      rows.push({ change: only, key: only.path, name: named(only, prefix), level })
    else addFolder(rows, { ...branch, list: below })
  }
}

function placesOf(list: readonly QuestionChange[], prefix: string): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>()
  for (const change of list) {
    const rest = change.path.slice(prefix.length)
    const cut = rest.indexOf('/')
    const name = cut === -1 ? rest : rest.slice(0, cut)
    const place = places.get(name) ?? { self: null, below: [] }
    places.set(name, place)
    if (cut === -1) place.self = change
    else place.below.push(change)
  }
  return places
}

/** Directories that hold nothing but one another are one row. */
function addFolder(rows: TreeRow[], branch: Branch): void {
  const { kind, closed, list, prefix, level } = branch
  const folder = sharedFolder(list.map(({ path }) => path))
  const key = `${kind} ${folder}`
  const isOpen = !closed.has(key)
  const name = folder.slice(prefix.length)
  rows.push({ change: null, key, name, level, isOpen, below: list })
  if (isOpen) addRows(rows, { ...branch, prefix: folder, level: level + 1 })
}
