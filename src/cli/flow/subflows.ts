/** Reads the sub-flows that a flow names, each relative to the file that names it, and puts them in. */
import { dirname, join, resolve } from 'node:path'
import { FaultError, showName } from '../../base/index.ts'
import { type Flow, field } from '../../contracts/index.ts'
import { checkFlow, inlineFlows } from '../../flow/index.ts'
import type { PlacedProblem } from './problem.ts'

/** A document as a file holds it. */
type ReadDocument = (file: string) => Promise<unknown>

interface WholeDocument {
  readonly value: unknown
  readonly violations: readonly PlacedProblem[]
}

const DEPTH_MAX = 8

/** Returns the document with its sub-flows in place; as it is when it names none. */
export async function withSubflows(
  file: string,
  value: unknown,
  read: ReadDocument,
  above: readonly string[] = [],
): Promise<WholeDocument> {
  const nodes = field(value, 'nodes')
  if (!Array.isArray(nodes) || !nodes.some((node) => typeof field(node, 'flow') === 'string'))
    return { value, violations: [] }
  const here = file === '-' ? process.cwd() : dirname(resolve(file))
  const children = new Map<string, Flow>()
  const violations: PlacedProblem[] = []
  for (const [index, node] of nodes.entries()) {
    const [named, id] = [field(node, 'flow'), field(node, 'node_id')]
    if (typeof named !== 'string' || typeof id !== 'string') continue
    const path = join(here, named)
    const place = { code: 'flow.subflow' as const, path: `/nodes/${index}/flow`, file }
    if (above.includes(path) || above.length >= DEPTH_MAX) {
      const message = `the sub-flow ${showName(named)} holds itself, or lies more than ${DEPTH_MAX} deep`
      violations.push({ ...place, message })
      continue
    }
    const document = await readAt(path, read)
    if (document instanceof FaultError) {
      const message = `the sub-flow of ${showName(id)} cannot be read: ${document.fault.message}`
      violations.push({ ...place, message })
      continue
    }
    const child = await withSubflows(path, document, read, [...above, path])
    const { violations: wrong } = checkFlow(child.value)
    violations.push(...child.violations, ...wrong.map((one) => ({ ...one, file: path })))
    // What is checked follows its contract.
    if (wrong.length === 0) children.set(id, child.value as Flow)
  }
  // The contract has not judged it yet; only nodes and edges are read, and what is wrong stays so.
  const { violations: found } = checkFlow(withoutFlows(value))
  if (violations.length > 0 || found.length > 0) return { value: withoutFlows(value), violations }
  const whole = inlineFlows(value as Flow, children)
  return { value: whole.flow, violations: whole.violations.map((one) => ({ ...one, file })) }
}

/** The document, or why its file cannot be read. */
async function readAt(path: string, read: ReadDocument): Promise<unknown> {
  try {
    return await read(path)
  } catch (error) {
    if (error instanceof FaultError) return error
    throw error
  }
}

/** The document as if its nodes named no sub-flows, to be judged by itself. */
function withoutFlows(value: unknown): unknown {
  // The caller has looked: there is a list of nodes.
  const document = value as { readonly nodes: readonly Record<string, unknown>[] }
  const nodes = document.nodes.map(({ flow, flow_digest: _, map, ...node }) =>
    flow === undefined && map !== undefined ? { ...node, map } : node,
  )
  return { ...document, nodes }
}
