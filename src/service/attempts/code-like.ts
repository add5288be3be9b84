/**
 * Changes of an attempt that may run: by name, mode, first bytes, or because other programs run them later.
 * An open reviewer may load any of them, so a stage that holds one is blocked.
 */
import { closeSync, readSync } from 'node:fs'
import type { SandboxResult } from '../../contracts/index.ts'
import {
  type Change,
  displayOfRaw,
  type GateLists,
  isBelow,
  isSameState,
  newFileDeferral,
  rawOfText,
  textOfRaw,
} from '../../gate/index.ts'
import { openEntry } from '../../machine/index.ts'
import type { Layer } from '../../sandbox/index.ts'
import type { AttemptOrder, CodeLike } from '../surface/attempt-surface.ts'
import { sealedFindings } from './sealed-paths.ts'

interface CodeSearch {
  readonly lists: GateLists
  readonly layers: readonly Layer[]
}

const EXECUTABLE = 0o111
/** `#!`, ELF, Mach-O, Windows and compiled Java or WebAssembly. */
const BEGINNINGS = [
  '#!',
  '\x7fELF',
  'MZ',
  '\xcf\xfa\xed\xfe',
  '\xca\xfe\xba\xbe',
  '\0asm',
  '!<arch>',
]

/** One finding for each change of something sealed, and of code where the order keeps it out. */
export function keptFindings(
  order: Pick<AttemptOrder, 'sealed' | 'workspace'>,
  changes: readonly Change[],
  search: CodeSearch,
): SandboxResult['findings'] {
  const sealed = sealedFindings(order, changes)
  const known = new Set(sealed.map(({ path }) => path))
  const code = codeFindings(order, changes, search)
  return [...sealed, ...code.filter(({ path }) => !known.has(path))]
}

function codeFindings(
  { sealed = [], workspace }: Pick<AttemptOrder, 'sealed' | 'workspace'>,
  changes: readonly Change[],
  search: CodeSearch,
): SandboxResult['findings'] {
  const kept = sealed.flatMap(({ code, code_like: like }) =>
    like === undefined ? [] : [{ code, like }],
  )
  return kept.flatMap(({ code, like }) =>
    changes
      .filter((change) => isBelow(change.path, rawOfText(workspace)))
      .filter((change) => mayRun(change, like, workspace, search))
      .map(({ path }) => ({
        code,
        path: displayOfRaw(path),
        detail: `the reviewer of ${like.reviewer} is open, and could load it: ${like.why}`,
      })),
  )
}

function mayRun(
  { path, before, after }: Change,
  { suffixes }: CodeLike,
  workspace: string,
  { lists, layers }: CodeSearch,
): boolean {
  if (after === null || after.kind === 'directory' || isSameState(before, after)) return false
  // A link, and what no list knows, leads anywhere.
  if (after.kind !== 'file' || (after.mode & EXECUTABLE) !== 0) return true
  const text = textOfRaw(path)
  if (text === null || newFileDeferral(lists, rawOfText(workspace), path) !== null) return true
  const suffix = /\.([^./]+)$/.exec(text)?.[1]?.toLowerCase() ?? ''
  return suffixes.includes(suffix) || beginsAsProgram(text, layers)
}

function beginsAsProgram(path: string, layers: readonly Layer[]): boolean {
  const [layer] = layers
    .filter(({ root }) => path.startsWith(`${root}/`))
    .sort((one, other) => other.root.length - one.root.length)
  // A file that cannot be looked into may be a program.
  if (layer === undefined) return true
  const begin = beginningOf(`${layer.merged}${path.slice(layer.root.length)}`)
  if (begin === null) return true
  return BEGINNINGS.some((one) => begin.startsWith(one))
}

/** Null for a file that cannot be read. */
function beginningOf(path: string): string | null {
  const bytes = Buffer.alloc(8)
  try {
    const file = openEntry(path, 'read')
    try {
      readSync(file, bytes)
    } finally {
      closeSync(file)
    }
    return bytes.toString('latin1')
  } catch {
    return null
  }
}
