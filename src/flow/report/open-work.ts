/** Work that may change the whole workspace while a program there judges it. */
import type { Flow, Participant } from '../../contracts/index.ts'

export interface OpenWork {
  readonly node_id: string
  /** The CHECK whose reviewer is a program. */
  readonly check_id: string
}

/**
 * Returns the WORK nodes without `writes` that a command judges: by `target`, or because they call it. Nothing
 * runs at a node without an executor, so it changes no file.
 */
export function openWorkOf({ nodes, edges }: Pick<Flow, 'nodes' | 'edges'>): readonly OpenWork[] {
  const judges = nodes.filter(({ kind, reviewer }) => kind === 'CHECK' && isProgram(reviewer))
  return nodes.flatMap(({ node_id, kind, executor, writes }) => {
    if (kind !== 'WORK' || executor === undefined || writes !== undefined) return []
    const judge = judges.find(({ node_id: check, target, call }) =>
      target === undefined && call === true
        ? edges.some((edge) => edge.source === node_id && edge.target === check)
        : target === node_id,
    )
    return judge === undefined ? [] : [{ node_id, check_id: judge.node_id }]
  })
}

function isProgram(participant: Participant | undefined): boolean {
  if (participant === undefined) return false
  return 'command' in participant || ('mcp' in participant && Array.isArray(participant.mcp))
}
