/** Flows, and the programs that take part in them as real processes. */
import type { Flow, FlowNode } from '../../src/contracts/index.ts'
import { type CompiledFlow, compileFlow } from '../../src/flow/index.ts'

export function compiledFlow(document: Flow): CompiledFlow {
  const compilation = compileFlow(document)
  if (!compilation.ok) throw new Error(JSON.stringify(compilation.faults))
  return compilation.flow
}

/** Reads its input, may use descriptor 3, answers with what `body` makes of the input. */
export function script(body: string): string {
  return `import { readFileSync, writeSync, readSync, writeFileSync, mkdirSync, existsSync, readdirSync } from 'node:fs'
const input = JSON.parse(readFileSync(0, 'utf8'))
function ask(operation) {
  writeSync(3, JSON.stringify({ operation }) + '\\n')
  const part = Buffer.alloc(1 << 16)
  let text = ''
  while (!text.includes('\\n')) {
    try { text += part.toString('utf8', 0, readSync(3, part)) }
    catch (error) { if (error.code !== 'EAGAIN') throw error }
  }
  return JSON.parse(text)
}
function answer(document) { console.log(JSON.stringify(document)) }
${body}
`
}

/** One operation through the channel, as every honest worker has. */
export const TOOL = `ask({ type: 'COMMAND_EXECUTION', argv: ['true'], cwd: process.cwd() })\n`

/** An executor that uses one tool and gives one artifact. */
export const WORKER = script(`${TOOL}
answer({ task_id: input.node.node_id, result_type: 'ARTIFACT',
  artifact: { name: 'out', format: 'md', content: 'by ' + input.node.node_id + ', attempt ' + input.attempt } })
`)

/** A reviewer that approves from the second version on. */
export const REVIEWER = script(`
const text = readFileSync(input.artifact.path, 'utf8')
const isGood = !text.includes('attempt 1')
answer({ review_id: input.review_id, artifact_digest: input.artifact.digest, total_score: isGood ? 95 : 40,
  action_required: isGood ? 'APPROVE' : 'MODIFY', summary: 'read', breakdown: [],
  suggestions: isGood ? [] : [{ priority: 'HIGH', change: 'more', steps: ['write more'], acceptance_criteria: 'it is more' }] })
`)

/** Nodes without participants: steps and facts, and nothing else. */
export function chain(length: number): Flow {
  const nodes = Array.from(
    { length },
    (_, index): FlowNode => ({
      node_id: `n${index}`,
      kind: 'WORK',
      title: '',
      phase_id: `P${index % 3}`,
      actor: 'a',
      max_attempts: 1,
    }),
  )
  const edges = nodes.slice(1).map((node, index) => ({
    edge_id: `e${index}`,
    source: `n${index}`,
    target: node.node_id,
    class: 'Progress' as const,
  }))
  return { type: 'flow_v1', flow_id: 'chain', title: '', nodes, edges }
}

/** One that works, one that judges it, and a goal. */
export function smallFlow(
  more: Partial<Flow> = {},
  work: Partial<Flow['nodes'][number]> = {},
): Flow {
  const writer = { command: ['node', 'worker.mjs'] }
  const validator = { command: ['node', 'reviewer.mjs'] }
  const draft = { node_id: 'draft', kind: 'WORK' as const, title: 'Draft', phase_id: 'P1' }
  const review = { node_id: 'review', kind: 'CHECK' as const, title: 'Review', phase_id: 'P1' }
  const done = { node_id: 'done', kind: 'GOAL' as const, title: 'Done', phase_id: 'P2' }
  return {
    type: 'flow_v1',
    flow_id: 'small',
    title: 'Small',
    nodes: [
      { ...draft, actor: 'writer', executor: writer, max_attempts: 3, ...work },
      {
        ...review,
        actor: 'validator',
        reviewer: validator,
        target: 'draft',
        max_attempts: 4,
      },
      { ...done, actor: 'director', max_attempts: 1 },
    ],
    edges: [
      { edge_id: 'E1', source: 'draft', target: 'review', class: 'Progress' },
      { edge_id: 'E2', source: 'review', target: 'done', class: 'Gate' },
    ],
    ...more,
  }
}
