/**
 * The record of a view, kept across openings: what the real tree had where the view has something of its
 * own, and what of the view's own entries became real and stayed because it was in use.
 */
import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Digest } from '../base/index.ts'
import type { EntryState, RawPath } from '../gate/index.ts'
import {
  codeOf,
  isAbsent,
  nodePath,
  readableText,
  readIfThere,
  replaceFile,
} from '../machine/index.ts'

/** An entry of the real tree as one look found it. */
interface Identity {
  readonly kind: 'file' | 'directory' | 'symlink' | 'other'
  readonly inode: string
  readonly ctimeNs: string
  readonly mtimeNs: string
  readonly size: string
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

/** What was real when the view copied a path: an entry, nothing, or not known. */
export type Base = Identity | 'nothing' | 'unknown'

/** What became real of an entry that stayed. */
type RealState = Pick<EntryState, 'kind' | 'mode' | 'target'> & {
  readonly digest: Digest | null
}

export interface Entry {
  /**
   * Of the upper entry. Without one, in a directory that hides the real one: `gone` was removed by the
   * session, `added` was made by others.
   */
  readonly kind: Identity['kind'] | 'whiteout' | 'gone' | 'added'
  readonly base: Base
  /** When the view had last been refreshed before this entry was first seen. */
  readonly seenNs: string
  /**
   * Where a real directory is hidden as a whole: the directories in it then, by `directoryMark`, and the
   * files with several names, by `linkedMark`.
   */
  readonly below?: readonly string[]
  readonly kept?: RealState
  /** Inode and ctime of the upper entry when it was last known to be equal to what became real. */
  readonly upper?: string
}

/** A change that waits for an answer. */
export interface AwaitedChange {
  /** There was nothing before. */
  readonly isNew: boolean
  readonly after: RealState | null
}

const NAME = 'view.json'

export class ViewRecord {
  readonly entries: Map<RawPath, Entry>
  /** Changes that another process may make real at any time. */
  readonly awaited: Map<RawPath, AwaitedChange>
  /** When names were last dropped, by the clock of files. */
  refreshedNs: bigint
  /**
   * Whether it is the last one that was saved. One that was lost, or that is from before a start of the
   * machine, may say less than the layers hold, until they were looked at.
   */
  isNewest: boolean
  readonly #file: string
  #text: string

