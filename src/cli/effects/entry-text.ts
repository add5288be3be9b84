/** One entry of a diff in words: what it is, and what about it changed besides its bytes. */
import { CODES, isCode } from '../../base/index.ts'
import {
  type Attribute,
  type Change,
  type EntryState,
  type Finding,
  isBelow,
  parentOfRaw,
  type RawPath,
  rawOfText,
} from '../../gate/index.ts'
import { counted, grouped, sizeText, visible, visibleName, visiblePath } from '../../words/index.ts'
import type { View } from './render.ts'

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

/** `effect.undeclared`, what it says, the path and the detail. */
interface FindingWords {
  readonly code: string
  readonly says: string | null
  readonly where: string | null
}

/** Of one code at most so many directories are named. */
const DIRECTORIES_MAX = 5

/** Details that the record keeps as they are, because a replay compares them, and that can be said better. */
const DETAILS: Readonly<Record<string, string>> = {
  'changed; git does not track it': 'changed; git does not have the version from before',
}

/** Findings of a rehearsal in words: what the code means, where, and what was seen. */
export function findingWords({ code, path, detail }: Finding): FindingWords {
  const places = [
    ...(path === undefined ? [] : [visibleName(path)]),
    ...(detail === undefined || detail === '' ? [] : [visible(DETAILS[detail] ?? detail)]),
  ]
  return {
    code: visible(code),
    says: isCode(code) ? CODES[code].says : null,
    where: places.length === 0 ? null : places.join(': '),
  }
}

const REST = /^and (\d+) more$/

/** Returns how many there are with those that the record counts only. */
export function findingCount(findings: readonly Finding[]): number {
  return findings.reduce((sum, { path, detail = '' }) => {
    const rest = path === undefined ? REST.exec(detail)?.[1] : undefined
    return sum + Number(rest ?? 1)
  }, 0)
}

/** Findings of one code stand together, in the order in which the codes first occur. */
export function byCode(findings: readonly Finding[]): ReadonlyMap<string, readonly Finding[]> {
  const groups = new Map<string, Finding[]>()
  for (const finding of findings) {
    const group = groups.get(finding.code)
    if (group === undefined) groups.set(finding.code, [finding])
    else group.push(finding)
  }
  return groups
}

/**
 * The findings of a rehearsal, a paragraph for each code: listed where they are few, else by directory.
 */
export function* foundText(
  findings: readonly Finding[],
  view: View,
  listed: number,
): Generator<string> {
  if (findings.length === 0) return
  const { paint } = view
  const groups = [...byCode(findings).values()]
  const count = groups.reduce((sum, group) => sum + findingCount(group), 0)
  yield `\n${paint.strong(`Found (${grouped(count)})`)}\n`
  for (const group of groups) {
    const [first] = group
    if (first === undefined) continue
    const { code, says } = findingWords(first)
    yield `  ${says === null ? '' : `${says} `}${paint.dim(`(${code})`)}\n`
    if (view.whole || group.length <= listed) yield* placesText(group)
    else yield* directoriesText(group, view)
  }
}

function* placesText(group: readonly Finding[]): Generator<string> {
  for (const finding of group) {
    const { where } = findingWords(finding)
    if (where !== null) yield `      ${where}\n`
  }
}

function* directoriesText(group: readonly Finding[], { paint, base }: View): Generator<string> {
  const counts = new Map<string, number>()
  for (const finding of group) {
    const directory = finding.path === undefined ? null : directoryOf(rawOfText(finding.path), base)
    if (directory !== null) counts.set(directory, (counts.get(directory) ?? 0) + 1)
  }
  const rows = [...counts].sort(([, one], [, other]) => other - one).slice(0, DIRECTORIES_MAX)
  for (const [directory, count] of rows) {
    yield `      ${directory} ${paint.dim(counted(count, 'path'))}\n`
  }
  const rest = findingCount(group) - rows.reduce((sum, [, count]) => sum + count, 0)
  const words = rest === 0 ? '' : `and ${grouped(rest)} more; `
  yield `      ${paint.dim(`${words}\`a\` lists them`)}\n`
}

/** The first name below the base; what lies elsewhere is under its parent. */
function directoryOf(path: RawPath, base: RawPath): string {
  if (base === '/' || path === base || !isBelow(path, base)) return visiblePath(parentOfRaw(path))
  const [first = '', ...below] = path.slice(base.length + 1).split('/')
  // A part of a raw path is one as well.
  return below.length === 0 ? './' : `${visiblePath(first as RawPath)}/`
}
