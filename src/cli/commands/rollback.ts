/**
 * `writ rollback`: restores what one action changed, or everything since a moment. `writ undo`: takes
 * the last action back.
 */
import { FaultError, invariant } from '../../base/index.ts'
import type { RollbackAnswer, RollbackTarget } from '../../service/index.ts'
import { counted, grouped, visibleName } from '../../words/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { refuseOthers } from '../call/home.ts'
import { canAsk } from '../call/passphrase.ts'
import { askWord, yesOrNo } from '../gate/answer-line.ts'
import { wholeIdOf } from '../gate/named-question.ts'
import { type GateSession, withGates } from '../gate/open.ts'
import { momentOption } from '../history/option-values.ts'
import { plainLines } from '../history/text.ts'

export async function rollback(call: CommandCall): Promise<Exit> {
  return restore(call, targetOf(call))
}

function targetOf(call: CommandCall): RollbackTarget {
  const since = momentOption(call, 'since', Date.now())
  const [actionId, ...others] = call.arguments
  if (since !== undefined && actionId === undefined) return { since }
  if (since === undefined && actionId !== undefined && others.length === 0) return { actionId }
  const message = 'name one action, or a moment with `--since`'
  throw usageError(message, '`writ undo` takes the last one back')
}

/**
 * What `rollback` and `undo` share: only a human takes something back (I1), the answer lists the
 * restored paths, and a conflict lists every path that is in the way.
 */
async function restore(call: CommandCall, named: RollbackTarget): Promise<Exit> {
  const dryRun = call.options.isOn('dry-run')
  return withGates(call, async (sessions) => {
    for (const { session } of sessions) refuseOthers(session.caller, 'taking something back')
    const target = await wholeTarget(sessions, named)
    const { gate } = await holderOf(sessions, target)
    const asIs = call.options.isOn('as-is')
    const withLater = 'actionId' in target && call.options.isOn('with-later')
    const take = (isAll: boolean): Promise<RollbackAnswer> =>
      gate.rollback(target, { dryRun, asIs, withLater: isAll })
    const answer = await take(withLater).catch(async (error: unknown) => {
      if (!(await wantsLater(call, error))) throw error
      return take(true)
    })
    const { terminal, options } = call
    const text = `${restoredText(call, answer, dryRun)}${elsewhereText(answer, named)}`
    await terminal.out(options.isOn('json') ? `${JSON.stringify(answer)}\n` : text)
    if (answer.compensation?.pending !== undefined) return EXIT.waiting
    const isWhole = asIs || answer.verified
    return dryRun || (isWhole && answer.elsewhere === undefined) ? EXIT.yes : EXIT.no
  })
}

/** Names the newer acts that stand on this one, and asks a person at a terminal about all of them. */
async function wantsLater({ options, terminal }: CommandCall, error: unknown): Promise<boolean> {
  if (!(error instanceof FaultError) || error.fault.code !== 'rollback.newer') return false
  // Acts of others are taken back one by one.
  const canTakeAll = error.fault.hint?.includes('--with-later') === true
  if (!(canTakeAll && canAsk()) || options.isOn('json') || options.isOn('dry-run')) return false
  terminal.err(`${plainLines(error.fault.message)}\n`)
  return (await askWord('Take all of them back, the newest first? [y/N] ', yesOrNo)) === 'yes'
}

async function wholeTarget(
  sessions: readonly GateSession[],
  named: RollbackTarget,
): Promise<RollbackTarget> {
  return 'actionId' in named ? { actionId: await wholeIdOf(sessions, named.actionId) } : named
}

/** The gate over the stream in which the action was promoted; the caller's own for all else. */
async function holderOf(
  sessions: readonly GateSession[],
  target: RollbackTarget,
): Promise<GateSession> {
  const [own] = sessions
  invariant(own !== undefined, 'a caller has a stream')
  if (!('actionId' in target)) return own
  for (const session of sessions) {
    const { stream } = session
    const action = target.actionId
    const { store } = session.session.ledger
    const query = { stream, type: 'promotion_v1', action, limit: 1, order: 'newest_first' } as const
    const page = await store.find(query)
    if (page.facts.length > 0) return session
  }
  return own
}

/** As many as two screens hold. */
const PATHS_MAX = 100

function restoredText({ terminal }: CommandCall, answer: RollbackAnswer, dryRun: boolean): string {
  const { paint } = terminal
  const { compensation } = answer
  if (compensation !== undefined) {
    const { pending, decision } = compensation
    const why =
      pending === undefined
        ? decision.code
        : `waits for a yes: writ approve ${pending.id}; then run this command again`
    const head = `${paint.accent('nothing restored yet')}  ${visibleName(answer.action_id)}`
    return `${head}\n  its compensation ${visibleName(compensation.action_id)}  ${visibleName(why)}\n`
  }
  const isDone = answer.restored.length === 0 && answer.compensated_by === undefined
  if (isDone && answer.verified && !dryRun) {
    return `${paint.good('taken back')}  ${visibleName(answer.action_id)}  nothing to restore: every path is already as it was before the act\n`
  }
  const word = dryRun
    ? paint.accent('would be restored')
    : answer.verified
      ? paint.good('restored')
      : paint.bad('restored as kept, not as it was')
  const added = new Set(answer.added)
  const paths = answer.restored.map(
    (path) => `  ${visibleName(path)}${added.has(path) ? '  (put there later, kept)' : ''}`,
  )
  const ids = answer.action_ids ?? [answer.action_id]
  const head = `${word}  ${ids.map(visibleName).join(', ')}  ${counted(paths.length, 'path')}`
  const rest = paths.length - PATHS_MAX
  const more = rest > 0 ? [`  and ${grouped(rest)} more; \`--json\` lists them all`] : []
  return `${[head, ...paths.slice(0, PATHS_MAX), ...more].join('\n')}\n`
}

/** Acts that other machines of the home have to take back. */
function elsewhereText({ elsewhere = [] }: RollbackAnswer, target: RollbackTarget): string {
  const machines = new Set(elsewhere.map(({ machine }) => machine))
  const since = 'since' in target ? target.since : ''
  return [...machines]
    .map((name) => {
      const count = counted(elsewhere.filter(({ machine }) => machine === name).length, 'act')
      return `left  ${count} of the machine ${visibleName(name)}; type there: writ rollback --since ${since}\n`
    })
    .join('')
}

/** `writ undo`: takes back the last action that was promoted and not taken back yet. */
export async function undo(call: CommandCall): Promise<Exit> {
  if (call.arguments.length > 0) {
    const message = '`writ undo` names nothing: it takes the last action back'
    throw usageError(message, 'an older one is taken back with `writ rollback ACTION_ID`')
  }
  return restore(call, { last: true })
}