  constructor(directory: string, nowNs: () => bigint) {
    this.#file = join(directory, NAME)
    const text = readIfThere(this.#file)
    this.#text = text ?? ''
    const kept = text === null ? null : savedIn(text)
    this.refreshedNs = kept === null ? nowNs() : BigInt(kept.refreshedNs)
    this.entries = new Map(kept?.entries ?? [])
    this.awaited = new Map(kept?.awaited ?? [])
    this.isNewest = kept === null ? this.refreshedNs > 0n : kept.boot === bootId()
    if (kept === null) this.save()
  }

  /**
   * Not synced, because each refresh saves. After a power cut the record may be an older one: then what
   * changed in the real tree meanwhile is a conflict, and so is a copied file without a real one.
   */
  save(): void {
    const saved: Saved = {
      refreshedNs: String(this.refreshedNs),
      entries: [...this.entries],
      awaited: [...this.awaited],
      boot: this.isNewest ? bootId() : '',
    }
    const text = JSON.stringify(saved)
    if (text === this.#text) return
    replaceFile(this.#file, text, 0o600)
    this.#text = text
  }
}

/** A record that a power cut spoiled knows nothing, so that all is a conflict. */
function savedIn(text: string): Saved {
  try {
    // `save` wrote it.
    const saved = JSON.parse(text) as Saved
    if (/^\d+$/.test(saved.refreshedNs) && Array.isArray(saved.entries)) return saved
  } catch {
    // It is no whole document.
  }
  return { refreshedNs: '0', entries: [] }
}

/** Another one at each start of the machine. */
function bootId(): string {
  return readableText('/proc/sys/kernel/random/boot_id').trim()
}

interface Saved {
  readonly refreshedNs: string
  readonly entries: readonly (readonly [RawPath, Entry])[]
  /** Records of earlier versions have none. */
  readonly awaited?: readonly (readonly [RawPath, AwaitedChange])[]
  readonly boot?: string
}

export interface SeenEntry extends Identity {
  readonly bornNs: bigint
  readonly isWhiteout: boolean
  /** How many names it has. */
  readonly links: number
}

/** The kind of an upper entry. */
export function upperKind({ kind, isWhiteout }: SeenEntry): Entry['kind'] {
  return isWhiteout ? 'whiteout' : kind
}

/** What lies in a directory that this user may not enter: perhaps something, and nothing that is known. */
const OUT_OF_REACH: SeenEntry = {
  kind: 'other',
  inode: '-1',
  ctimeNs: '0',
  mtimeNs: '0',
  size: '0',
  mode: 0,
  uid: 0,
  gid: 0,
  bornNs: 0n,
  isWhiteout: false,
  links: 1,
}

/** Looks at an entry itself; null if there is none. */
export function lookAt(path: RawPath): SeenEntry | null {
  try {
    return entryAt(path)
  } catch (error) {
    if (codeOf(error) === 'EACCES') return OUT_OF_REACH
    throw error
  }
}

function entryAt(path: RawPath): SeenEntry | null {
  try {
    const stats = lstatSync(nodePath(path), { bigint: true })
    return {
      kind: stats.isFile()
        ? 'file'
        : stats.isDirectory()
          ? 'directory'
          : stats.isSymbolicLink()
            ? 'symlink'
            : 'other',
      inode: String(stats.ino),
      ctimeNs: String(stats.ctimeNs),
      mtimeNs: String(stats.mtimeNs),
      size: String(stats.size),
      mode: Number(stats.mode) & 0o7777,
      uid: Number(stats.uid),
      gid: Number(stats.gid),
      bornNs: stats.birthtimeNs,
      isWhiteout: stats.isCharacterDevice() && stats.rdev === 0n,
      links: Number(stats.nlink),
    }
  } catch (error) {
    if (isAbsent(error)) return null
    throw error
  }
}

export function lookQuietly(path: RawPath): SeenEntry | null {
  try {
    return entryAt(path)
  } catch {
    // The session may have closed it to this user.
    return null
  }
}

export function identityOf(found: SeenEntry): Identity {
  const { kind, inode, ctimeNs, mtimeNs, size, mode, uid, gid } = found
  return { kind, inode, ctimeNs, mtimeNs, size, mode, uid, gid }
}

/**
 * Whether it is the same entry with the same content, as far as times tell. What is in a directory
 * changes its times, and is judged by itself.
 */
export function isUnchanged(base: Identity, now: Identity): boolean {
  if (base.inode !== now.inode || base.kind !== now.kind) return false
  if (base.kind === 'directory') return hasSameRights(base, now)
  if (base.ctimeNs === now.ctimeNs) return true
  // A further name or another attribute moves the ctime alone.
  return base.mtimeNs === now.mtimeNs && base.size === now.size && hasSameRights(base, now)
}

/** Stays the same when entries are added to the directory or removed from it. */
export function directoryMark({ inode, mode, uid, gid }: Identity): string {
  return `${inode}:${mode}:${uid}:${gid}`
}

/** Stays the same when the file gets or loses other names. */
export function linkedMark(path: RawPath, file: Identity): string {
  return `${directoryMark(file)}:${file.mtimeNs}:${file.size}:${path}`
}

export function hasSameRights(one: Identity, other: Identity): boolean {
  return (
    one.kind === other.kind &&
    one.mode === other.mode &&
    one.uid === other.uid &&
    one.gid === other.gid
  )
}

export function realStateOf({ kind, mode, target, digest }: EntryState): RealState {
  return { kind, mode, target, digest }
}

export function isRealState(kept: RealState, state: EntryState | null): boolean {
  return (
    state !== null &&
    kept.kind === state.kind &&
    kept.mode === state.mode &&
    kept.target === state.target &&
    kept.digest === state.digest
  )
}
