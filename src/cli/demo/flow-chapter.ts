/**
 * Chapter of the tour: two programs walk a flow. The executor is careless, the reviewer rejects it, the
 * second version is approved and only then promoted. A third program reaches for a file that is
 * forbidden to it. Everything is real: processes, a sandbox, a ledger.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { invariant } from '../../base/index.ts'
import type { Flow } from '../../contracts/index.ts'
import { compileFlow, type RunReport, reportOf } from '../../flow/index.ts'
import { MAIN_STREAM } from '../../ledger/index.ts'
import { SYSTEM_CLOCK } from '../../machine/index.ts'
import { type FlowHost, startRun, type WalkedRun } from '../../runs/index.ts'
import { ANN, type Chapter, type DemoOutput, inShop, type Shop } from './demo-output.ts'

export const flowChapter: Chapter = {
  title: 'Flows: agents that can only walk by the rules',
  async play(stage) {
    try {
      await inShop(FILES, async (shop) => playRun(stage, await hostOf(shop), shop.project))
    } catch (error) {
      if (!isFault(error, 'sandbox.control_missing')) throw error
      stage.answer(stage.paint.dim('not played: this machine lacks a control of the sandbox'))
      stage.say('`writ doctor` tells which, and how to get it.')
    }
  },
}

async function hostOf({ home, ledger, around, gateOf }: Shop): Promise<FlowHost> {
  const gate = await gateOf(ANN)
  return {
    home,
    ledger,
    stream: MAIN_STREAM,
    principal: ANN,
    namespace: ANN.namespace,
    attempts: gate.attempts,
    rollback: (actionId) => gate.rollback({ actionId }, { dryRun: false }),
    confirm: async () => ({ kind: 'wait' }),
    environment: around.env,
    clock: SYSTEM_CLOCK,
    isHalted: () => gate.isHalted(),
  }
}

async function playRun(stage: DemoOutput, host: FlowHost, workspace: string): Promise<void> {
  stage.say('A writer drafts, a validator judges, a director closes the book unread.')
  stage.command('writ flow run paper.yaml')
  const compilation = compileFlow(FLOW)
  invariant(compilation.ok, 'the flow of the tour compiles')
  const run = await startRun(host, {
    flow: compilation.flow,
    workspace,
    participantsDigest: null,
  })
  const report = reportOf(run.flow, run.facts, run.state)
  stage.expect(run.status === 'DONE', `the run is done, and not ${run.status}`)
  stage.answer(story(run, report).join('\n'))
  const closing = readFileSync(join(workspace, run.state.artifacts, 'close/1/note.md'), 'utf8')
  stage.expect(/E[A-Z]+/.test(closing), 'the director cannot read the draft')
  stage.say('The director’s process was shown no draft at all; its note says what it found:')
  stage.answer(closing.trim())
  stage.expect(
    report.log.every(({ logged_seq, ended_seq }) => (logged_seq ?? -1) > ended_seq),
    'the log was written after every phase',
  )
  stage.say('After each phase the orchestration log was written before anything else happened.')
}

function story({ status }: WalkedRun, { reviews, phases, log }: RunReport): readonly string[] {
  const verdicts = reviews.map((review) => {
    // The report lists events of the kind `reviewed`, which have both fields.
    const { verdict, score } = review as { readonly verdict: string; readonly score: number }
    return `  review  ${verdict} (${score})`
  })
  const floors = phases
    .filter(({ minimum_duration }) => minimum_duration > 0)
    .map(
      ({ phase_id, cumulative_duration: took, minimum_duration: floor }) =>
        `  phase   ${phase_id} took ${took.toFixed(1)} s, its floor is ${floor} s`,
    )
  return [status, ...verdicts, ...floors, `  log     written ${log.length} times`]
}

const CHANNEL = `import { readFileSync, readSync, writeSync } from 'node:fs'
const input = JSON.parse(readFileSync(0, 'utf8'))
function propose(operation) {
  writeSync(3, JSON.stringify({ operation }) + '\\n')
  const part = Buffer.alloc(65536)
  let text = ''
  while (!text.includes('\\n')) {
    try { text += part.toString('utf8', 0, readSync(3, part)) }
    catch (error) { if (error.code !== 'EAGAIN') throw error }
  }
  return JSON.parse(text)
}
function deliver(name, content) {
  process.stdout.write(JSON.stringify({ result_type: 'ARTIFACT', artifact: { name, format: 'md', content } }))
}
`

const FILES: Readonly<Record<string, string>> = {
  'writer.mjs': `${CHANNEL}const text = input.last_review ? 'Two wells, one pump.' : 'Some wells.'
propose({ type: 'FILE_WRITE', path: process.cwd() + '/out/draft.md', content: text })
deliver('draft', text)
`,
  'validator.mjs': `${CHANNEL}const isGood = /\\bTwo\\b/.test(readFileSync('out/draft.md', 'utf8'))
process.stdout.write(JSON.stringify({ review_id: input.review_id, artifact_digest: input.artifact.digest,
  total_score: isGood ? 95 : 50, action_required: 'MODIFY', summary: 'counted', breakdown: [],
  suggestions: [{ priority: 'HIGH', change: 'say how many', steps: [], acceptance_criteria: 'a number' }] }))
`,
  'director.mjs': `${CHANNEL}let found = ''
try { found = readFileSync('out/draft.md', 'utf8') } catch (error) { found = error.code }
propose({ type: 'COMMAND_EXECUTION', argv: ['true'], cwd: process.cwd() })
deliver('note', 'out/draft.md: ' + found)
`,
}

const FLOW: Flow = {
  type: 'flow_v1',
  flow_id: 'paper',
  title: 'A paper in two phases',
  nodes: [
    {
      node_id: 'draft',
      kind: 'WORK',
      title: 'Draft',
      phase_id: 'P1',
      actor: 'writer',
      executor: { command: ['node', 'writer.mjs'] },
      required_files: ['out/draft.md'],
      minimum_duration: 0.2,
      max_attempts: 3,
    },
    {
      node_id: 'review',
      kind: 'CHECK',
      title: 'Review',
      phase_id: 'P1',
      actor: 'validator',
      reviewer: { command: ['node', 'validator.mjs'] },
      target: 'draft',
      max_attempts: 4,
    },
    {
      node_id: 'close',
      kind: 'WORK',
      title: 'Close',
      phase_id: 'P2',
      actor: 'director',
      executor: { command: ['node', 'director.mjs'] },
      max_attempts: 1,
    },
  ],
  edges: [
    { edge_id: 'E1', source: 'draft', target: 'review', class: 'Progress' },
    {
      edge_id: 'E2',
      source: 'review',
      target: 'close',
      class: 'Gate',
      guard_expr:
        "state.validator_verdict == 'APPROVE' && state.cumulative_duration >= state.minimum_duration",
      guard_scope: 'phase',
    },
  ],
  access_rules: [
    {
      actor: 'director',
      resource_path: 'out/**',
      access_mode: 'read',
      access_allowed: false,
      reason: 'file-ban',
    },
  ],
}

/** Whether what was thrown is a failure with this code; told by form, as the command line does. */
function isFault(thrown: unknown, code: string): boolean {
  const { fault } = (thrown ?? {}) as { readonly fault?: { readonly code?: unknown } }
  return fault?.code === code
}
