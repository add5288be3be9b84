/** The drawing of a run and the differences between versions of its artifacts, for its report. */
import { digestBytes } from '../../base/index.ts'
import {
  type ArtifactDiff,
  artifactsOf,
  drawingOf,
  type FlowFact,
  nodesOf,
  takenEdges,
  toSvg,
} from '../../flow/index.ts'
import type { WalkedRun } from '../../runs/index.ts'
import { diffLines } from '../effects/line-diff.ts'

const RESTING: ReadonlySet<string> = new Set(['idle', 'done', 'abandoned', 'rejected', 'failed'])
const DIFF_LINES_MAX = 400

/** Nodes where the run is, and edges that it took, are marked. */
export function runDrawing({ flow, state, facts }: WalkedRun): Promise<string> {
  const nodes = nodesOf(flow, state)
  const at = nodes.filter(({ status }) => !RESTING.has(status)).map(({ node_id }) => node_id)
  const captions = new Map(
    nodes.filter(({ status }) => status !== 'idle').map(({ node_id, status }) => [node_id, status]),
  )
  return toSvg(drawingOf(flow.document, { at, captions, taken: takenEdges(facts) }))
}

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
