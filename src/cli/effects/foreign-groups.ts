/**
 * Directories that an ordinary user's sandbox cannot change: it knows one group, so the kernel refuses
 * to copy a directory of another one (`EOVERFLOW`), and every change in it fails. Told before anything
 * runs, with the command that helps.
 */
import { accessSync, constants, lstatSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { quote } from '../../machine/index.ts'
import { visibleName } from '../../words/index.ts'
import type { Terminal } from '../call/terminal.ts'

/** So many directories are looked at; the rest fails with the kernel's own words. */
const LOOKED_AT_MAX = 500
const TOLD_MAX = 3

interface OwnIds {
  readonly uid: number
  readonly gid: number
}

/** Says which directories of the scope have another group; root's sandbox knows every group. */
export function tellForeignGroups(terminal: Terminal, roots: readonly string[]): void {
  const [uid, gid] = [process.geteuid?.() ?? 0, process.getegid?.() ?? 0]
  if (uid === 0) return
  const own = { uid, gid }
  for (const text of [...foreignParents(roots, own, homedir()), ...foreignGroups(roots, own)])
    terminal.err(`${text}\n`)
}

/** Directories between the home and a root: both lie under one overlay, which copies what leads to a change. */
export function foreignParents(
  roots: readonly string[],
  own: OwnIds,
  home: string,
): readonly string[] {
  const parents = new Set(roots.flatMap((root) => parentsOf(root, home)))
  return [...parents].flatMap((path) => {
    const owner = directoryAt(path)
    return owner === null || owner.gid === own.gid ? [] : [foreignText(path, owner, own, 'chgrp')]
  })
}

function parentsOf(path: string, home: string): readonly string[] {
  const parent = dirname(path)
  return parent.startsWith(`${home}/`) ? [...parentsOf(parent, home), parent] : []
}

/** Looks at directories that the user may write, those near the roots first. */
export function foreignGroups(roots: readonly string[], { uid, gid }: OwnIds): readonly string[] {
  const open = [...roots]
  const told: string[] = []
  for (let looked = 0; looked < LOOKED_AT_MAX && told.length < TOLD_MAX; looked++) {
    const path = open.shift()
    if (path === undefined) break
    const owner = writable(path)
    if (owner === null) continue
    if (owner.gid === gid) open.push(...directoriesIn(path))
    else told.push(foreignText(path, owner, { uid, gid }, 'chgrp -R'))
  }
  return told
}

function foreignText(path: string, owner: OwnIds, own: OwnIds, command: string): string {
  const sudo = owner.uid === own.uid ? '' : 'sudo '
  return `${visibleName(path)} is of the group ${owner.gid}, which a sandbox of user ${own.uid} does not know: what changes entries there fails with “Value too large for defined data type”. Give it to your own group: ${sudo}${command} ${own.gid} ${quote(path)}`
}

/** Null for what is no directory, or none that the user may write. */
function writable(path: string): OwnIds | null {
  try {
    accessSync(path, constants.W_OK)
    return directoryAt(path)
  } catch {
    return null
  }
}

function directoryAt(path: string): OwnIds | null {
  const entry = lstatSync(path, { throwIfNoEntry: false })
  return entry?.isDirectory() === true ? entry : null
}

function directoriesIn(path: string): readonly string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() && entry.name !== '.git' ? [join(path, entry.name)] : [],
    )
  } catch {
    return []
  }
}
