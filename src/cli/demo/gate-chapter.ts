/**
 * Chapter of the tour: an agent's clean-up deletes more than it says and is caught; the honest one is
 * promoted; then it is undone. Everything is real: a tree, a sandbox, a ledger.
 */
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Principal } from '../../ledger/index.ts'
import type { GateAnswer, GateSurface } from '../../service/index.ts'
import { answerLines } from '../gate/answer-text.ts'
import { ANN, type Chapter, type DemoOutput, inShop } from './demo-output.ts'
import { DESCRIPTOR } from './documents.ts'

const AGENT: Principal = { kind: 'ai', id: 'cleaner', namespace: 'local' }

export const gateChapter: Chapter = {
  title: 'The gate: rehearse, compare, decide, promote once, undo',
  play: (stage) =>
    inShop(FILES, async ({ gateOf, project }) => {
      const isRehearsed = await playAgent(stage, await gateOf(AGENT), project)
      if (isRehearsed) await playUndo(stage, await gateOf(ANN), project)
    }),
}

const FILES: Readonly<Record<string, string>> = {
  'tmp/monday.log': 'started\n',
  'tmp/tuesday.log': 'started\n',
  'notes/ideas.txt': 'the only copy\n',
}

const JOIN = 'cat tmp/monday.log tmp/tuesday.log > tmp/all.log'

/** False when this machine cannot rehearse: told, and the tour goes on. */
async function playAgent(stage: DemoOutput, gate: GateSurface, project: string): Promise<boolean> {
  stage.say('An agent proposes to join the logs in one file. Its script removes a little more.')
  stage.command('writ propose join-logs.json      # declares: create tmp/all.log')
  const greedy = `${JOIN}; rm -rf notes`
  const caught = await propose(gate, project, greedy)
  if (caught.result === null && caught.decision.code === 'sandbox.control_missing') {
    stage.answer(`${stage.paint.dim('not played: this machine lacks a control of the sandbox')}`)
    stage.say('`writ doctor` tells which, and how to get it.')
    return false
  }
  stage.answer(answerLines(shown(caught, project), stage.paint, false).join('\n'))
  const isBlocked = caught.decision.decision === 'BLOCK' && !caught.promoted
  stage.expect(
    isBlocked && existsSync(join(project, 'notes/ideas.txt')),
    'the greedy one is caught',
  )
  stage.say('It ran, in a sandbox over the real tree: nothing real was touched. The honest one:')
  stage.command('writ propose join-logs-honest.json')
  const honest = await propose(gate, project, JOIN)
  stage.answer(answerLines(shown(honest, project), stage.paint, false).join('\n'))
  stage.expect(honest.promoted && existsSync(join(project, 'tmp/all.log')), 'it is promoted')
  return true
}

async function playUndo(stage: DemoOutput, gate: GateSurface, project: string): Promise<void> {
  stage.say('Ann does not want that file after all.')
  stage.command('writ undo')
  const { restored, verified } = await gate.rollback({ last: true }, { dryRun: false })
  stage.expect(verified && !existsSync(join(project, 'tmp/all.log')), 'the file is gone')
  const paths = restored.map((path) => `  ${path.slice(project.length + 1)}`)
  stage.answer([`${stage.paint.good('restored')}  proven by hashes`, ...paths].join('\n'))
}

async function propose(gate: GateSurface, project: string, script: string): Promise<GateAnswer> {
  const proposal = {
    descriptor: {
      ...DESCRIPTOR,
      action_id: randomUUID(),
      created_at: new Date().toISOString(),
      action_type: 'COMMAND_EXECUTION',
      scope: { ...DESCRIPTOR.scope, filesystem: { paths: [project], recursive: true } },
      preconditions: { ...DESCRIPTOR.preconditions, paths_exist: [join(project, 'tmp')] },
      effects: {
        ...DESCRIPTOR.effects,
        filesystem: { create: [join(project, 'tmp/all.log')], modify: [], delete: [] },
      },
      confirmation: { required: false, reason: '', cooldown_on_repeat: true },
    },
    operation: { type: 'COMMAND_EXECUTION', argv: ['sh', '-c', script], cwd: project },
  }
  return gate.propose(proposal, {
    door: 'propose',
    declaredByApproval: false,
    dryRun: false,
    confirm: async () => ({ kind: 'wait' }),
    abort: new AbortController().signal,
  })
}

/** Paths as the reader knows them, not where the tour happens to play. */
function shown(answer: GateAnswer, project: string): GateAnswer {
  return JSON.parse(JSON.stringify(answer).replaceAll(`${project}/`, '')) as GateAnswer
}
