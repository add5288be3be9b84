/** Which commit HEAD of a repository names in the real tree. What cannot be read names none. */
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type RawPath, textOfRaw } from '../../gate/index.ts'

const HASH = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const SYMBOLIC = /^ref: (refs\/.+)$/
/** A symbolic reference may name another. */
const STEPS_MAX = 5

/** The git directory of a working tree; a linked worktree names another one in a file. */
export function gitDirectory(top: string): string {
  const place = join(top, '.git')
  if (!existsSync(place) || statSync(place).isDirectory()) return place
  const named = /^gitdir: (.+)$/m.exec(readFileSync(place, 'utf8'))?.[1]
  return named === undefined ? place : realpathSync(resolve(top, named))
}

/** Of a linked worktree the directory of its repository. */
export function commonDirectory(directory: string): string {
  const file = join(directory, 'commondir')
  return existsSync(file) ? resolve(directory, readFileSync(file, 'utf8').trim()) : directory
}

/** `common` holds the references; `directory` is of a linked worktree, or the same. */
export function headCommit(directory: string, common: string): string | null {
  let text = readFileSync(join(directory, 'HEAD'), 'latin1').trim()
  for (let step = 0; step < STEPS_MAX; step++) {
    if (HASH.test(text)) return text
    const name = SYMBOLIC.exec(text)?.[1]
    text = name === undefined ? '' : reference(common, name)
  }
  return null
}

function reference(common: string, name: string): string {
  const loose = join(common, name)
  if (existsSync(loose)) return readFileSync(loose, 'latin1').trim()
  const packed = join(common, 'packed-refs')
  if (!existsSync(packed)) return ''
  const rows = readFileSync(packed, 'latin1').split('\n')
  const row = rows.find((line) => line.endsWith(` ${name}`))
  return row?.slice(0, row.indexOf(' ')) ?? ''
}

/** The commits of HEAD in every git directory that these paths can concern, by directory. */
export function headsNear(paths: readonly RawPath[]): Readonly<Record<string, string | null>> {
  const found: Record<string, string | null> = {}
  for (const directory of gitDirectoriesOf(paths)) {
    try {
      found[directory] = headCommit(directory, commonDirectory(directory))
    } catch {
      found[directory] = null
    }
  }
  return found
}

/** Git directories above the paths (also of submodules), with those of their linked worktrees. */
function gitDirectoriesOf(paths: readonly RawPath[]): ReadonlySet<string> {
  const found = new Set<string>()
  const looked = new Set<string>()
  for (const path of paths) {
    const text = textOfRaw(path)
    const start = text?.indexOf('/.git/') ?? -1
    if (text === null || start === -1) continue
    const top = text.slice(0, start + '/.git'.length)
    for (let at = dirname(text); at.length >= top.length && !looked.has(at); at = dirname(at)) {
      looked.add(at)
      if (at !== top && !isGitDirectory(at)) continue
      found.add(at)
      for (const worktree of worktreesOf(at)) found.add(worktree)
    }
  }
  return found
}

/** Not `logs`, which has a file HEAD too. */
function isGitDirectory(directory: string): boolean {
  const has = (name: string): boolean => existsSync(join(directory, name))
  return has('HEAD') && (has('objects') || has('commondir'))
}

function worktreesOf(directory: string): readonly string[] {
  const folder = join(directory, 'worktrees')
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []
}
