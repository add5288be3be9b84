/**
 * `writ flow migrate`: moves a run to another version of its flow, by a human. Shows what changes in the
 * flow and in the programs of participants, and what is in the way, before anything is recorded.
 */
import { faultError } from '../../base/index.ts'
import { stopsOf } from '../../flow/index.ts'
import {
  isWalked,
  lookAtMigration,
  lookAtRun,
  migrateRun,
  type RunMigration,
  type WalkedRun,
} from '../../runs/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { canAsk } from '../call/passphrase.ts'
import { readFlow } from '../flow/load.ts'
import { migrationText } from '../flow/migration-text.ts'
import { withPersonsRun } from '../flow/order.ts'
import { refuseActors } from '../flow/person.ts'
import { refuseFlow } from '../flow/problem.ts'
import { sourceFiles } from '../flow/source-files.ts'
import { askLine } from '../gate/answer-line.ts'

const USAGE = 'writ flow migrate RUN FLOW [--all] [--yes --digest DIGEST] [--comment TEXT]'

export async function run(call: CommandCall): Promise<Exit> {
  const [runName, file, ...others] = call.arguments
  const { options, terminal } = call
  if (runName === undefined || file === undefined || others.length > 0)
    throw usageError('say the run and the new version of its flow', USAGE)
  return withPersonsRun(call, runName, 'moving a run to another flow', async (persons) => {
    const { host, gate, principal, run: before } = persons
    refuseActors(gate, 'moving a run to another flow', USAGE)
    const { runId } = before
    const [participants, side] = [options.text('participants'), options.text('side')]
    const source = await readFlow(file, participants, side)
    if (!source.ok) return refuseFlow(call, file, { participants, side }, source.violations)
    const { flow } = source
    const { migration, texts } = await lookAtMigration(host, runId, flow)
    const again = wordsAgain(runId, file, participants, side)
    if (!options.isOn('json')) {
      const all = options.isOn('all') ? null : `${again} --all`
      await terminal.out(migrationText(migration, texts, all, terminal.paint))
    }
    if (migration.obstacles.length > 0)
      return options.isOn('json') ? told(call, runId, migration, false) : EXIT.no
    if (await isWalked(host, runId)) {
      const message = 'another process walks the run, and its flow changes only while none does'
      const hint = 'end that process first; the run can be resumed'
      throw faultError('flow.taken', runId, message, hint)
    }
    if (options.isOn('json') && !options.isOn('yes')) return told(call, runId, migration, false)
    await refuseDisagreed(call, migration, again, runId)
    const comment = options.text('comment')
    const files = sourceFiles(file, participants, side)
    const shown = migration.digest
    await migrateRun(host, runId, { flow, principal, comment, shown, source: files })
    if (options.isOn('json')) return told(call, runId, migration, true)
    const next = [...answersLeft(await lookAtRun(host, runId)), `writ flow resume ${runId}`]
    await terminal.out(`moved; to go on: ${next.join(', then ')}\n`)
    return EXIT.yes
  })
}

/** The answers that let stopped nodes go on: a resume alone asks the same again. */
function answersLeft(run: WalkedRun): readonly string[] {
  const answer = / (?:retry|unblock)$/
  const stops = stopsOf(run).filter(({ kind }) => kind === 'decision' || kind === 'blocked')
  return stops.flatMap(({ next }) => next.find((command) => answer.test(command)) ?? [])
}

function wordsAgain(
  runId: string,
  file: string,
  participants: string | null,
  side: string | null,
): string {
  const options = [
    ...(participants === null ? [] : ['--participants', participants]),
    ...(side === null ? [] : ['--side', side]),
  ]
  return ['writ flow migrate', runId, file, ...options].join(' ')
}

/** A yes is typed at what was shown, or given for its digest by a call that shows nothing to a person. */
async function refuseDisagreed(
  { options }: CommandCall,
  { digest }: RunMigration,
  again: string,
  runId: string,
): Promise<void> {
  const given = options.text('digest')
  const hint = `look at the changes, then: ${again} --yes --digest ${digest}`
  if (given !== null && given !== digest) {
    const message = `nothing was changed: what would change now is ${digest}, and the yes is for ${given}`
    throw faultError('flow.migration', runId, message, hint)
  }
  if (options.isOn('yes') && given === digest) return
  if (options.isOn('yes')) {
    const message = 'nothing was changed: `--yes` needs `--digest`, the digest of what was shown'
    throw faultError('credential.required', runId, message, hint)
  }
  if (await isAgreed()) return
  throw faultError(
    'credential.required',
    runId,
    'nothing was changed: moving a run needs a yes',
    hint,
  )
}

async function told(
  { terminal }: CommandCall,
  run_id: string,
  migration: RunMigration,
  migrated: boolean,
): Promise<Exit> {
  await terminal.out(`${JSON.stringify({ run_id, migrated, ...migration })}\n`)
  return migrated ? EXIT.yes : EXIT.no
}

async function isAgreed(): Promise<boolean> {
  const line = canAsk() ? await askLine('Move the run to this version? [y/N] ') : null
  return line !== null && typeof line === 'object' && /^y(?:es)?$/i.test(line.text.trim())
}
