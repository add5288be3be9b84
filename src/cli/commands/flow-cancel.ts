/** `writ flow cancel`: ends a run where it is, and takes back what it promoted, or says how that is done. */
import { FaultError, faultError, showName } from '../../base/index.ts'
import { actsOf, cancelRun, type FlowHost, isElsewhere, type WalkedRun } from '../../runs/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import type { Paint } from '../call/terminal.ts'
import { handOrder } from '../flow/hand-order.ts'
import { withPersonsRun } from '../flow/order.ts'
import { queuedRun, removeQueued } from '../flow/queued.ts'
import type { GateSession } from '../gate/open.ts'
import { plain } from '../history/text.ts'

/** A worker of the run's machine takes the order. */
async function cancelThere(
  host: FlowHost,
  before: WalkedRun,
  principal: string,
  comment: string | null,
): Promise<WalkedRun> {
  await handOrder(host, before.runId, { kind: 'cancel', principal, comment })
  return before
}

export async function run(call: CommandCall): Promise<Exit> {
  const [runName] = call.arguments
  if (runName === undefined) throw usageError('say which run', 'writ flow cancel RUN')
  const { options, terminal } = call
  return withPersonsRun(
    call,
    runName,
    'cancelling a run',
    async ({ host, gate, run: before, principal }) => {
      const { runId, state } = before
      const hasEnded = state.ended !== null
      if (hasEnded && !options.isOn('undo')) throw endedFault(runId, state.ended)
      const ended = hasEnded
        ? before
        : (await isElsewhere(host.ledger, runId))
          ? await cancelThere(host, before, principal, options.text('comment'))
          : await cancelRun(host, runId, principal, options.text('comment'))
      const acts = actsOf(ended.facts)
      const isEnded = ended.state.ended !== null
      const isJson = options.isOn('json')
      const head = hasEnded ? `ended before: ${state.ended}  ${runId}\n` : `cancelled  ${runId}\n`
      if (!isJson) await terminal.out(isEnded ? head : underWay(runId))
      const outcomes = isEnded && options.isOn('undo') ? await takeBack(gate, runId, acts) : null
      const told = outcomes === null ? { acts } : toldOf(outcomes)
      if (isJson)
        await terminal.out(`${JSON.stringify({ run_id: runId, status: ended.status, ...told })}\n`)
      else if (outcomes !== null) await terminal.out(outcomesText(runId, outcomes, terminal.paint))
      else if (acts.length > 0) await terminal.out(promotedText(acts))
      if (!isEnded) return EXIT.waiting
      return outcomes?.some(({ outcome }) => outcome === 'left') ? EXIT.no : EXIT.yes
    },
    async ({ host, gate }, error) => {
      const { session } = gate
      return removeQueued(call, session, await queuedRun(session, host.stream, runName, error))
    },
  )
}

function endedFault(runId: string, ended: string | null): FaultError {
  const message = `the run ${showName(runId)} has ended: ${ended}`
  const hint = `writ flow report ${runId}; to take back what it promoted: writ flow cancel ${runId} --undo`
  return faultError('flow.not_waiting', runId, message, hint)
}

function underWay(runId: string): string {
  return `recorded; the process that walks ${runId} has not ended it yet: writ flow status ${runId}\n`
}

/** What became of one act; `next` is what helps where it is left. */
interface UndoOutcome {
  readonly action_id: string
  readonly outcome: 'undone' | 'undone_before' | 'left'
  readonly code?: string
  readonly message?: string
  readonly next?: string
}

/**
 * Takes acts back in this order; one that is in the way keeps no other one from it. The run is named: a
 * person who drops a whole run says nothing about its participants, so no law counts these rollbacks.
 */
async function takeBack(
  { gate }: GateSession,
  run: string,
  acts: readonly string[],
): Promise<readonly UndoOutcome[]> {
  const outcomes: UndoOutcome[] = []
  for (const actionId of acts) {
    try {
      const { compensation } = await gate.rollback({ actionId }, { dryRun: false, run })
      const pending = compensation?.pending?.id
      outcomes.push({
        action_id: actionId,
        outcome: compensation === undefined ? 'undone' : 'left',
        ...(compensation === undefined ? {} : { message: 'its compensation has not been done' }),
        ...(pending === undefined ? {} : { next: `writ approve ${pending}` }),
      })
    } catch (error) {
      outcomes.push(leftBy(actionId, error))
    }
  }
  return outcomes
}

function leftBy(action_id: string, error: unknown): UndoOutcome {
  if (!(error instanceof FaultError)) throw error
  const { code, message, hint } = error.fault
  if (!code.startsWith('rollback.') && code !== 'machine.elsewhere') throw error
  // A person took it back before.
  if (code === 'rollback.nothing') return { action_id, outcome: 'undone_before' }
  return { action_id, outcome: 'left', code, message, next: hint ?? `writ rollback ${action_id}` }
}

function toldOf(outcomes: readonly UndoOutcome[]) {
  const actsThat = (isLeft: boolean): readonly string[] =>
    outcomes.filter((one) => (one.outcome === 'left') === isLeft).map((one) => one.action_id)
  return { acts: actsThat(true), undone: actsThat(false), outcomes }
}

const OUTCOME_WORDS: Readonly<Record<UndoOutcome['outcome'], string>> = {
  undone: 'taken back',
  undone_before: 'taken back before',
  left: 'not taken back',
}

function outcomesText(runId: string, outcomes: readonly UndoOutcome[], paint: Paint): string {
  const lines = outcomes.flatMap(({ action_id, outcome, code, message, next }) => [
    `${OUTCOME_WORDS[outcome]}  ${action_id}`,
    ...(message === undefined ? [] : [`  ${plain(message)} ${paint.dim(code ?? '')}`.trimEnd()]),
    ...(next === undefined ? [] : next.split('\n').map((line) => `  ${plain(line)}`)),
  ])
  const isLeft = outcomes.some(({ outcome }) => outcome === 'left')
  const again = isLeft ? [`then take back the rest: writ flow cancel ${runId} --undo`] : []
  return [...lines, ...again].map((line) => `${line}\n`).join('')
}

function promotedText(acts: readonly string[]): string {
  const lines = acts.map((act) => `  writ rollback ${act}\n`)
  return `what it promoted stays; to take it back, the last first:\n${lines.join('')}`
}
