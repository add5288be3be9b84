/**
 * What an action descriptor promises across its fields (G-1 to G-6), as far as the document alone
 * can show it. The table of codes is in `descriptor.ts`.
 */
import { type Code, isIsoMoment, show, showName } from '../../base/index.ts'
import { type Check, elements, field, isObject, type Subject } from '../kernel/contract.ts'
import type { Report } from '../kernel/violation.ts'
import { type Area, coversGlob, coversPath, hostPlace, hostRoot, readArea } from './area.ts'
import { EFFECT_KINDS } from './effects.ts'
import { type Glob, hasAnyDepth, newEffort, parseGlob } from './glob.ts'
import { pathFault, sayPathFault } from './path.ts'
import { parseHost } from './web-address.ts'

/** Action types that need a sandbox at every risk level (G-4). */
const SANDBOXED_ACTIONS: ReadonlySet<unknown> = new Set([
  'COMMAND_EXECUTION',
  'PACKAGE_INSTALL',
  'PACKAGE_REMOVE',
  'FILE_DELETE',
  'DIRECTORY_DELETE',
])

function checkCreatedAt({ document, report }: Subject): void {
  const createdAt = field(document, 'created_at')
  if (typeof createdAt !== 'string' || isIsoMoment(createdAt)) return
  report.add(
    'descriptor.created_at',
    '/created_at',
    `${show(createdAt, '')} is not an ISO 8601 date and time with an offset`,
    'such as `2026-11-15T08:00:00Z`',
  )
}

function checkIntent({ document, report }: Subject): void {
  const intent = field(document, 'intent_summary')
  if (typeof intent !== 'string' || intent === '' || intent.trim() !== '') return
  report.add('descriptor.intent', '/intent_summary', 'the summary of the intent is blank')
}

function checkScopePaths({ document, report }: Subject): void {
  const filesystem = field(field(document, 'scope'), 'filesystem')
  const recursive = field(filesystem, 'recursive') === true
  const paths = elements(field(filesystem, 'paths'))
  for (let index = 0; index < paths.length; index++) {
    const place = `/scope/filesystem/paths/${index}`
    const root = readGlob(paths[index], place, report)
    if (root === null) continue
    if (!root.isLiteral && !recursive) {
      const message = `the wildcard in ${show(root.text, place)} needs a recursive scope`
      report.add('descriptor.wildcard', place, message, 'set `recursive` to true')
    }
    const reached = hostRoot(root)
    if (reached !== null) addHostAccess(root, reached, place, report)
  }
}

function checkHosts({ document, report }: Subject): void {
  const network = field(field(document, 'scope'), 'network')
  const hosts = field(network, 'hosts')
  if (field(network, 'required') === true && isUnnamed(network, hosts)) {
    report.add(
      'descriptor.scope_implicit',
      '/scope/network/hosts',
      'a network is required, but no host is named',
    )
  }
  const names = elements(hosts)
  for (let index = 0; index < names.length; index++) {
    const name = names[index]
    if (typeof name === 'string') checkHost(name, `/scope/network/hosts/${index}`, report)
  }
}

function checkHost(name: string, place: string, report: Report): void {
  const isWildcard = name.includes('*')
  if (!isWildcard && parseHost(name) !== null) return
  report.add(
    isWildcard ? 'descriptor.wildcard' : 'descriptor.field_type',
    place,
    `${show(name, place)} is not one exact host name`,
    'lower case, no scheme and no path, such as `example.com` or `example.com:8443`',
  )
}

/** Returns whether the hosts are absent or empty. The schema reports a value of the wrong type. */
function isUnnamed(network: unknown, hosts: unknown): boolean {
  return isObject(network) && (hosts === undefined || (Array.isArray(hosts) && hosts.length === 0))
}

function checkEffectPaths({ document, report }: Subject): void {
  const scope = field(document, 'scope')
  const area = readArea(scope)
  const isFlat = field(field(scope, 'filesystem'), 'recursive') === false
  const filesystem = field(field(document, 'effects'), 'filesystem')
  const lists = EFFECT_KINDS.map((kind) => elements(field(filesystem, kind)))
  const effort = newEffort(characters(lists.flat(), area))
  for (const [place, text] of namedPlaces(lists)) {
    const glob = readGlob(text, place, report)
    if (glob === null) continue
    if (isFlat && hasAnyDepth(glob)) {
      const message = `${showName('**')} in ${show(glob.text, place)} needs a recursive scope`
      report.add('descriptor.wildcard', place, message, 'set `scope.filesystem.recursive` to true')
    }
    const reached = hostPlace(glob)
    if (reached !== null) addHostAccess(glob, reached, place, report)
    if (area === null || coversGlob(area, glob, effort)) continue
    report.add(
      'descriptor.effect_outside_scope',
      place,
      `the effect ${show(glob.text, place)} does not lie inside the scope`,
      describeArea(area),
    )
  }
}

function* namedPlaces(lists: readonly (readonly unknown[])[]): Iterable<[string, unknown]> {
  for (const [list, kind] of EFFECT_KINDS.entries()) {
    const texts = lists[list] ?? []
    for (let index = 0; index < texts.length; index++) {
      yield [`/effects/filesystem/${kind}/${index}`, texts[index]]
    }
  }
}

