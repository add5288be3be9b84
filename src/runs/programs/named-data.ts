/**
 * What stages may change while a reviewer is open: files that a person's flow names (a number may count them),
 * and the artifact of the attempt under a name that no runner collects. Data by its ending alone is not
 * enough: pytest runs the examples in each `test*.txt`, and other tools have names of their own.
 */
import type { Flow } from '../../contracts/index.ts'
import { artifactPath, type ParsedAnswer, RUN_ARTIFACTS } from '../../flow/index.ts'

/** What artifacts may be called: plain words that no tool looks for. Another name is replaced by the first. */
export const ARTIFACT_STEMS: readonly string[] = [
  ...['artifact', 'out', 'output', 'result', 'results', 'report', 'answer', 'draft', 'summary'],
]
const NAMED_IN_LIST = /\{item(?:\.[^{}.]+)*\}/
const RENAMED = 'artifact.name: under an open reviewer the host names the artifact'

/** Paths that a flow names without a wildcard, where the run has them; of items only the number counts. */
export function namedData({ nodes, edges }: Flow, folder: string): readonly string[] {
  const named = nodes.flatMap(({ writes = [], required_files = [] }) => [
    ...writes,
    ...required_files,
  ])
  const sources = edges.flatMap(({ guard_evidence_source: source }) =>
    source === undefined ? [] : [source.slice(0, source.lastIndexOf(':'))],
  )
  const plain = [...named, ...sources].filter(
    (path) => !path.includes('*') && !path.includes('{X}') && !NAMED_IN_LIST.test(path),
  )
  return [...new Set(plain.map((path) => ownName(path.replaceAll('{count}', '{index}'), folder)))]
}

/** `artifacts/NODE/…` means the folder of the run. */
function ownName(path: string, folder: string): string {
  const isOfNode = path.startsWith('artifacts/') && !RUN_ARTIFACTS.test(path)
  return isOfNode ? `${folder}${path.slice('artifacts'.length)}` : path
}

export interface ArtifactPlace {
  readonly folder: string
  readonly nodeId: string
  readonly attempt: number
}

/** An answer whose artifact has a name that a runner may collect gets the host's; `named` may stay. */
export function plainlyNamed(
  parsed: ParsedAnswer,
  place: ArtifactPlace,
  named: readonly string[],
): ParsedAnswer {
  const { answer } = parsed
  if (answer?.kind !== 'action' || answer.document.result_type !== 'ARTIFACT') return parsed
  const { artifact } = answer.document
  const path = artifactPath(place, artifact)
  if (ARTIFACT_STEMS.includes(artifact.name) || path === null || named.includes(path)) return parsed
  const [name = ''] = ARTIFACT_STEMS
  const document = { ...answer.document, artifact: { ...artifact, name } }
  return { ...parsed, answer: { ...answer, document }, repairs: [...parsed.repairs, RENAMED] }
}
