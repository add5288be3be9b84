/**
 * Chapter of the tour: a team writes down what is asked about and what is refused; a question is
 * explained; stricter laws are tried on what happened so far; a human sets a law aside for one act,
 * and then it holds again.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { MAIN_STREAM, type Principal } from '../../ledger/index.ts'
import { loadLaws } from '../../policy/index.ts'
import { type GateAnswer, type GateSurface, recordLaws } from '../../service/index.ts'
import type { Ledger } from '../../store/index.ts'
import { answerLines } from '../gate/answer-text.ts'
import { explainAction, explanationText } from '../laws/explained-action.ts'
import { TrialRun, trialText } from '../laws/trial.ts'
import { ANN, type Chapter, type DemoOutput, inShop } from './demo-output.ts'
import { DESCRIPTOR } from './documents.ts'

const AGENT: Principal = { kind: 'ai', id: 'coder', namespace: 'local' }

const MIGRATIONS = `  - policy_id: ASK_MIGRATIONS
    tier: 2
    policy_expr: creates('db/migrations/**')
    priority: 60
    override_mode: merge
    violation_action: confirm`
const LOCK_FILES = `  - policy_id: NO_LOCK_FILES
    tier: 1
    policy_expr: modifies('**/package-lock.json')
    priority: 70
    override_mode: merge
    violation_action: block`

/** What an agent may do without a question; a law still comes first. */
const GRANT = `grants:
  - grant_id: PACKAGE_FILES
    change: ['package*.json']`

export const lawsChapter: Chapter = {
  title: 'Laws: what is asked, why, what would change, and who set it aside',
  play: (stage) =>
    inShop(FILES, async ({ gateOf, project, home, ledger }) => {
      await recordLaws(home, ledger, ANN, Date.now())
      const [agent, ann] = [await gateOf(AGENT), await gateOf(ANN)]
      await playScene({ stage, project, ledger, agent, ann })
    }),
}

const FILES: Readonly<Record<string, string>> = {
  'db/migrations/README.md': 'One file for each change of the schema.\n',
  'package-lock.json': '{}\n',
  '.writ/laws.yaml': `laws:\n${MIGRATIONS}\n${LOCK_FILES}\n${GRANT}\n`,
}

interface Scene {
  readonly stage: DemoOutput
  readonly project: string
  readonly ledger: Ledger
  readonly agent: GateSurface
  readonly ann: GateSurface
}

async function playScene(scene: Scene): Promise<void> {
  const { stage } = scene
  stage.say('A team writes into .writ/laws.yaml what its agents may do:')
  stage.answer(`\n${MIGRATIONS}\n${LOCK_FILES}\n`)
  const asked = await proposeMigration(scene)
  if (asked.result === null && asked.decision.code === 'sandbox.control_missing') {
    stage.answer(stage.paint.dim('not played: this machine lacks a control of the sandbox'))
    return
  }
  stage.expect(asked.pending !== undefined, 'a migration is asked about')
  await explainMigration(scene, asked)
  await tryStricter(scene)
  await playOverride(scene)
}

async function proposeMigration(scene: Scene): Promise<GateAnswer> {
  const { stage } = scene
  stage.say('An agent adds a migration.')
  stage.command('writ propose add-migration.json')
  const file = 'db/migrations/001.sql'
  const asked = await propose(scene, `echo 'alter table' > ${file}`, { create: [file] })
  stage.answer(answerLines(shown(asked, scene), stage.paint, false).join('\n'))
  return asked
}

async function explainMigration(
  { stage, ledger, project }: Scene,
  { action_id }: GateAnswer,
): Promise<void> {
  stage.say('Ann wants to know why she is asked.')
  stage.command(`writ laws explain ${action_id}`)
  // No principal of the tour has a credential, so none of its laws asks for several humans.
  const explained = await explainAction(
    { ledger, register: { credentials: [], passkeys: [] } },
    MAIN_STREAM,
    action_id,
  )
  stage.expect(explained?.explanation.laws[0]?.policy_id === 'ASK_MIGRATIONS', 'the law is named')
  if (explained === null) return
  const text = explanationText(explained.explanation, explained.human, stage.paint)
  stage.answer(text.replaceAll(`${project}/`, '').trimEnd())
}

async function tryStricter({ stage, ledger }: Scene): Promise<void> {
  stage.say('Would it be too much to refuse migrations altogether? The history knows.')
  stage.command('writ laws test stricter.yaml      # ASK_MIGRATIONS with tier 1 and block')
  const stricter = MIGRATIONS.replace('tier: 2', 'tier: 1').replace('confirm', 'block')
  const reading = await loadLaws(`laws:\n${stricter}\n`)
  if (!reading.ok) return stage.expect(false, 'the stricter laws can be read')
  const trial = new TrialRun(reading.laws)
  await trial.take(ledger, MAIN_STREAM, undefined, () => {})
  const answer = trial.finish()
  stage.expect(answer.changed[0]?.to === 'BLOCK', 'the migration would have been refused')
  stage.answer(trialText(answer, stage.paint).trimEnd())
}

async function playOverride(scene: Scene): Promise<void> {
  const { stage, ann } = scene
  stage.say('Lock files are not an agent’s to change, but this one time they are.')
  const change = (): Promise<GateAnswer> =>
    propose(scene, 'echo >> package-lock.json', { modify: ['package-lock.json'] })
  const refused = await change()
  stage.expect(refused.decision.code === 'law.NO_LOCK_FILES', 'the law refuses it')
  const { action_id: id } = refused
  stage.command(`writ override --law NO_LOCK_FILES --action ${id} --reason "audit fix"`)
  await ann.override({
    kind: 'law',
    policyId: 'NO_LOCK_FILES',
    actionId: id,
    forMs: null,
    uses: 1,
    reason: 'audit fix',
  })
  stage.answer(`${stage.paint.good('recorded')}  for one act of this intent, within a day`)
  const first = await change()
  stage.expect(first.promoted, 'the override lets it through')
  const second = await change()
  stage.expect(second.decision.code === 'law.NO_LOCK_FILES', 'the override is used up')
  const [once, again] = [first, second].map((answer) =>
    answerLines(shown(answer, scene), stage.paint, false).slice(0, 2).join('\n'),
  )
  stage.answer(`${once}\n${again}`)
  stage.say('The first was let through, the second is refused again. All of it is on the record.')
}

async function propose(
  { agent, project }: Scene,
  script: string,
  effects: { readonly create?: readonly string[]; readonly modify?: readonly string[] },
): Promise<GateAnswer> {
  const inside = (paths: readonly string[] = []): string[] =>
    paths.map((path) => join(project, path))
  const { create, modify } = effects
  const proposal = {
    descriptor: {
      ...DESCRIPTOR,
      action_id: randomUUID(),
      created_at: new Date().toISOString(),
      intent_summary: 'Change files of the shop.',
      action_type: 'COMMAND_EXECUTION',
      scope: { ...DESCRIPTOR.scope, filesystem: { paths: [project], recursive: true } },
      preconditions: { ...DESCRIPTOR.preconditions, paths_exist: [] },
      effects: {
        ...DESCRIPTOR.effects,
        filesystem: { create: inside(create), modify: inside(modify), delete: [] },
      },
      confirmation: { required: false, reason: '', cooldown_on_repeat: false },
    },
    operation: { type: 'COMMAND_EXECUTION', argv: ['sh', '-c', script], cwd: project },
  }
  return agent.propose(proposal, {
    door: 'propose',
    declaredByApproval: false,
    dryRun: false,
    confirm: async () => ({ kind: 'wait' }),
    abort: new AbortController().signal,
  })
}

/** Paths as the reader knows them, not where the tour happens to play. */
function shown(answer: GateAnswer, { project }: Scene): GateAnswer {
  return JSON.parse(JSON.stringify(answer).replaceAll(`${project}/`, '')) as GateAnswer
}
