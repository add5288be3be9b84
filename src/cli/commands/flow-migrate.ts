/**
 * `writ flow migrate`: moves a run to another version of its flow, by a human. Shows what changes and
 * what is in the way before anything is recorded.
 */
import { faultError } from '../../base/index.ts'
import { type FlowChange, type Migration, planMigration } from '../../flow/index.ts'
import { isWalked, migrateRun } from '../../runs/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { canAsk } from '../call/passphrase.ts'
import type { Terminal } from '../call/terminal.ts'
import { readFlow } from '../flow/load.ts'
import { withPersonsRun } from '../flow/order.ts'
import { refuseActors } from '../flow/person.ts'
import { sourceFiles } from '../flow/source-files.ts'
import { askLine } from '../gate/answer-line.ts'
import { plain, refuse } from '../history/text.ts'

const USAGE = 'writ flow migrate RUN FLOW [--yes] [--comment TEXT]'

export async function run(call: CommandCall): Promise<Exit> {
  const [runName, file, ...others] = call.arguments
  const { options, terminal } = call
  if (runName === undefined || file === undefined || others.length > 0)
    throw usageError('say the run and the new version of its flow', USAGE)
  return withPersonsRun(call, runName, 'moving a run to another flow', async (persons) => {
    const { host, gate, principal, run: before } = persons
    refuseActors(gate, 'moving a run to another flow', USAGE)
    const { runId, state } = before
    const [participants, side] = [options.text('participants'), options.text('side')]
    const source = await readFlow(file, participants, side)
    if (!source.ok) return refuse(call, source.violations)
    const { flow } = source
    const migration = planMigration(state, flow.base)
    if (options.isOn('json') && migration.obstacles.length > 0)
      return told(call, runId, migration, false)
    if (!options.isOn('json')) await terminal.out(migrationText(migration, terminal))
    if (migration.obstacles.length > 0) return EXIT.no
    if (await isWalked(host, runId)) {
      const message = 'another process walks the run, and its flow changes only while none does'
      throw faultError(
        'flow.taken',
        runId,
        message,
        'end that process first; the run can be resumed',
      )
    }
    if (!options.isOn('yes') && !(await isAgreed())) {
      const message = 'nothing was changed: moving a run needs a yes'
      throw faultError(
        'credential.required',
        runId,
        message,
        `${USAGE.replace(' [--yes]', '')} --yes`,
      )
    }
    const comment = options.text('comment')
    const files = sourceFiles(file, participants, side)
    await migrateRun(host, runId, { flow, principal, comment, from: migration.from, source: files })
    if (options.isOn('json')) return told(call, runId, migration, true)
    await terminal.out(`moved; to go on: writ flow resume ${runId}\n`)
    return EXIT.yes
  })
}

async function told(
  { terminal }: CommandCall,
  run_id: string,
  migration: Migration,
  migrated: boolean,
): Promise<Exit> {
  await terminal.out(`${JSON.stringify({ run_id, migrated, ...migration })}\n`)
  return migrated ? EXIT.yes : EXIT.no
}

async function isAgreed(): Promise<boolean> {
  const line = canAsk() ? await askLine('Move the run to this version? [y/N] ') : null
  return line !== null && typeof line === 'object' && /^y(?:es)?$/i.test(line.text.trim())
}

/** What changes, part by part, and what keeps the run from it. */
function migrationText({ changes, obstacles, from, to }: Migration, { paint }: Terminal): string {
  return [
    paint.dim(`from ${from}\n  to ${to}\n`),
    ...(changes.length === 0
      ? ['nothing changes\n']
      : changes.map((one) => `  ${changeText(one)}\n`)),
    ...(obstacles.length === 0
      ? []
      : [
          `${paint.bad('refused')}  the run cannot be moved ${paint.dim('flow.migration')}\n`,
          ...obstacles.map(({ part, message }) => `  ${plain(part)}: ${plain(message)}\n`),
        ]),
  ].join('')
}

function changeText({ change, part, id, fields }: FlowChange): string {
  const what = id === '' ? part : `${part} ${id}`
  return plain(
    fields.length === 0 ? `${change} ${what}` : `${change} ${what}: ${fields.join(', ')}`,
  )
}
