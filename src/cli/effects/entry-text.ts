/** One entry of a diff in words: what it is, and what about it changed besides its bytes. */
import type { Attribute, Change, EntryState } from '../../gate/index.ts'
import { sizeText } from './amount.ts'
import { visibleName, visiblePath } from './visible.ts'

const EXECUTABLE = 0o111

/** `file, 1.2 kB, executable`, `link to ../x`, `directory`. */
export function stateText({ kind, size, mode, target }: EntryState): string {
  if (kind === 'directory') return 'directory'
  if (kind === 'symlink') return `link to ${target === null ? 'nothing' : visiblePath(target)}`
  return `file, ${sizeText(size)}${(mode & EXECUTABLE) === 0 ? '' : ', executable'}`
}

/** Everything compared but the bytes of a file: mode, link, owner, attributes; one line each. */
export function differences({ before, after }: Change): readonly string[] {
  if (before === null || after === null) return []
  const lines: string[] = []
  if (before.kind !== after.kind) lines.push(`${stateText(before)} → ${stateText(after)}`)
  if (before.mode !== after.mode && after.kind !== 'symlink') {
    lines.push(`mode ${modeText(before)} → ${modeText(after)}${becameExecutable(before, after)}`)
  }
  if (before.target !== after.target && before.target !== null && after.target !== null) {
    lines.push(`link ${visiblePath(before.target)} → ${visiblePath(after.target)}`)
  }
  if (ownerText(before) !== ownerText(after)) {
    lines.push(`owner ${ownerText(before)} → ${ownerText(after)}`)
  }
  return [...lines, ...attributeLines(before.attributes, after.attributes)]
}

const ORDINARY_MODES: Readonly<Record<EntryState['kind'], readonly number[]>> = {
  file: [0o644, 0o755],
  directory: [0o755],
  symlink: [],
}

/** What about a new entry is not the ordinary: its mode, its owner, its attributes. */
export function oddities(state: EntryState | null): readonly string[] {
  if (state === null) return []
  const { kind, mode, owner, attributes } = state
  const isOdd = kind !== 'symlink' && !ORDINARY_MODES[kind].includes(mode)
  const own = process.getuid?.()
  const isOthers = owner !== null && (owner.uid !== own || owner.gid !== process.getgid?.())
  return [
    ...(isOdd ? [`mode ${modeText(state)}${writableText(mode)}`] : []),
    ...(isOthers ? [`owner ${ownerText(state)}`] : []),
    ...attributeLines([], attributes),
  ]
}

const WRITABLE_BY_ALL = 0o002

function writableText(mode: number): string {
  return (mode & WRITABLE_BY_ALL) === 0 ? '' : ' (any user can write to it)'
}

function modeText({ mode }: EntryState): string {
  return mode.toString(8).padStart(4, '0')
}

function becameExecutable(before: EntryState, after: EntryState): string {
  const was = (before.mode & EXECUTABLE) !== 0
  const is = (after.mode & EXECUTABLE) !== 0
  if (before.kind !== 'file' || after.kind !== 'file' || was === is) return ''
  return is ? ' (can be run now)' : ' (can no longer be run)'
}

function ownerText({ owner }: EntryState): string {
  return owner === null ? 'unknown' : `${owner.uid}:${owner.gid}`
}

function attributeLines(before: readonly Attribute[], after: readonly Attribute[]): string[] {
  const old = new Map(before)
  const now = new Map(after)
  const names = [...new Set([...old.keys(), ...now.keys()])].sort()
  return names.flatMap((name) => {
    const one = old.get(name)
    const other = now.get(name)
    if (one === other) return []
    const word = one === undefined ? 'added' : other === undefined ? 'removed' : 'changed'
    return [`attribute ${visibleName(name)} ${word}${valueText(one, other)}`]
  })
}

/** Values of attributes are bytes; the readable ones are shown as text, the others in hex. */
function valueText(one: string | undefined, other: string | undefined): string {
  const shown = [one, other].filter((hex) => hex !== undefined).map(attributeValue)
  return `: ${shown.join(' → ')}`
}

function attributeValue(hex: string): string {
  const text = Buffer.from(hex, 'hex').toString('utf8')
  const isReadable = Buffer.from(text, 'utf8').toString('hex') === hex.toLowerCase()
  return isReadable ? `“${visibleName(text)}”` : `0x${hex}`
}
