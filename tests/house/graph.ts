/**
 * What the files of the house take from one another: exports that no file imports, folders that import
 * each other, folders that are too full. A function of texts, as `inspect.ts` is.
 */
import { posix } from 'node:path'

const LIST = /\b(import|export)(?: type)? \{([^}]*)\} from '([^']+)'/g
const WHOLE = /\bimport\((?:\s*)'(\.[^']+)'/g
const DECLARED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type) (\w+)/gm
const FOLDER_FILES_MAX = 25

/** Returns `file#name` of every export that no other file imports; `open` are doors and programs. */
export function unusedExports(
  files: ReadonlyMap<string, string>,
  open: (path: string) => boolean,
): readonly string[] {
  const used = new Set<string>()
  const whole = new Set<string>()
  const offered: string[] = []
  for (const [path, text] of files) {
    for (const [, kind, names = '', specifier = ''] of text.matchAll(LIST)) {
      const target = targetOf(path, specifier)
      for (const name of namesOf(names)) used.add(`${target}#${name.own}`)
      if (kind === 'export') offered.push(...namesOf(names).map(({ given }) => `${path}#${given}`))
    }
    for (const [, specifier = ''] of text.matchAll(WHOLE)) whole.add(targetOf(path, specifier))
    offered.push(...[...text.matchAll(DECLARED)].map(([, name]) => `${path}#${name}`))
  }
  return offered.filter((place) => {
    const [path = ''] = place.split('#')
    return path.startsWith('src/') && !open(path) && !whole.has(path) && !used.has(place)
  })
}

function namesOf(list: string): { readonly own: string; readonly given: string }[] {
  const words = list.split(',').map((item) => item.trim().replace(/^type /, ''))
  return words.filter(Boolean).map((word) => {
    const [own = '', given = own] = word.split(' as ')
    return { own, given }
  })
}

/** Returns `a <> b` for every two folders of `src` whose files import each other. */
export function folderCircles(files: ReadonlyMap<string, string>): readonly string[] {
  const ways = new Set<string>()
  for (const [path, text] of sources(files)) {
    for (const [, specifier = ''] of text.matchAll(/(?:from |import\()'(\.[^']+)'/g)) {
      const [from, to] = [posix.dirname(path), posix.dirname(targetOf(path, specifier))]
      if (from !== to) ways.add(`${from} ${to}`)
    }
  }
  return [...ways]
    .map((way) => way.split(' '))
    .filter(([from = '', to = '']) => from < to && ways.has(`${to} ${from}`))
    .map(([from, to]) => `${from} <> ${to}`)
    .sort()
}

/** Returns every folder of `src` with more source files than 25. */
export function fullFolders(files: ReadonlyMap<string, string>): readonly string[] {
  const counts = new Map<string, number>()
  for (const [path] of sources(files)) {
    const folder = posix.dirname(path)
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  return [...counts].filter(([, count]) => count > FOLDER_FILES_MAX).map(([folder]) => folder)
}

function sources(files: ReadonlyMap<string, string>): readonly [string, string][] {
  return [...files].filter(([path]) => path.startsWith('src/') && !path.endsWith('.test.ts'))
}

function targetOf(path: string, specifier: string): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier
}
