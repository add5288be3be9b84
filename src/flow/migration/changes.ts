/** What differs between two versions of a flow, part by part, for a person to look at. */
import { canonicalJson } from '../../base/index.ts'
import type { Flow } from '../../contracts/index.ts'

export interface FlowChange {
  readonly change: 'added' | 'removed' | 'changed'
  /** Such as `node`, `edge` or `budgets`. */
  readonly part: string
  /** Empty for a part that is there once. */
  readonly id: string
  /** The fields that differ. */
  readonly fields: readonly string[]
  /** Every field that differs, is added or is removed, with both values. */
  readonly values: readonly FieldChange[]
}

interface FieldChange {
  /** Empty for a part that is one value. */
  readonly field: string
  /** Absent where there is none. */
  readonly before?: unknown
  readonly after?: unknown
}

const LISTS = [
  ['node', 'nodes', 'node_id'],
  ['edge', 'edges', 'edge_id'],
  ['policy', 'policies', 'policy_id'],
  ['text policy', 'text_policies', 'policy_id'],
  ['invariant', 'invariants', 'invariant_id'],
  ['claim', 'claims', 'claim_id'],
] as const

const WHOLE = ['title', 'goal', 'constraints', 'access_rules', 'budgets', 'table'] as const

export function changesBetween(before: Flow, after: Flow): readonly FlowChange[] {
  const lists = LISTS.flatMap(([part, list, key]) =>
    changesIn(part, byId(before[list], key), byId(after[list], key)),
  )
  const fields = changesIn(
    'state field',
    new Map(Object.entries(before.state?.fields ?? {})),
    new Map(Object.entries(after.state?.fields ?? {})),
  )
  const whole = WHOLE.filter((part) => !isSame(before[part], after[part])).map(
    (part): FlowChange => {
      const values = [valueChange('', before[part], after[part])]
      return { change: 'changed', part, id: '', fields: [], values }
    },
  )
  return [...lists, ...fields, ...whole]
}

type Part = Readonly<Record<string, unknown>>

function byId(list: readonly object[] | undefined, key: string): ReadonlyMap<string, Part> {
  // Parts of a flow are objects with an id, by its contract.
  const parts = (list ?? []) as readonly Part[]
  return new Map(parts.map((part) => [String(part[key]), part]))
}

function changesIn(
  part: string,
  before: ReadonlyMap<string, Part>,
  after: ReadonlyMap<string, Part>,
): readonly FlowChange[] {
  const changes: FlowChange[] = []
  for (const [id, old] of before) {
    const now = after.get(id)
    const fields = now === undefined ? [] : fieldsOf(old, now)
    const values = valuesOf(old, now ?? {})
    if (now === undefined) changes.push({ change: 'removed', part, id, fields, values })
    else if (fields.length > 0) changes.push({ change: 'changed', part, id, fields, values })
  }
  for (const [id, now] of after)
    if (!before.has(id))
      changes.push({ change: 'added', part, id, fields: [], values: valuesOf({}, now) })
  return changes
}

function valuesOf(before: Part, after: Part): readonly FieldChange[] {
  return fieldsOf(before, after).map((name) => valueChange(name, before[name], after[name]))
}

function valueChange(field: string, before: unknown, after: unknown): FieldChange {
  return {
    field,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  }
}

/** The fields in which two parts differ. */
export function fieldsOf(before: object, after: object): readonly string[] {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))]
  return [...new Set([...old.keys(), ...now.keys()])].filter(
    (name) => !isSame(old.get(name), now.get(name)),
  )
}

function isSame(one: unknown, other: unknown): boolean {
  if (one === undefined || other === undefined) return one === other
  return canonicalJson(one) === canonicalJson(other)
}
