/** `writ du`, `writ gc` and `writ purge`: what the state of a home takes, and what of it goes. */
import type { FaultError } from '../../base/index.ts'
import {
  BODY_KINDS,
  type BodyKind,
  findUnneeded,
  type HomePart,
  type HomeUse,
  type PurgeAnswer,
  type PurgeOrder,
  removeUnneeded,
  surveyHome,
  type Unneeded,
} from '../../service/index.ts'
import { counted, sizeText, visible } from '../../words/index.ts'
import { type CommandCall, EXIT, type Exit, reply, usageError } from '../call/command.ts'
import { requireHuman, requireWholeHost } from '../call/home.ts'
import type { Terminal } from '../call/terminal.ts'
import { momentText } from '../effects/question-head.ts'
import { homeInUse, withGates } from '../gate/open.ts'
import { momentOption } from '../history/option-values.ts'
import { plain, table } from '../history/text.ts'

const PARTS: Readonly<Record<HomePart, string>> = {
  ledger: 'the facts, with keys and principals',
  bodies: 'outputs, proposals and lists of changes',
  questions: 'staged files of questions',
  flows: 'staged files that runs of flows hold',
  undo: 'what actions replaced, kept for undo',
  caches: 'made again when missing',
  other: 'everything else',
}

/** `writ du`: what takes how much in the state of this home, and what of it could go. Reads only. */
export async function showUse(call: CommandCall): Promise<Exit> {
  return withGates(call, async (sessions) => {
    for (const { session } of sessions) requireWholeHost(session.caller, 'looking at all of a home')
    const inUse = await homeInUse(sessions)
    const use = await surveyHome(inUse)
    const { id, state } = inUse.home
    const answer = { id, state, total_bytes: totalOf(use), ...use, unneeded_bytes: removable(use) }
    return reply(call, answer, () => useText(call.terminal, state, use))
  })
}

function totalOf({ parts }: HomeUse): number {
  return Object.values(parts).reduce((sum, bytes) => sum + bytes, 0)
}

function removable({ unneeded }: HomeUse): number {
  return unneeded.reduce((sum, { bytes }) => sum + bytes, 0)
}

function useText(terminal: Terminal, state: string, use: HomeUse): string {
  const { paint } = terminal
  const rows = Object.entries(use.parts).map(([part, bytes]) => [
    part,
    sizeText(bytes),
    // The parts are those of the table.
    PARTS[part as HomePart],
  ])
  const { unneeded, questions, undo } = use
  const hint = unneeded.length === 0 ? '' : ': `writ gc` removes it'
  return [
    `${visible(state)}  ${paint.strong(sizeText(totalOf(use)))}\n\n`,
    table(terminal, ['part', 'size', 'what it is'], rows),
    questionsText(terminal, questions),
    undoText(terminal, undo),
    `\nno longer needed: ${counted(unneeded.length, 'item')}, ${sizeText(removable(use))}${hint}\n`,
  ].join('')
}

function questionsText(terminal: Terminal, questions: HomeUse['questions']): string {
  if (questions.length === 0) return ''
  const rows = questions.map(({ id, bytes, expires_at }) => [
    visible(id),
    sizeText(bytes),
    momentText(expires_at),
  ])
  return `\n${table(terminal, ['waiting question', 'size', 'until'], rows)}`
}

const ROWS_MAX = 20

function undoText(terminal: Terminal, undo: HomeUse['undo']): string {
  if (undo.length === 0) return ''
  const rows = undo
    .slice(0, ROWS_MAX)
    .map(({ action_id, bytes, until, taken_back }) => [
      visible(action_id),
      sizeText(bytes),
      `${momentText(until)}${taken_back ? ' (taken back)' : ''}`,
    ])
  const more = undo.length - rows.length
  const rest = more > 0 ? `and ${counted(more, 'more action')}: \`writ du --json\`\n` : ''
  return `\n${table(terminal, ['kept for undo', 'size', 'until'], rows)}${rest}`
}

interface Collected {
  readonly removed: readonly Unneeded[]
  readonly bodies: number
  readonly bytes: number
  readonly dry_run: boolean
}

const KINDS: Readonly<Record<Unneeded['kind'], string>> = {
  stage: 'staged files of ended questions',
  preimages: 'files kept for an undo that is over',
  leftover: 'leftovers of processes that ended',
}

/**
 * `writ gc`: removes what is no longer needed: stages of questions that ended, pre-images past their
 * time, what dead processes left, and bodies whose time is over as the laws say. Facts stay.
 */
