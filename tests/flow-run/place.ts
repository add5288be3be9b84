/** A workspace with a home and a ledger for runs, and participants that are real processes. */
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Flow, FlowNode } from '../../src/contracts/index.ts'
import { type CompiledFlow, compileFlow } from '../../src/flow/index.ts'
import type { FlowHost } from '../../src/host/flow/flow-host.ts'
import { SYSTEM_CLOCK } from '../../src/host/index.ts'
import { createLedger, type Ledger, openLedger } from '../../src/host/ledger/ledger.ts'
import { PlainAttempts } from './plain-attempts.ts'

export const ANN = { kind: 'human', id: 'ann', namespace: 'local' } as const

export class RunPlace {
  readonly folder: string
  readonly workspace: string
  readonly state: string
  readonly attempts: PlainAttempts
  ledger!: Ledger

  constructor(name: string, folder?: string) {
    this.folder = folder ?? realpathSync(mkdtempSync(join(tmpdir(), `writ-flow-run-${name}-`)))
    this.workspace = join(this.folder, 'work')
    this.state = join(this.folder, 'state')
    mkdirSync(join(this.workspace, '.writ'), { recursive: true })
    this.attempts = new PlainAttempts(join(this.folder, 'gate'), this.workspace)
  }

  async make(): Promise<this> {
    await createLedger({ directory: this.state }, 'writ/test', { principal: ANN, source: 'test' })
    return this.open()
  }

  async open(writer: 'inline' | 'thread' = 'inline'): Promise<this> {
    this.ledger = await openLedger({ directory: this.state, writer })
    return this
  }

  host(more: Partial<FlowHost> = {}): FlowHost {
    return {
      home: { directory: join(this.workspace, '.writ'), state: this.state },
      ledger: this.ledger,
      stream: 'main',
      principal: ANN,
      attempts: this.attempts,
      rollback: (actionId) => this.attempts.rollback(actionId),
      confirm: async () => ({ kind: 'wait' }),
      environment: process.env,
      clock: SYSTEM_CLOCK,
      ...more,
    }
  }

  write(path: string, text: string): string {
    const file = join(this.workspace, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return file
  }

  read(path: string): string {
    return readFileSync(join(this.workspace, path), 'utf8')
  }

  async remove(): Promise<void> {
    await this.ledger?.close()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export function compiledFlow(document: Flow): CompiledFlow {
  const compilation = compileFlow(document)
  if (!compilation.ok) throw new Error(JSON.stringify(compilation.faults))
  return compilation.flow
}

/** Reads its input, may use descriptor 3, answers with what `body` makes of the input. */
export function script(body: string): string {
  return `import { readFileSync, writeSync, readSync, writeFileSync, mkdirSync, existsSync, appendFileSync } from 'node:fs'
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

/** An executor that uses one tool and gives one artifact. */
export const WORKER = script(`
ask({ type: 'LOOK' })
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
