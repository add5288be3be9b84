/** What a sandbox result may not contradict in itself: times, outcome, diff, compliance. */
import { at, isIsoMoment, parseIsoMomentMs, show, showName } from '../../base/index.ts'
import { type Check, elements, field, isObject, type Subject } from '../kernel/contract.ts'
import type { Report } from '../kernel/violation.ts'
import { pathFault } from './path.ts'
import { isBase64 } from './shapes.ts'

const INLINE_ENTRIES_MAX = 200
const LISTS = ['added', 'modified', 'deleted'] as const

function checkTimes({ document, report }: Subject): void {
  const execution = field(document, 'execution')
  for (const name of ['started_at', 'ended_at']) {
    const moment = field(execution, name)
    if (typeof moment !== 'string' || isIsoMoment(moment)) continue
    const place = `/execution/${name}`
    const message = `${show(moment, place)} is not an ISO 8601 date and time with an offset`
    report.add('sandbox_result.moment', place, message)
  }
  const start = momentMs(field(execution, 'started_at'))
  const end = momentMs(field(execution, 'ended_at'))
  if (start === null || end === null || start <= end) return
  const message = 'the execution starts after its end'
  report.add('sandbox_result.time_order', '/execution/started_at', message)
}

function momentMs(value: unknown): number | null {
  return typeof value === 'string' ? parseIsoMomentMs(value) : null
}

function checkOutcome({ document, report }: Subject): void {
  const execution = field(document, 'execution')
  const status = field(execution, 'status')
  const exitCode = field(execution, 'exit_code')
  const signal = field(execution, 'signal')
  const killedBy = field(execution, 'killed_by')
  const add = (name: string, message: string): void =>
    report.add('sandbox_result.outcome', `/execution/${name}`, message)
  if (typeof exitCode === 'number' && typeof signal === 'string') {
    add('signal', 'a process ends with an exit code or by a signal, not both')
  }
  // An operation that is no process has no exit code.
  if (status === 'SUCCESS' && typeof exitCode === 'number' && exitCode !== 0) {
    add('exit_code', `a success does not exit with ${show(exitCode, '')}`)
  }
  if (status === 'SUCCESS' && typeof signal === 'string') {
    add('signal', `a success does not end by ${show(signal, '')}`)
  }
  if (status === 'FAILURE' && exitCode === 0) add('exit_code', 'a failure does not exit with 0')
  if (status === 'RESOURCE_KILLED' && isObject(execution) && killedBy === undefined) {
    add('killed_by', 'a run that was killed names the cap that it passed')
  }
  if (killedBy === undefined || typeof status !== 'string') return
  if (status === 'TIMEOUT' ? killedBy !== 'duration' : status !== 'RESOURCE_KILLED') {
    add('killed_by', `${show(killedBy, '')} does not fit the status ${showName(status)}`)
  }
}

function checkCounts({ document, report }: Subject): void {
  const diff = field(document, 'diff')
  const lengths = LISTS.map((name) => elements(field(diff, name)).length)
  const counts = LISTS.map((name) => field(field(diff, 'counts'), name))
  const inline = lengths.reduce((sum, length) => sum + length, 0)
  if (inline > INLINE_ENTRIES_MAX) {
    const message = `${inline} entries are listed, more than ${INLINE_ENTRIES_MAX}`
    report.add('sandbox_result.counts', '/diff', message)
  }
  if (!counts.every((count) => typeof count === 'number')) return
  const total = counts.reduce((sum, count) => sum + count, 0)
  for (const [index, name] of LISTS.entries()) {
    const length = lengths[index] ?? 0
    const count = counts[index] ?? 0
    // Only a diff that does not fit may be cut.
    if (length === count || (length < count && total > INLINE_ENTRIES_MAX)) continue
    report.add(
      'sandbox_result.counts',
      `/diff/counts/${name}`,
      `${show(count, '')} ${name} entries are counted, ${length} are listed`,
    )
  }
}

function checkEntries({ document, report }: Subject): void {
  const diff = field(document, 'diff')
  const unread = unreadPaths(document)
  for (const list of LISTS) {
    for (const [index, entry] of elements(field(diff, list)).entries()) {
      const place = `/diff/${list}/${index}`
      checkEntryPath(entry, place, report)
      checkEntryDigests(entry, list, place, report, unread.has(field(entry, 'path')))
    }
  }
}

/** Returns the paths that the host could not record in full. Such a result is never promoted. */
function unreadPaths(document: unknown): ReadonlySet<unknown> {
  const paths = new Set<unknown>()
  for (const finding of elements(field(document, 'findings'))) {
    if (field(finding, 'code') === 'diff.unsupported') paths.add(field(finding, 'path'))
  }
  return paths
}

function checkEntryPath(entry: unknown, place: string, report: Report): void {
  const path = field(entry, 'path')
  const encoded = field(entry, 'path_base64')
  if (typeof encoded === 'string') {
    if (isBase64(encoded) && encoded !== '') return
    const message = 'the bytes of the path are not base64 with its padding'
    return report.add('sandbox_result.base64', at(place, 'path_base64'), message)
  }
  if (typeof path !== 'string' || pathFault(path) === null) return
  const shown = show(path, place)
  report.add('sandbox_result.path', at(place, 'path'), `${shown} is not absolute and normal`)
}

/** Checks that an entry has a digest for each side that is a file, and none for other sides. */
function checkEntryDigests(
  entry: unknown,
  list: (typeof LISTS)[number],
  place: string,
  report: Report,
  isUnread: boolean,
): void {
  if (!isObject(entry)) return
  const kind = field(entry, 'kind')
  const add = (name: string, message: string): void =>
    report.add('sandbox_result.entry', at(place, name), message)
  const has = (name: string): boolean => Object.hasOwn(entry, name)
  if (list === 'added' && has('before')) add('before', 'what was added was not there before')
  if (list === 'deleted' && has('after')) add('after', 'what was deleted is not there afterwards')
  const wanted = list === 'deleted' ? 'before' : 'after'
  if (kind === 'file' && !has(wanted) && !isUnread)
    add(wanted, 'a file is identified by the digest of its bytes')
  if (kind === 'symlink' && !has('target')) add('target', 'a symbolic link leads somewhere')
  if (typeof kind === 'string' && kind !== 'symlink' && has('target')) {
    add('target', `a ${showName(kind)} leads nowhere`)
  }
}

/** What each claim of compliance excludes. */
const CONTRADICTIONS = [
  { claim: 'effects_declared', finding: 'effect.undeclared' },
  { claim: 'within_scope', finding: 'effect.out_of_scope' },
] as const

function checkCompliance({ document, report }: Subject): void {
  const compliance = field(document, 'compliance')
  const codes = new Set(elements(field(document, 'findings')).map((found) => field(found, 'code')))
  for (const { claim, finding } of CONTRADICTIONS) {
    if (field(compliance, claim) !== true || !codes.has(finding)) continue
    const message = `a finding says ${showName(finding)}`
    report.add('sandbox_result.compliance', `/compliance/${claim}`, message)
  }
  const status = field(field(document, 'execution'), 'status')
  if (field(compliance, 'within_resources') !== true) return
  if (status !== 'RESOURCE_KILLED' && status !== 'TIMEOUT') return
  const message = `the run ended as ${showName(status)}`
  report.add('sandbox_result.compliance', '/compliance/within_resources', message)
}

export const SANDBOX_RESULT_CHECKS: readonly Check[] = [
  checkTimes,
  checkOutcome,
  checkCounts,
  checkEntries,
  checkCompliance,
]
