/**
 * Versions of work that CHECK nodes have rejected, and when one of them may be judged once more: after a person
 * has moved the run to a version of its flow in which something else judges.
 */
import { digestDocument } from '../../base/index.ts'
import type { Flow, FlowNode } from '../../contracts/index.ts'
import type { RunDraft } from './draft.ts'
import type { EventOf, RunOrigin } from './event.ts'

type Programs = ReadonlyMap<string, readonly string[]>

/** Returns the digests of programs by the participant that names them. */
export function programsOf({ programs = [] }: Pick<RunOrigin, 'programs'>): Programs {
  const byParticipant = new Map<string, string[]>()
  for (const { participant, digest } of programs) {
    const known = byParticipant.get(participant)
    if (known === undefined) byParticipant.set(participant, [digest])
    else known.push(digest)
  }
  return byParticipant
}

/**
 * Forgets what was rejected by a reviewer that is not the same after a migration: another declaration, another
 * program, or another file that is not the program of an executor. The REJECT itself holds until an APPROVE.
 */
export function forgetRejections(draft: RunDraft, event: EventOf<'migrated'>): void {
  const after = new Set(judgesOf(event.flow.nodes, programsOf(event)))
  const isOther = isJudgeFileChanged(event)
  draft.run.flow.nodes.forEach(({ index, checks }) => {
    if (draft.nodes.get(index).work.rejected.length === 0) return
    const called = draft.run.flow.callNodes.map(({ node }) => node)
    const judges = [...checks, ...called].map((check) => draft.nodeOf(check).document)
    const before = judgesOf(judges, draft.run.programs)
    if (isOther || before.some((judge) => !after.has(judge)))
      draft.patchWork(index, { rejected: [], isUnplaced: true })
  })
}

/** Names each reviewer of CHECK nodes with the programs that it runs. */
function judgesOf(nodes: readonly FlowNode[], programs: Programs): readonly string[] {
  return nodes.flatMap(({ kind, reviewer }) => {
    if (kind !== 'CHECK' || reviewer === undefined) return []
    const digest = digestDocument(reviewer)
    return [[digest, ...(programs.get(digest) ?? [])].join(' ')]
  })
}

/** Returns whether the person agreed to another file that no executor alone runs: a module or rules of a reviewer. */
function isJudgeFileChanged({
  flow,
  programs = [],
  changed_programs: changed = [],
}: EventOf<'migrated'>): boolean {
  const judges = new Set(participantsOf(flow, 'reviewer'))
  const works = programs.flatMap(({ participant, path }) => (judges.has(participant) ? [] : [path]))
  return changed.some(({ path }) => !works.includes(path))
}

function participantsOf({ nodes }: Flow, role: 'executor' | 'reviewer'): readonly string[] {
  return nodes.flatMap((node) => (node[role] === undefined ? [] : [digestDocument(node[role])]))
}
