/** Findings of a rehearsal in words: what the code means, where, and what was seen. */
import { CODES, isCode } from '../../base/index.ts'
import { type Finding, isBelow, parentOfRaw, type RawPath, rawOfText } from '../../gate/index.ts'
import { counted, grouped } from './amount.ts'
import type { View } from './render.ts'
import { visible, visibleName, visiblePath } from './visible.ts'

/** `effect.undeclared`, what it says, the path and the detail. */
interface FindingWords {
  readonly code: string
  readonly says: string | null
  readonly where: string | null
}

/** Of one code at most so many directories are named. */
const DIRECTORIES_MAX = 5

export function findingWords({ code, path, detail }: Finding): FindingWords {
  const places = [
    ...(path === undefined ? [] : [visibleName(path)]),
    ...(detail === undefined || detail === '' ? [] : [visible(detail)]),
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
