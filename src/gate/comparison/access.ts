/**
 * Who may use an entry: its mode, owner, access control list and attributes. git keeps of these only
 * whether a file can be executed, so that no commit brings the rest back; a grant does not cover it.
 */
import type { Change, ChangeList, EntryState } from '../evidence/change.ts'

const EXECUTE = 0o111
/** A program that writes a file again under the usual umask takes these away. */
const SHARED_WRITE = 0o022
const OTHERS_WRITE = 0o002
const SET_ID = 0o6000
const ACCESS_LIST = 'system.posix_acl_'

/** Returns what an act did to the access to an entry beyond what grants cover; null for nothing. */
export function accessWords(list: ChangeList, { before, after }: Change): string | null {
  if (after === null || after.kind === 'symlink') return null
  if (list === 'added') return createdWords(after)
  if (list !== 'modified' || before === null) return null
  const what = [
    ...(isOtherMode(before.mode, after.mode) ? [`mode ${octal(before)} to ${octal(after)}`] : []),
    ...(isSameOwner(before, after) ? [] : ['owner or group']),
    ...(isSameText(before.attributes, after.attributes) ? [] : ['attributes or access list']),
  ]
  return what.length === 0 ? null : `changed: ${what.join(', ')}; git does not keep that`
}

/** An owner is recorded only for root, whose new entries are root's. */
function createdWords({ kind, mode, owner, attributes }: EntryState): string | null {
  if ((mode & OTHERS_WRITE) !== 0) return 'created; every user of this machine may write to it'
  if (kind === 'file' && (mode & SET_ID) !== 0)
    return 'created; it runs with the rights of its owner'
  if (owner !== null && owner.uid !== 0) return `created for another owner, uid ${owner.uid}`
  const hasList = attributes.some(([name]) => name.startsWith(ACCESS_LIST))
  return hasList ? 'created with an access list of its own' : null
}

function isOtherMode(before: number, after: number): boolean {
  const changed = (before ^ after) & ~EXECUTE
  const isNarrowed = (after & changed) === 0 && (changed & ~SHARED_WRITE) === 0
  return changed !== 0 && !isNarrowed
}

function isSameOwner({ owner: one }: EntryState, { owner: other }: EntryState): boolean {
  return one?.uid === other?.uid && one?.gid === other?.gid
}

function isSameText(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

function octal({ mode }: EntryState): string {
  return mode.toString(8).padStart(4, '0')
}
