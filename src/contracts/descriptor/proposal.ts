/**
 * `proposal_v1`: a descriptor with the operation it speaks of, or, for a composite, with the
 * proposals it consists of (G-7). Descriptor and operation are judged by their own contracts, with
 * their own codes; here is what holds between the parts.
 */
import * as Type from 'typebox'
import {
  at,
  type Code,
  type Digest,
  DOCUMENT_LIMITS,
  digestDocument,
  show,
  showName,
} from '../../base/index.ts'
import {
  type Check,
  type Contract,
  elements,
  field,
  isObject,
  type Subject,
} from '../kernel/contract.ts'
import { Report } from '../kernel/violation.ts'
import { type Area, coversPath, hostPlace, readArea } from './area.ts'
import { checkChild, childContext, type ParentContext } from './composite-checks.ts'
import { type ActionDescriptor, ActionDescriptorSchema } from './descriptor.ts'
import { DESCRIPTOR_CHECKS } from './descriptor-checks.ts'
import { findDetachments } from './detachment.ts'
import { newEffort, parseGlob } from './glob.ts'
import { OPERATION_DEFINITIONS, type Operation } from './operation.ts'
import { OPERATION_CHECKS } from './operation-checks.ts'
import { operationAddresses, operationChain, operationPaths } from './operation-places.ts'
import { closed } from './shapes.ts'
import { namesAddress, parseWebAddress } from './web-address.ts'

const ProposalBody = Type.Object(
  {
    descriptor: ActionDescriptorSchema,
    operation: Type.Optional(Type.Ref('#/$defs/Operation')),
    children: Type.Optional(Type.Array(Type.Ref('#/$defs/Proposal'))),
  },
  { ...closed, 'x-prefix': 'proposal' },
)

const ProposalSchema = Type.Ref('#/$defs/Proposal', {
  $defs: { ...OPERATION_DEFINITIONS, Proposal: ProposalBody },
})

/** The static type of a reference is unknown, so the recursion is said here. */
export interface Proposal {
  readonly descriptor: ActionDescriptor
  readonly operation?: Operation
  readonly children?: readonly Proposal[]
}

export const proposalContract: Contract = {
  name: 'proposal_v1',
  title: 'A descriptor with the operation it speaks of, or with the proposals it consists of.',
  prefix: 'proposal',
  schema: ProposalSchema,
  checks: [checkProposal],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}

const NESTING_MAX = 8
const COMPOSITE = 'MULTI_STEP_COMPOSITE'

/** One proposal of the tree. */
interface Node {
  readonly place: string
  readonly proposal: unknown
  readonly descriptor: unknown
  readonly operation: unknown
  readonly subject: Subject
}

/**
 * What holds between the parts of a proposal (G-7): the operation is of the declared type and stays
 * inside the scope, and composites are made of children that stay inside their parent. The tree is
 * walked once; its depth is bounded by the guard.
 */
function checkProposal(subject: Subject): void {
  const ids = new Map<string, string>()
  visit(subject.document, '', 1, null, ids, subject)
}

/** Judges one proposal and then its children; `level` counts composites from the outermost. */
function visit(
  proposal: unknown,
  place: string,
  level: number,
  parent: ParentContext | null,
  ids: Map<string, string>,
  subject: Subject,
): void {
  if (!isObject(proposal)) return
  const descriptor = field(proposal, 'descriptor')
  const operation = field(proposal, 'operation')
  const node: Node = { place, proposal, descriptor, operation, subject }
  runChecks(DESCRIPTOR_CHECKS, descriptor, `${place}/descriptor`, subject)
  runChecks(OPERATION_CHECKS, operation, `${place}/operation`, subject)
  checkChoice(node)
  checkOperationType(node)
  checkOperationScope(node)
  checkDetachments(node)
  checkId(node, ids)
  if (parent !== null) checkChild(descriptor, `${place}/descriptor`, parent, subject.report)
  const children = elements(field(proposal, 'children'))
  if (children.length === 0) return
  if (level === NESTING_MAX + 1) {
    const message = `composites nest more than ${NESTING_MAX} deep`
    subject.report.add('descriptor.composite_depth', `${place}/children`, message)
  }
  const context = childContext(descriptor)
  for (const [index, child] of children.entries()) {
    visit(child, `${place}/children/${index}`, level + 1, context, ids, subject)
  }
}

function runChecks(
  checks: readonly Check[],
  part: unknown,
  place: string,
  { context, report, sound }: Subject,
): void {
  if (!isObject(part)) return
  const inner = new Report()
  for (const check of checks) check({ document: part, context, report: inner, sound })
  for (const { code, path, message, hint } of inner.finish().violations) {
    report.add(code, `${place}${path}`, message, hint)
  }
}

