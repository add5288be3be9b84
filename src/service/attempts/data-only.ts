/**
 * Changes of an attempt that are no data, by name, mode, kind or first bytes, or that no person has named. An
 * open reviewer may run or load any of them, or miss one that is gone, so a stage that holds one is blocked.
 * Data counts as well: a runner may collect any file by its name, so the flow names those that work may touch.
 *
 * INVARIANT (default deny): a change is let through only if what was there and what is there now are both
 * plain files of a name on the lists, at a path that the flow names or in the place of the artifact.
 */
import { closeSync, readSync } from 'node:fs'
import { matchesPath, parseGlob, type SandboxResult } from '../../contracts/index.ts'
import {
  type Change,
  displayOfRaw,
  isBelow,
  isSameState,
  rawOfText,
  textOfRaw,
} from '../../gate/index.ts'
import { isAbsent, openEntry } from '../../machine/index.ts'
import type { Layer } from '../../sandbox/index.ts'
import type { AttemptOrder, DataOnly } from '../surface/attempt-surface.ts'
import { sealedFindings } from './sealed-paths.ts'

type KeptOrder = Pick<AttemptOrder, 'sealed' | 'workspace'>

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

/** One finding for each change of something sealed, and of what is no data where the order keeps it out. */
export function keptFindings(
  order: KeptOrder,
  changes: readonly Change[],
  layers: readonly Layer[],
): SandboxResult['findings'] {
  const sealed = sealedFindings(order, changes)
  const known = new Set(sealed.map(({ path }) => path))
  const other = otherFindings(order, changes, layers)
  return [...sealed, ...other.filter(({ path }) => !known.has(path))]
}

function otherFindings(
  { sealed = [], workspace }: KeptOrder,
  changes: readonly Change[],
  layers: readonly Layer[],
): SandboxResult['findings'] {
  const scope = rawOfText(workspace)
  return sealed.flatMap(({ code, data_only: only }) => {
    if (only === undefined) return []
    const names = new DataNames(only, workspace)
    return changes
      .filter((change) => isBelow(change.path, scope))
      .flatMap((change) => {
        const reason = reasonOf(change, names, (path) => viewOf(path, layers))
        if (reason === null) return []
        const detail = `${reason}; and the reviewer of ${only.reviewer} is open: ${only.why}`
        return [{ code, path: displayOfRaw(change.path), detail }]
      })
  })
}

/** Why a change that is in place is more than an attempt under these rules might have left; else null. */
export function strayReason(change: Change, only: DataOnly, workspace: string): string | null {
  return reasonOf(change, new DataNames(only, workspace), (path) => path)
}

/** Finds where a path of the changed tree lies; null where that is not known. */
type Place = (path: string) => string | null

/** Why a change is more than one of data that a person named; null for such data. */
function reasonOf(change: Change, names: DataNames, placeOf: Place): string | null {
  if (isSameState(change.before, change.after)) return null
  const reason = notDataReason(change, names, placeOf)
  if (reason !== null) return `it is no data: ${reason}`
  const path = textOfRaw(change.path)
  return path === null ? null : names.placeReason(path, isOfDirectories(change))
}

function isOfDirectories({ before, after }: Change): boolean {
  return [before, after].every((side) => side === null || side.kind === 'directory')
}

function notDataReason(
  { path, before, after }: Change,
  names: DataNames,
  placeOf: Place,
): string | null {
  // One that cannot be read hides what is in it.
  const isDirectory = before?.kind === 'directory' && after?.kind === 'directory'
  if (isDirectory) return 'the mode or the owner of a directory is changed'
  const sides = [before, after].filter((side) => side !== null && side.kind !== 'directory')
  if (sides.length === 0) return null
  const text = textOfRaw(path)
  if (text === null) return 'its name is no text'
  for (const side of sides) {
    if (side?.kind !== 'file') return 'it is a link, or no plain file'
    if ((side.mode & EXECUTABLE) !== 0) return 'it has an execute bit'
  }
  const named = names.reasonOf(text)
  if (named !== null) return named
  const places = [
    ...(after?.kind === 'file' ? [placeOf(text)] : []),
    // The promoted tree: what other stages hold was looked at before.
    ...(before?.kind === 'file' ? [text] : []),
  ]
  return places.some(beginsAsProgram) ? 'its first bytes are those of a program' : null
}

class DataNames {
  readonly #workspace: string
  readonly #only: DataOnly
  readonly #except: readonly NonNullable<ReturnType<typeof parseGlob>>[]
  readonly #named: readonly RegExp[]
  readonly #above: readonly RegExp[]

  constructor(only: DataOnly, workspace: string) {
    this.#workspace = workspace
    this.#only = only
    this.#except = only.except.flatMap((pattern) => parseGlob(`/${pattern}`) ?? [])
    this.#named = only.paths.map(namedPath)
    this.#above = [...only.paths, `${only.artifact.folder}/_`].flatMap((path) => {
      const names = path.split('/')
      return names.slice(1).map((_, count) => namedPath(names.slice(0, count + 1).join('/')))
    })
  }

  /** By the place alone: only what a person named, the artifact, and directories that lead to these. */
  placeReason(path: string, isDirectory: boolean): string | null {
    const within = path.slice(this.#workspace.length + 1)
    const isNamed = (names: readonly RegExp[]): boolean => names.some((one) => one.test(within))
    if (isDirectory)
      return isNamed(this.#above) ? null : 'this directory leads to no file that the flow names'
    return isNamed(this.#named) || this.#isArtifact(within)
      ? null
      : 'the flow does not name this file'
  }

  #isArtifact(path: string): boolean {
    const { folder, stems } = this.#only.artifact
    const [, directory, stem = ''] = /^(.*)\/([^/.]*)\.[^./]*$/.exec(path) ?? []
    return directory === folder && stems.includes(stem)
  }

  /** By the path alone. */
  reasonOf(path: string): string | null {
    const within = path.slice(this.#workspace.length)
    if (within.includes('/.')) return 'a name in its path begins with a dot'
    const [, name = '', suffix] = /([^/]*?)(?:\.([^./]*))?$/.exec(within) ?? []
    const { suffixes, names } = this.#only
    if (suffix === undefined && !names.includes(name.toLowerCase()))
      return 'its name has no ending: call it `.txt` or `.md` if it is text'
    if (suffix !== undefined && !suffixes.includes(suffix.toLowerCase()))
      return `the ending \`.${suffix}\` is not one of data`
    return this.#except.some((glob) => matchesPath(glob, within))
      ? 'tools load a file of this name by themselves'
      : null
  }
}

function namedPath(path: string): RegExp {
  const parts = path.split('{index}').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('[0-9]+')}$`, 'u')
}

/** Where a path of the participant's view lies; null where that is not known. */
function viewOf(path: string, layers: readonly Layer[]): string | null {
  const [layer] = layers
    .filter(({ root }) => path.startsWith(`${root}/`))
    .sort((one, other) => other.root.length - one.root.length)
  return layer === undefined ? null : `${layer.merged}${path.slice(layer.root.length)}`
}

/** A file that cannot be looked into may be a program; one that is not there is none. */
function beginsAsProgram(path: string | null): boolean {
  if (path === null) return true
  const bytes = Buffer.alloc(8)
  try {
    const file = openEntry(path, 'read')
    try {
      readSync(file, bytes)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    return !isAbsent(error)
  }
  const begin = bytes.toString('latin1')
  return BEGINNINGS.some((one) => begin.startsWith(one))
}
