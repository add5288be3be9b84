/**
 * A child of a composite stays inside its parent (G-7): its scope inside the parent's scope, its
 * effects inside the parent's effects, and the resources of all children together inside the
 * parent's. Where a part of either cannot be read, its own contract has said so and nothing is said
 * here.
 */
import { show, showName } from '../../base/index.ts'
import { elements, field } from '../kernel/contract.ts'
import type { Report } from '../kernel/violation.ts'
import { type Area, coversRoot, readArea } from './area.ts'
import { type DeclaredEffects, declaresGlob, EFFECT_KINDS, readEffects } from './effects.ts'
import { type Effort, newEffort, parseGlob } from './glob.ts'

const CAPS = ['max_cpu_ms', 'max_memory_mb', 'max_disk_mb', 'max_duration_ms'] as const

/** What a parent grants; `spent` adds up over its children in order. */
export interface ParentContext {
  readonly descriptor: unknown
  readonly area: Area | null
  readonly effects: DeclaredEffects
  readonly hosts: ReadonlySet<unknown>
  readonly spent: Map<string, number>
}

export function childContext(descriptor: unknown): ParentContext {
  const scope = field(descriptor, 'scope')
  return {
    descriptor,
    area: readArea(scope),
    effects: readEffects(field(descriptor, 'effects')),
    hosts: new Set(elements(field(field(scope, 'network'), 'hosts'))),
    spent: new Map(),
  }
}

/** Judges one child's descriptor; called once per child, in order. */
export function checkChild(
  child: unknown,
  place: string,
  parent: ParentContext,
  report: Report,
): void {
  const effort = newEffort(characters(child))
  checkArea(child, place, parent, effort, report)
  checkEffects(child, place, parent, effort, report)
  checkFlags(child, place, parent, report)
  checkHosts(child, place, parent, report)
  checkResources(child, place, parent, report)
}

/** The length of what a child declares, in proportion to which it may be looked at. */
function characters(child: unknown): number {
  const effects = field(field(child, 'effects'), 'filesystem')
  const lists = [
    field(field(field(child, 'scope'), 'filesystem'), 'paths'),
    ...EFFECT_KINDS.map((kind) => field(effects, kind)),
  ]
  return lists
    .flatMap(elements)
    .reduce<number>((sum, text) => sum + (typeof text === 'string' ? text.length : 0), 0)
}

function checkArea(
  child: unknown,
  place: string,
  { area }: ParentContext,
  effort: Effort,
  report: Report,
): void {
  const inner = readArea(field(child, 'scope'))
  if (area === null || inner === null) return
  for (const [index, root] of inner.roots.entries()) {
    if (coversRoot(area, root, inner.recursive, effort)) continue
    const path = `${place}/scope/filesystem/paths/${index}`
    const message = `${show(root.text, path)} does not lie wholly inside the scope of the composite`
    report.add('descriptor.composite_child', path, message)
  }
}

function checkEffects(
  child: unknown,
  place: string,
  { descriptor, effects }: ParentContext,
  effort: Effort,
  report: Report,
): void {
  const outer = field(field(descriptor, 'effects'), 'filesystem')
  const inner = field(field(child, 'effects'), 'filesystem')
  for (const kind of EFFECT_KINDS) {
    if (!Array.isArray(field(outer, kind))) continue
    for (const [index, text] of elements(field(inner, kind)).entries()) {
      const glob = typeof text === 'string' ? parseGlob(text) : null
      if (glob === null || declaresGlob(effects, kind, glob, effort)) continue
      const path = `${place}/effects/filesystem/${kind}/${index}`
      const message = `the composite does not declare to ${kind} ${show(glob.text, path)}`
      report.add('descriptor.composite_child', path, message)
    }
  }
}

/** What a child needs and its parent expressly does not. */
const FLAGS = [
  ['scope', 'network', 'required'],
  ['scope', 'ui', 'required'],
  ['effects', 'network'],
] as const

function checkFlags(child: unknown, place: string, parent: ParentContext, report: Report): void {
  for (const steps of FLAGS) {
    const inner = steps.reduce<unknown>(field, child)
    const outer = steps.reduce<unknown>(field, parent.descriptor)
    if (inner !== true || outer !== false) continue
    report.add(
      'descriptor.composite_child',
      `${place}/${steps.join('/')}`,
      `the child declares ${showName(steps.join('.'))}, the composite does not`,
    )
  }
}

function checkHosts(child: unknown, place: string, parent: ParentContext, report: Report): void {
  const outer = field(field(parent.descriptor, 'scope'), 'network')
  const inner = field(field(child, 'scope'), 'network')
  if (field(outer, 'required') !== true || field(inner, 'required') !== true) return
  for (const [index, host] of elements(field(inner, 'hosts')).entries()) {
    if (typeof host !== 'string' || parent.hosts.has(host)) continue
    // A host without a port means ports 80 and 443.
    if (parent.hosts.has(host.replace(/:(?:80|443)$/, ''))) continue
    const path = `${place}/scope/network/hosts/${index}`
    const message = `the composite does not name the host ${show(host, path)}`
    report.add('descriptor.composite_child', path, message)
  }
}

/** Reports the child whose share first takes the sum over the parent's limit. */
function checkResources(
  child: unknown,
  place: string,
  { descriptor, spent }: ParentContext,
  report: Report,
): void {
  for (const cap of CAPS) {
    const share = field(field(child, 'resources'), cap)
    const limit = field(field(descriptor, 'resources'), cap)
    if (!isCap(share) || !isCap(limit)) continue
    const before = spent.get(cap) ?? 0
    spent.set(cap, before + share)
    if (before > limit || before + share <= limit) continue
    const path = `${place}/resources/${cap}`
    const sum = `the children need ${before + share} together`
    report.add('descriptor.composite_child', path, `${sum}, the composite has ${show(limit, path)}`)
  }
}

function isCap(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0
}
