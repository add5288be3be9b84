/**
 * Reads the sub-flows that a flow names, each relative to the file that names it, and puts them in.
 * A problem of the whole gets its place in the file that it was written in.
 */
import { dirname, join, resolve } from 'node:path'
import { FaultError, showName } from '../../base/index.ts'
import { type Flow, field } from '../../contracts/index.ts'
import { checkFlow, type FlowProblem, inlineFlows } from '../../flow/index.ts'
import { type PlacedProblem, type PlacedText, placedIn } from './problem.ts'

export interface WrittenDocument {
  readonly value: unknown
  readonly places: () => Promise<PlacedText | null>
}

/** A document as a file holds it. */
type ReadDocument = (file: string) => Promise<WrittenDocument>

interface WholeDocument {
  readonly value: unknown
  readonly violations: readonly PlacedProblem[]
  /** Places problems of the whole in the files that it is made of. */
  readonly place: (problems: readonly FlowProblem[]) => Promise<readonly PlacedProblem[]>
}

const DEPTH_MAX = 8

/** Returns the document with its sub-flows in place; as it is when it names none. */
export async function withSubflows(
  file: string,
  written: WrittenDocument,
  read: ReadDocument,
): Promise<WholeDocument> {
  const { part, value, violations } = await readParts(new FilePart(file, written), read, [])
  return { value, violations, place: (problems) => placeAll(part, value, problems) }
}

interface ReadParts {
  readonly part: FilePart
  readonly value: unknown
  readonly violations: readonly PlacedProblem[]
}

async function readParts(
  part: FilePart,
  read: ReadDocument,
  above: readonly string[],
): Promise<ReadParts> {
  const { file, value } = part
  const nodes = field(value, 'nodes')
  if (!Array.isArray(nodes) || !nodes.some((node) => typeof field(node, 'flow') === 'string'))
    return { part, value, violations: [] }
  const here = file === '-' ? process.cwd() : dirname(resolve(file))
  const children = new Map<string, Flow>()
  const violations: PlacedProblem[] = []
  for (const [index, node] of nodes.entries()) {
    const [named, id] = [field(node, 'flow'), field(node, 'node_id')]
    if (typeof named !== 'string' || typeof id !== 'string') continue
    const path = join(here, named)
    const refuse = async (message: string): Promise<void> => {
      const problem = { code: 'flow.subflow' as const, path: `/nodes/${index}/flow`, message }
      violations.push(...(await part.placed([problem])))
    }
    if (above.includes(path) || above.length >= DEPTH_MAX) {
      const words = `holds itself, or lies more than ${DEPTH_MAX} deep`
      await refuse(`the sub-flow ${showName(named)} ${words}`)
      continue
    }
    const document = await readOrReason(read, path)
    if (typeof document === 'string') {
      await refuse(`the sub-flow of ${showName(id)} cannot be read: ${document}`)
      continue
    }
    const inner = new FilePart(path, document)
    part.children.set(id, { index, part: inner })
    const child = await readParts(inner, read, [...above, path])
    const { violations: wrong } = checkFlow(child.value)
    violations.push(...child.violations, ...(await placeAll(inner, child.value, wrong)))
    // What is checked follows its contract.
    if (wrong.length === 0) children.set(id, child.value as Flow)
  }
  // The contract has not judged it yet; only nodes and edges are read, and what is wrong stays so.
  const alone = withoutFlows(value)
  const { violations: found } = checkFlow(alone)
  if (violations.length > 0)
    return { part, value: alone, violations: [...violations, ...(await part.placed(found))] }
  if (found.length > 0) return { part, value: alone, violations }
  // Without its sub-flows it follows its contract.
  const whole = inlineFlows(value as Flow, children)
  return { part, value: whole.flow, violations: await part.placed(whole.violations) }
}

/** Returns the document, or why it cannot be read. */
async function readOrReason(read: ReadDocument, file: string): Promise<WrittenDocument | string> {
  try {
    return await read(file)
  } catch (error) {
    if (error instanceof FaultError) return error.fault.message
    throw error
  }
}

type ListName = 'nodes' | 'edges'

const IDS = { nodes: 'node_id', edges: 'edge_id' } as const

interface Origin {
  readonly part: FilePart
  readonly path: string
  /** Whether the element itself is written there; otherwise the node that names the sub-flow. */
  readonly isOwn: boolean
}

/** One file of a flow, and the files that its nodes name. */
class FilePart {
  readonly file: string
  readonly value: unknown
  readonly #places: WrittenDocument['places']
  /** By the node that names the file. */
  readonly children = new Map<string, { readonly index: number; readonly part: FilePart }>()

  constructor(file: string, { value, places }: WrittenDocument) {
    this.file = file
    this.value = value
    this.#places = places
  }

  placed(problems: readonly FlowProblem[]): Promise<readonly PlacedProblem[]> {
    return placedIn(this.file, problems, this.#places)
  }

  /** Returns where a node or an edge of the whole is written; null if this file does not lead to it. */
  originOf(list: ListName, id: string): Origin | null {
    const written = field(this.value, list)
    const own = Array.isArray(written)
      ? written.findIndex((one) => field(one, IDS[list]) === id)
      : -1
    if (own !== -1) return { part: this, path: `/${list}/${own}`, isOwn: true }
    for (const [nodeId, { index, part }] of this.children) {
      if (!id.startsWith(`${nodeId}/`)) continue
      const inner = part.originOf(list, id.slice(nodeId.length + 1))
      return inner ?? { part: this, path: `/nodes/${index}/flow`, isOwn: false }
    }
    return null
  }
}

/** `value` is the whole that the pointers of the problems lead into. */
async function placeAll(
  part: FilePart,
  value: unknown,
  problems: readonly FlowProblem[],
): Promise<readonly PlacedProblem[]> {
  if (part.children.size === 0) return part.placed(problems)
  const placed: PlacedProblem[] = []
  for (const problem of problems) {
    const { origin, rest } = originAt(part, value, problem.path)
    const path = origin === null ? problem.path : `${origin.path}${origin.isOwn ? rest : ''}`
    placed.push(...(await (origin?.part ?? part).placed([{ ...problem, path }])))
  }
  return placed
}

function originAt(part: FilePart, value: unknown, path: string) {
  const [, list = '', index = '', rest = ''] = /^\/(nodes|edges)\/(\d+)(.*)$/.exec(path) ?? []
  if (list !== 'nodes' && list !== 'edges') return { origin: null, rest }
  const elements = field(value, list)
  const id = Array.isArray(elements) ? field(elements[Number(index)], IDS[list]) : null
  return { origin: typeof id === 'string' ? part.originOf(list, id) : null, rest }
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
