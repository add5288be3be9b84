/** The drawing of a run and the differences between versions of its artifacts, for its report. */
import { CODES, digestBytes } from '../../base/index.ts'
import {
  type ArtifactDiff,
  artifactsOf,
  type CompiledFlow,
  type DrawingOptions,
  type DrawnProblem,
  drawingOf,
  type FlowFact,
  nodesOf,
  stopsOf,
  takenEdges,
  toSvg,
} from '../../flow/index.ts'
import type { WalkedRun } from '../../runs/index.ts'
import { diffLines } from '../effects/line-diff.ts'

/** A node of such a state is not where the run is. */
const AT_REST: ReadonlySet<string> = new Set(['idle', 'done', 'abandoned', 'resting'])
const DIFF_LINES_MAX = 400

export function runDrawing(walked: WalkedRun): Promise<string> {
  return toSvg(drawingOf(walked.flow.document, runMarks(walked)))
}

/** Marks the nodes where the run is, what was found on the way, and the edges that it took. */
export function runMarks(walked: WalkedRun): DrawingOptions {
  const { flow, state, facts } = walked
  const stops = stopsOf(walked)
  const nodes = nodesOf(flow, state, stops)
  const captions = new Map(
    nodes.flatMap(({ node_id, status, attempts }) => {
      if (status === 'idle') return []
      return [[node_id, attempts > 1 ? `${status}, ${attempts} attempts` : status] as const]
    }),
  )
  const stopped = stops.flatMap(({ node_id }) => node_id ?? [])
  const under = nodes.filter(({ status }) => !AT_REST.has(status)).map(({ node_id }) => node_id)
  // Work that others judge is open, and the run is where it stops.
  const at = walked.status === 'RUNNING' || stopped.length === 0 ? under : stopped
  return { at, captions, problems: foundOnTheWay(flow, facts), taken: takenEdges(facts) }
}

/** Findings of a run at their nodes and edges; each code once a place. */
function foundOnTheWay(flow: CompiledFlow, facts: readonly FlowFact[]): readonly DrawnProblem[] {
  const problems = new Map<string, DrawnProblem>()
  for (const { type, payload } of facts) {
    if (type !== 'flow_finding_v1') continue
    const { code, node_id, edge_id, action } = payload
    const edge = edge_id === undefined ? undefined : flow.edgeById.get(edge_id)?.index
    const node = node_id === undefined ? undefined : flow.nodeIndex.get(node_id)
    const path = edge !== undefined ? `/edges/${edge}` : node !== undefined ? `/nodes/${node}` : ''
    const level = STOPPING.has(action) ? 'error' : 'warning'
    problems.set(`${code} ${path}`, { level, code, path, message: CODES[code].says })
  }
  return [...problems.values()]
}

const STOPPING: ReadonlySet<string> = new Set(['block', 'reject', 'refuse', 'escalate'])

/** Of each artifact, every version against the one before it; without those that are not kept. */
export function artifactDiffs({ flow, facts }: WalkedRun): readonly ArtifactDiff[] {
  const contents = contentsByDigest(facts)
  return artifactsOf(flow, facts).flatMap(({ versions }) =>
    versions.slice(1).flatMap(({ node_id, path, seq, digest }, index) => {
      const [before, after] = [contents.get(versions[index]?.digest ?? ''), contents.get(digest)]
      if (before === undefined || after === undefined) return []
      const lines = diffLines(before, after).hunks.flatMap((hunk) =>
        hunk.lines.map(({ sign, text }) => `${sign}${text}`),
      )
      const left = lines.length - DIFF_LINES_MAX
      const shown = left > 0 ? [...lines.slice(0, DIFF_LINES_MAX), `… ${left} more lines`] : lines
      return [{ node_id, path, seq, lines: shown }]
    }),
  )
}

/** What participants answered, whole, by the digest of its contents. */
export function contentsByDigest(facts: readonly FlowFact[]): ReadonlyMap<string, string> {
  const contents = new Map<string, string>()
  for (const { type, payload } of facts) {
    if (type !== 'participant_output_v1' || payload.answer?.kind !== 'action') continue
    const { document } = payload.answer
    if (document.result_type !== 'ARTIFACT') continue
    const { content } = document.artifact
    contents.set(digestBytes(content), content)
  }
  return contents
}
