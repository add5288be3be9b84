/** Findings of a rehearsal in words: what the code means, where, and what was seen. */

import { CODES, isCode } from '../../base/index.ts'
import type { Finding } from '../../gate/index.ts'
import { visible, visibleName } from './visible.ts'

/** `effect.undeclared`, what it says, the path and the detail. */
interface FindingWords {
  readonly code: string
  readonly says: string | null
  readonly where: string | null
}

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