/** A composite has children, every other action has an operation. */
function checkChoice({ proposal, descriptor, place, subject: { report } }: Node): void {
  const isComposite = field(descriptor, 'action_type') === COMPOSITE
  const [wanted, other] = isComposite ? ['children', 'operation'] : ['operation', 'children']
  const found = field(proposal, wanted)
  if (isComposite && (found === undefined || (Array.isArray(found) && found.length === 0))) {
    const message = 'a composite has at least one child'
    report.add('descriptor.composite_empty', at(place, 'children'), message)
  } else if (found === undefined) {
    report.add('proposal.required', at(place, wanted), `the field ${showName(wanted)} is missing`)
  }
  if (field(proposal, other) === undefined) return
  report.add(
    'proposal.choice',
    at(place, other),
    isComposite
      ? 'a composite has children and no operation of its own'
      : `only a ${showName(COMPOSITE)} has children`,
  )
}

function checkOperationType({ descriptor, operation, place, subject: { report } }: Node): void {
  const action = field(descriptor, 'action_type')
  const type = field(operation, 'type')
  if (typeof action !== 'string' || typeof type !== 'string' || action === type) return
  report.add(
    'descriptor.operation_type',
    `${place}/operation/type`,
    `the operation is a ${show(type, '')}, the descriptor speaks of a ${show(action, '')}`,
  )
}

function checkOperationScope({ descriptor, operation, place, subject: { report } }: Node): void {
  const scope = field(descriptor, 'scope')
  const area = readArea(scope)
  const hosts = readHosts(scope)
  const needsUi = field(field(scope, 'ui'), 'required')
  for (const link of operationChain(operation)) {
    const parent = `${place}/operation${link.place}`
    checkPaths(link.operation, parent, area, report)
    if (hosts !== null) checkAddresses(link.operation, parent, hosts, report)
    if (field(link.operation, 'type') !== 'UI_AUTOMATION' || needsUi !== false) continue
    const message = 'a user interface is driven, but the scope requires none'
    report.add('descriptor.operation_scope', `${parent}/type`, message)
  }
}

/** A path that cannot be shown to lie inside the scope does not. */
function checkPaths(operation: unknown, parent: string, area: Area | null, report: Report): void {
  const paths = operationPaths(operation)
  const effort = newEffort(paths.reduce((sum, { text }) => sum + text.length, 0))
  for (const { place: step, text } of paths) {
    const place = `${parent}${step}`
    const glob = parseGlob(text)
    const reached = glob === null ? null : hostPlace(glob)
    if (reached !== null) {
      const message = `${show(text, place)} reaches for the host: ${reached}`
      report.add('descriptor.host_access', place, message)
    }
    if (area === null || coversPath(area, text, effort)) continue
    const message = `${show(text, place)} does not lie inside the scope`
    report.add('descriptor.operation_scope', place, message)
  }
}

function checkAddresses(
  operation: unknown,
  parent: string,
  hosts: ReadonlySet<string>,
  report: Report,
): void {
  for (const { place: step, text } of operationAddresses(operation)) {
    const address = parseWebAddress(text)
    if (address !== null && namesAddress(hosts, address)) continue
    const host = address === null ? 'the address' : showName(`${address.host}:${address.port}`)
    report.add(
      'descriptor.operation_scope',
      `${parent}${step}`,
      `${host} is not among the hosts of the scope`,
    )
  }
}

/** The hosts that a scope names; null when it cannot be read. */
function readHosts(scope: unknown): ReadonlySet<string> | null {
  const network = field(scope, 'network')
  const required = field(network, 'required')
  if (typeof required !== 'boolean') return null
  const hosts = required ? elements(field(network, 'hosts')) : []
  return new Set(hosts.filter((host) => typeof host === 'string'))
}

function checkDetachments({ operation, place, subject: { report } }: Node): void {
  for (const link of operationChain(operation)) {
    for (const { kind, place: step, words } of findDetachments(link.operation)) {
      report.add(
        `descriptor.${kind}` satisfies Code,
        `${place}/operation${link.place}${step}`,
        kind === 'background'
          ? `${showName(words)} leaves something running after the operation`
          : `${showName(words)} installs something that starts by itself`,
      )
    }
  }
}

/** Every action id of a composite is used once; UUIDs are compared without case. */
function checkId({ descriptor, place, subject: { report } }: Node, ids: Map<string, string>): void {
  const id = field(descriptor, 'action_id')
  if (typeof id !== 'string') return
  const first = ids.get(id.toLowerCase())
  if (first === undefined) {
    ids.set(id.toLowerCase(), place)
    return
  }
  report.add(
    'descriptor.composite_child',
    `${place}/descriptor/action_id`,
    `the action id ${show(id, '')} is already that of ${first === '' ? 'the composite itself' : showName(first)}`,
  )
}

/**
 * The intent of a proposal (G-18): two proposals that want the same have the same intent. Ids, times
 * and wording are no part of it. The intent of a composite holds the intents of its children. The
 * document whose digest is the intent.
 */
export function intentOf(proposal: Proposal): Readonly<Record<string, unknown>> {
  const { action_type, scope, effects } = proposal.descriptor
  if (proposal.children !== undefined) {
    return { action_type, scope, effects, children: proposal.children.map(intentOf) }
  }
  return { action_type, scope, effects, operation: proposal.operation }
}

export function intentDigest(proposal: Proposal): Digest {
  return digestDocument(intentOf(proposal))
}
