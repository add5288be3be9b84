/**
 * What the parts of a flow say about one another: ids that stand once, edges that end somewhere,
 * checks that judge work, references that lead somewhere. Linear in the size of the flow; broken
 * parts are passed over.
 */
import { at, showName } from '../../base/index.ts'
import { elements, field, type Subject } from '../kernel/contract.ts'
import type { Report } from '../kernel/violation.ts'
import { BUILT_IN_INVARIANTS, DEFAULT_TEXT_POLICIES } from './vocabulary.ts'

/** Lists whose elements have ids; lists in one row share their names. */
const ID_LISTS: readonly (readonly [id: string, lists: readonly string[]])[] = [
  ['node_id', ['nodes']],
  ['edge_id', ['edges']],
  ['policy_id', ['policies', 'text_policies']],
  ['invariant_id', ['invariants']],
  ['claim_id', ['claims']],
]

export function checkUniqueIds({ document, report }: Subject): void {
  for (const [id, lists] of ID_LISTS) {
    const seen = new Set<string>()
    for (const list of lists) {
      const items = elements(document[list])
      for (let index = 0; index < items.length; index++) {
        const name = field(items[index], id)
        if (typeof name === 'string') reportRepeat(seen, name, `/${list}/${index}/${id}`, report)
      }
    }
  }
}

/** Reports `name` at `path` when it was seen before, and remembers it. */
export function reportRepeat(seen: Set<string>, name: string, path: string, report: Report): void {
  if (seen.has(name)) {
    report.add('flow.duplicate_id', path, `the id ${showName(name)} is used twice`)
  }
  seen.add(name)
}

/** The string under `key` of every element of a list, without what is no string. */
function idsIn(list: unknown, key: string): Set<string> {
  const ids = new Set<string>()
  for (const item of elements(list)) {
    const id = field(item, key)
    if (typeof id === 'string') ids.add(id)
  }
  return ids
}

/** Reports a string that is none of `known`; anything else is the structure's to report. */
function reportUnknown(
  value: unknown,
  path: string,
  what: string,
  known: ReadonlySet<string>,
  report: Report,
): void {
  if (typeof value !== 'string' || known.has(value)) return
  report.add(
    'flow.unknown_ref',
    path,
    `there is no ${what} ${showName(value)}`,
    report.guess(value, known),
  )
}

export function checkEdgeEnds({ document, report }: Subject): void {
  const nodes = idsIn(document['nodes'], 'node_id')
  const edges = elements(document['edges'])
  for (let index = 0; index < edges.length; index++) {
    for (const end of ['source', 'target']) {
      reportUnknown(field(edges[index], end), `/edges/${index}/${end}`, 'node', nodes, report)
    }
  }
}

/** A CHECK judges a WORK node that exists; nothing else judges. */
export function checkTargets({ document, report }: Subject): void {
  const nodes = elements(document['nodes'])
  if (!nodes.some((node) => field(node, 'target') !== undefined)) return
  const ids = idsIn(nodes, 'node_id')
  const kinds = new Map(nodes.map((node) => [field(node, 'node_id'), field(node, 'kind')]))
  for (let index = 0; index < nodes.length; index++) {
    const target = field(nodes[index], 'target')
    if (typeof target !== 'string') continue
    const path = `/nodes/${index}/target`
    reportTargetOfOther(field(nodes[index], 'kind'), path, report)
    reportUnknown(target, path, 'node', ids, report)
    reportTargetKind(target, kinds.get(target), path, report)
  }
}

/** What a node is given comes from a node that exists, and each under a name of its own. */
export function checkInputs({ document, report }: Subject): void {
  const nodes = elements(document['nodes'])
  if (!nodes.some((node) => field(node, 'inputs') !== undefined)) return
  const ids = idsIn(nodes, 'node_id')
  for (let index = 0; index < nodes.length; index++) {
    const names = new Set<string>()
    const inputs = elements(field(nodes[index], 'inputs'))
    for (let place = 0; place < inputs.length; place++) {
      const path = `/nodes/${index}/inputs/${place}`
      reportUnknown(field(inputs[place], 'from'), `${path}/from`, 'node', ids, report)
      const name = field(inputs[place], 'as')
      if (typeof name === 'string') reportRepeat(names, name, `${path}/as`, report)
    }
  }
}

export function reportTargetOfOther(kind: unknown, path: string, report: Report): void {
  if (kind !== 'WORK' && kind !== 'GOAL') return
  report.add('flow.target', path, `a ${showName(kind)} node judges nothing, only a CHECK does`)
}

export function reportTargetKind(
  target: string,
  kind: unknown,
  path: string,
  report: Report,
): void {
  if (kind !== 'CHECK' && kind !== 'GOAL') return
  report.add('flow.target', path, `${showName(target)} is a ${kind} node, and only WORK is judged`)
}

/** Whether a node waits for all its Sync sources or for one has to be one answer. */
export function checkJoins({ document, report }: Subject): void {
  const joins = new Map<unknown, unknown>()
  const edges = elements(document['edges'])
  for (let index = 0; index < edges.length; index++) {
    const edge = edges[index]
    const join = field(edge, 'join')
    if (field(edge, 'class') !== 'Sync' || (join !== 'AND' && join !== 'OR')) continue
    const target = field(edge, 'target')
    const before = joins.get(target) ?? join
    joins.set(target, before)
    if (before === join) continue
    report.add(
      'flow.join_mixed',
      `/edges/${index}/join`,
      `${showName(String(target))} is joined by ${before} before and by ${join} here`,
    )
  }
}

export function checkRefs({ document, report }: Subject): void {
  const policies = knownPolicies(document)
  const invariants = idsIn(document['invariants'], 'invariant_id')
  for (const id of BUILT_IN_INVARIANTS) invariants.add(id)
  const edges = elements(document['edges'])
  for (let index = 0; index < edges.length; index++) {
    const path = `/edges/${index}`
    reportUnknownRefs(edges[index], path, 'policy_refs', 'policy', policies, report)
    reportUnknownRefs(edges[index], path, 'audit_invariant_refs', 'invariant', invariants, report)
  }
}

/** Every policy that can be named: declared ones, and those that are on in every flow. */
export function knownPolicies(document: Subject['document']): Set<string> {
  return new Set([
    ...idsIn(document['policies'], 'policy_id'),
    ...idsIn(document['text_policies'], 'policy_id'),
    ...DEFAULT_TEXT_POLICIES,
    ...BUILT_IN_INVARIANTS,
  ])
}

export function reportUnknownRefs(
  item: unknown,
  path: string,
  key: string,
  what: string,
  known: ReadonlySet<string>,
  report: Report,
): void {
  const refs = elements(field(item, key))
  for (let index = 0; index < refs.length; index++) {
    reportUnknown(refs[index], at(at(path, key), index), what, known, report)
  }
}

export function checkClaimNodes({ document, report }: Subject): void {
  const claims = elements(document['claims'])
  if (claims.length === 0) return
  const nodes = idsIn(document['nodes'], 'node_id')
  for (let index = 0; index < claims.length; index++) {
    const node = field(claims[index], 'node_id')
    reportUnknown(node, `/claims/${index}/node_id`, 'node', nodes, report)
  }
}
