/**
 * A list that was read changes the flow that a run is walked by: its items take the place of the mapped
 * node. The same flow and list give the same compiled flow, which is kept as long as the first one is.
 */
import { canonicalJson } from '../../base/index.ts'
import { type ListFault, listFault } from '../../contracts/index.ts'
import { type KnownList, layOut } from '../map/lay-out.ts'
import { compileFlow } from './compile.ts'
import type { CompiledFlow, CompiledMap } from './compiled-flow.ts'

type Spread =
  | { readonly ok: true; readonly flow: CompiledFlow }
  | { readonly ok: false; readonly fault: ListFault }

const made = new WeakMap<CompiledFlow, Map<string, Spread>>()

/** Returns the map whose list a node reads; null if it reads none. */
export function mapAt({ maps }: CompiledFlow, begin: number): CompiledMap | null {
  return maps.find((map) => map.begin === begin) ?? null
}

export function spreadList(
  flow: CompiledFlow,
  rules: number,
  map: CompiledMap,
  items: readonly unknown[],
): Spread {
  const fault = listFault(items, map.document.max)
  if (fault !== null) return { ok: false, fault }
  const known = made.get(flow) ?? new Map<string, Spread>()
  made.set(flow, known)
  const key = canonicalJson([map.nodeId, rules, items])
  const spread = known.get(key) ?? compileSpread(flow, rules, map, items)
  known.set(key, spread)
  return spread
}

function compileSpread(
  flow: CompiledFlow,
  rules: number,
  { nodeId }: CompiledMap,
  items: readonly unknown[],
): Spread {
  const before = flow.lists.get(nodeId)
  const list: KnownList = {
    count: items.length,
    // Items of an earlier list keep their nodes, which facts name.
    items: [...items, ...(before?.items.slice(items.length) ?? [])],
  }
  if (before !== undefined && canonicalJson(before) === canonicalJson(list))
    return { ok: true, flow }
  const lists = new Map(flow.lists).set(nodeId, list)
  const { fault, collision } = layOut(flow.base, lists, rules)
  const refused = fault ?? (rules >= 4 ? collision : null)
  if (refused !== null) return { ok: false, fault: refused.fault }
  const compilation = compileFlow(flow.base, rules, lists)
  if (compilation.ok) return { ok: true, flow: compilation.flow }
  const [first] = compilation.faults
  const message = `an expression does not compile: ${first?.message ?? ''}`
  return { ok: false, fault: { problem: 'item_field', index: null, message } }
}