function characters(texts: readonly unknown[], area: Area | null): number {
  const roots = area?.roots.map(({ text }) => text) ?? []
  return [...texts, ...roots].reduce<number>(
    (sum, text) => sum + (typeof text === 'string' ? text.length : 0),
    0,
  )
}

/** Preconditions are probed on the machine, so they name exact paths inside the scope (G-9). */
function checkPreconditionPaths({ document, report }: Subject): void {
  const area = readArea(field(document, 'scope'))
  const paths = elements(field(field(document, 'preconditions'), 'paths_exist'))
  const effort = newEffort(characters(paths, area))
  for (let index = 0; index < paths.length; index++) {
    const place = `/preconditions/paths_exist/${index}`
    const path = readGlob(paths[index], place, report)
    if (path === null) continue
    if (!path.isLiteral) {
      const message = `the precondition ${show(path.text, place)} is not one exact path`
      report.add('descriptor.wildcard', place, message)
    }
    const reached = hostPlace(path)
    if (reached !== null) addHostAccess(path, reached, place, report)
    if (area === null || coversPath(area, path.text, effort)) continue
    report.add(
      'descriptor.scope_implicit',
      place,
      `the precondition looks at ${show(path.text, place)}, which the scope does not name`,
      describeArea(area),
    )
  }
}

/** Reads a path or glob and reports what is wrong with its form. */
function readGlob(text: unknown, place: string, report: Report): Glob | null {
  if (typeof text !== 'string') return null
  const fault = pathFault(text)
  if (fault !== null) {
    report.add(`descriptor.${fault}` satisfies Code, place, sayPathFault(fault, show(text, place)))
    return null
  }
  const glob = parseGlob(text)
  if (glob === null) {
    const message = `the pattern ${show(text, place)} is too long, or has \`**\` next to other letters`
    report.add('descriptor.wildcard', place, message)
  }
  return glob
}

function addHostAccess(glob: Glob, reached: string, place: string, report: Report): void {
  report.add(
    'descriptor.host_access',
    place,
    `${show(glob.text, place)} reaches for the host: ${reached}`,
  )
}

function describeArea(area: Area): string | null {
  const [first] = area.roots
  if (first === undefined) return 'the scope names no path'
  const more = area.roots.length > 1 ? `, and ${area.roots.length - 1} more` : ''
  return `the scope is ${showName(first.text)}${area.recursive ? '' : ', not recursive'}${more}`
}

function checkNetwork({ document, report }: Subject): void {
  const inScope = field(field(field(document, 'scope'), 'network'), 'required')
  const inEffects = field(field(document, 'effects'), 'network')
  if (inEffects === true && inScope === false) {
    report.add(
      'descriptor.effect_outside_scope',
      '/effects/network',
      'a network effect is declared, but the scope requires no network',
    )
  }
  if (field(field(document, 'sandbox'), 'allow_network') !== true) return
  if (inScope === true && inEffects === true) return
  report.add(
    'descriptor.sandbox_network',
    '/sandbox/allow_network',
    'the sandbox may have a network only if scope and effects declare one',
  )
}

function checkSandboxRequired({ document, report }: Subject): void {
  if (field(field(document, 'sandbox'), 'required') !== false) return
  const reason = sandboxReason(document)
  if (reason === null) return
  report.add(
    'descriptor.sandbox_required',
    '/sandbox/required',
    `a sandbox is mandatory: ${reason}`,
    'set `sandbox.required` to true',
  )
}

function sandboxReason(document: unknown): string | null {
  const risk = field(document, 'risk_level')
  if (risk === 'HIGH' || risk === 'CRITICAL') return `the risk is ${showName(risk)}`
  const action = field(document, 'action_type')
  if (SANDBOXED_ACTIONS.has(action)) return `the action is ${showName(String(action))}`
  const deletes = elements(field(field(field(document, 'effects'), 'filesystem'), 'delete'))
  return deletes.length > 0 ? 'something is deleted' : null
}

function checkSystemState({ document, report }: Subject): void {
  if (field(field(document, 'effects'), 'system_state_change') !== true) return
  report.add(
    'descriptor.system_state',
    '/effects/system_state_change',
    'services, users, kernel and clock can be neither staged nor undone',
  )
}

function checkConfirmationReason({ document, report }: Subject): void {
  const confirmation = field(document, 'confirmation')
  const reason = field(confirmation, 'reason')
  if (field(confirmation, 'required') !== true || typeof reason !== 'string') return
  if (reason.trim() !== '') return
  report.add(
    'descriptor.confirmation_reason',
    '/confirmation/reason',
    'a confirmation is required, but the reason is empty',
  )
}

export const DESCRIPTOR_CHECKS: readonly Check[] = [
  checkCreatedAt,
  checkIntent,
  checkScopePaths,
  checkHosts,
  checkEffectPaths,
  checkPreconditionPaths,
  checkNetwork,
  checkSandboxRequired,
  checkSystemState,
  checkConfirmationReason,
]