export async function collectGarbage(call: CommandCall): Promise<Exit> {
  const dryRun = call.options.isOn('dry-run')
  return withGates(call, async (sessions) => {
    const [own] = sessions
    if (own !== undefined && dryRun) requireWholeHost(own.session.caller, 'collecting garbage')
    else if (own !== undefined) await requireHuman(own.session, call, 'collecting garbage')
    const removed = await findUnneeded(await homeInUse(sessions))
    const bodies = []
    for (const { gate } of sessions) bodies.push(...(await gate.tidy({ dryRun })))
    if (!dryRun) await removeUnneeded(removed)
    const bytes = [...removed, ...bodies].reduce((sum, each) => sum + each.bytes, 0)
    const answer = { removed, bodies: bodies.length, bytes, dry_run: dryRun }
    return reply(call, answer, () => collectedText(call.terminal, answer))
  })
}

function collectedText(
  { paint }: Terminal,
  { removed, bodies, bytes, dry_run }: Collected,
): string {
  if (removed.length + bodies === 0) return 'nothing to remove: everything here is still needed\n'
  const word = dry_run ? paint.accent('would be removed') : paint.good('removed')
  const rows = Object.entries(KINDS).flatMap(([kind, words]) => {
    const of = removed.filter((each) => each.kind === kind)
    const size = of.reduce((sum, each) => sum + each.bytes, 0)
    if (of.length === 0) return []
    const places = of.slice(0, PLACES_MAX).map(({ path }) => `    ${visible(path)}`)
    return [`  ${words}: ${of.length}, ${sizeText(size)}`, ...places]
  })
  const old = bodies === 0 ? [] : [`  ${counted(bodies, 'body', 'bodies')} whose time is over`]
  return `${[`${word}  ${sizeText(bytes)}`, ...rows, ...old].join('\n')}\n`
}

const PLACES_MAX = 10

/**
 * `writ purge`: a human drops bodies of the past: outputs, unredacted proposals, lists of changes. The
 * facts stay, and say what went. What undo, a question or a run of a flow still needs stays as well,
 * and is named.
 */
export async function purge(call: CommandCall): Promise<Exit> {
  const order = readOrder(call)
  const dryRun = call.options.isOn('dry-run')
  return withGates(call, async (sessions) => {
    const [own] = sessions
    if (own !== undefined && dryRun) requireWholeHost(own.session.caller, 'purging')
    else if (own !== undefined) await requireHuman(own.session, call, 'purging')
    const answers: PurgeAnswer[] = []
    for (const { gate } of sessions) answers.push(await gate.purge(order, { dryRun }))
    await tell(call, {
      dropped: answers.flatMap(({ dropped }) => dropped),
      bytes: answers.reduce((sum, { bytes }) => sum + bytes, 0),
      kept: answers.flatMap(({ kept }) => kept),
      dry_run: dryRun,
    })
    return EXIT.yes
  })
}

function readOrder(call: CommandCall): PurgeOrder {
  const { options } = call
  const before = momentOption(call, 'before', Date.now()) ?? null
  const action = options.text('action')
  if ((before === null) === (action === null)) throw usage('say `--before MOMENT` or `--action ID`')
  return { action, before, kinds: kindsOf(options.texts('kind')), reason: options.text('reason') }
}

function kindsOf(names: readonly string[]): readonly BodyKind[] {
  if (names.length === 0) return BODY_KINDS
  return names.map((name) => {
    const kind = BODY_KINDS.find((one) => one === name)
    if (kind === undefined) throw usage(`\`--kind\` is one of ${BODY_KINDS.join(', ')}`)
    return kind
  })
}

function usage(message: string): FaultError {
  return usageError(message, '`writ purge --help`')
}

async function tell({ options, terminal }: CommandCall, answer: PurgeAnswer): Promise<void> {
  if (options.isOn('json')) return terminal.out(`${JSON.stringify(answer)}\n`)
  const { paint } = terminal
  const { dropped, bytes, kept, dry_run: dryRun } = answer
  const word = dryRun ? paint.accent('would be dropped') : paint.good('dropped')
  const size = `${counted(dropped.length, 'body', 'bodies')}, ${sizeText(bytes)}`
  const parts = [`${word}  ${size}\n`]
  if (kept.length > 0) {
    const rows = kept.map(({ action_id, run_id, reason }) => [
      plain(run_id ?? action_id ?? ''),
      reason,
    ])
    parts.push(`\n${paint.strong('Kept')}\n${table(terminal, ['action or run', 'because'], rows)}`)
  }
  await terminal.out(parts.join(''))
}
