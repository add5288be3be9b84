/**
 * A flow with every class of edge, whose participants are shell scripts, so that it can be walked often:
 * a loop that is gone once, a rollback that undoes a promoted file, a decision, a join, a remark, an
 * exception out of a node that fails, a gate. A human is asked for everything that a human can be asked
 * for: input, whether to try again, evidence, to work and to judge. `person.ts` is who answers.
 */
import type { Flow, FlowNode } from '../../src/contracts/index.ts'
import type { RunPlace } from './place.ts'

/** What `left` needs before it works. */
export const NEEDED = 'inputs/left.txt'
/** What `joined` claims: a person who gave a node its input gives no evidence about it. */
export const CLAIMING = 'joined'
export const CLAIM = 'claim-of-joined'

/** Answers with an artifact; one operation through descriptor 3 first. */
const WORK = `read -r input
node=$1; shift
attempt=$(printf %s "$input" | sed 's/.*"attempt":\\([0-9]*\\).*/\\1/')
printf '{"operation":{"type":"COMMAND_EXECUTION","argv":["true"],"cwd":"%s"}}\\n' "$PWD" >&3
read -r decided <&3
echo "$node $attempt" > "made-by-$node.txt"
printf '{"result_type":"ARTIFACT","artifact":{"name":"out","format":"md","content":"%s %s"}}\\n' "$node" "$attempt"
`

/** Approves from the second attempt on, so that each reviewed work is improved once. */
const REVIEW = `read -r input
id=$(printf %s "$input" | sed 's/.*"review_id":"\\([^"]*\\)".*/\\1/')
digest=$(printf %s "$input" | sed 's/.*"artifact_digest":"\\([^"]*\\)".*/\\1/')
path=$(printf %s "$input" | sed 's/.*"path":"\\([^"]*\\)".*/\\1/')
if grep -q ' 1$' "$path"; then score=40; else score=95; fi
printf '{"review_id":"%s","artifact_digest":"%s","total_score":%s,"action_required":"MODIFY","summary":"s","breakdown":[],"suggestions":[]}\\n' "$id" "$digest" "$score"
`

/** Works when what it needs is there. */
const ASK = `if [ -e ${NEEDED} ]; then
  sh work.sh left
else
  read -r input
  printf '{"result_type":"NEEDS_INPUT","needs_input":{"required_docs":[{"name":"n","description":"d","accepted_types":["txt"],"suggested_path":"${NEEDED}"}]}}\\n'
fi
`

/** Fails until a human lets it try again, and claims something then. */
const RELENT = `read -r input
case $input in
  *'"attempt":1,'*) printf '%s\\n' "$input" | sh fail.sh ;;
  *) printf '%s\\n' "$input" | sh work.sh ${CLAIMING} |
    sed 's/}}$/},"claims":[{"claim_id":"${CLAIM}","trust_level":"external_unverified"}]}/' ;;
esac
`

const FAIL = `read -r input
printf '{"result_type":"ERROR","error":{"code":"x","message":"y"}}\\n'
`

export function writeScripts(place: RunPlace): void {
  place.write('work.sh', WORK)
  place.write('review.sh', REVIEW)
  place.write('fail.sh', FAIL)
  place.write('ask.sh', ASK)
  place.write('relent.sh', RELENT)
  place.write('flow.json', JSON.stringify(everyEdge()))
}

function work(node_id: string, phase_id: string, more: Partial<FlowNode> = {}): FlowNode {
  const executor = { command: ['sh', 'work.sh', node_id] }
  return {
    node_id,
    kind: 'WORK',
    title: '',
    phase_id,
    actor: 'w',
    executor,
    max_attempts: 4,
    ...more,
  }
}

function goal(node_id: string, phase_id: string): FlowNode {
  return { node_id, kind: 'GOAL', title: '', phase_id, actor: 'd', max_attempts: 4 }
}

export function everyEdge(): Flow {
  // It is open, and the work may leave its files all the same.
  const reviewer: NonNullable<FlowNode['reviewer']> = {
    command: ['sh', 'review.sh'],
    runs_work: true,
  }
  const check = { kind: 'CHECK', title: '', actor: 'v', reviewer, max_attempts: 6 } as const
  const countersign = {
    node_id: 'countersign',
    phase_id: 'P5',
    subphase_id: '5A',
    target: 'sign',
    reviewer: { human: true },
  } as const
  return {
    type: 'flow_v1',
    flow_id: 'every-edge',
    title: 'Every class of edge',
    state: { fields: { wanted: { type: 'string', initial: 'left' } } },
    nodes: [
      work('draft', 'P1', { subphase_id: '1A' }),
      { ...check, node_id: 'review', phase_id: 'P1', subphase_id: '1A', target: 'draft' },
      work('build', 'P2'),
      work('fragile', 'P2', { executor: { command: ['sh', 'fail.sh'] }, max_attempts: 1 }),
      work('mend', 'P2'),
      work('left', 'P3', { executor: { command: ['sh', 'ask.sh'] } }),
      work('right', 'P3'),
      work('joined', 'P4', { executor: { command: ['sh', 'relent.sh'] }, max_attempts: 1 }),
      work('sign', 'P5', { executor: { human: true }, subphase_id: '5A' }),
      { ...check, ...countersign },
      goal('done', 'P6'),
    ],
    edges: [
      { edge_id: 'progress', source: 'draft', target: 'review', class: 'Progress' },
      {
        edge_id: 'loop',
        source: 'review',
        target: 'draft',
        class: 'Loop',
        guard_expr: "state.validator_verdict == 'REJECT'",
      },
      { edge_id: 'gate', source: 'review', target: 'build', class: 'Gate' },
      { edge_id: 'on', source: 'build', target: 'fragile', class: 'Progress' },
      { edge_id: 'unhurt', source: 'fragile', target: 'done', class: 'Progress' },
      { edge_id: 'exception', source: 'fragile', target: 'mend', class: 'Exception' },
      {
        edge_id: 'rollback',
        source: 'mend',
        target: 'build',
        class: 'Rollback',
        guard_expr: 'state.attempt_count <= 7',
        guard_scope: 'global',
      },
      {
        edge_id: 'choose-left',
        source: 'mend',
        target: 'left',
        class: 'Decision',
        guard_expr: "state.wanted == 'left'",
      },
      {
        edge_id: 'choose-right',
        source: 'mend',
        target: 'right',
        class: 'Decision',
        guard_expr: "state.wanted == 'right'",
      },
      { edge_id: 'sync', source: 'left', target: 'joined', class: 'Sync', join: 'OR' },
      { edge_id: 'sync-too', source: 'right', target: 'joined', class: 'Sync', join: 'OR' },
      {
        edge_id: 'handed',
        source: 'joined',
        target: 'sign',
        class: 'Progress',
        trust_requirement: 'independent_verification_required',
      },
      { edge_id: 'shown', source: 'sign', target: 'countersign', class: 'Progress' },
      {
        edge_id: 'again',
        source: 'countersign',
        target: 'sign',
        class: 'Loop',
        guard_expr: "state.validator_verdict == 'REJECT'",
      },
      { edge_id: 'end', source: 'countersign', target: 'done', class: 'Gate' },
      { edge_id: 'remark', source: 'done', target: 'draft', class: 'Meta' },
    ],
  }
}
