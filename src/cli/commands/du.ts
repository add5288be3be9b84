/** `writ du`: what takes how much in the state of this home, and what of it could go. Reads only. */
import { type HomePart, type HomeUse, surveyHome } from '../../service/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { requireWholeHost } from '../call/home.ts'
import type { Terminal } from '../call/terminal.ts'
import { counted, sizeText } from '../effects/amount.ts'
import { momentText } from '../effects/question-head.ts'
import { visible } from '../effects/visible.ts'
import { homeInUse, withGates } from '../gate/open.ts'
import { table } from '../history/text.ts'

const WORDS: Readonly<Record<HomePart, string>> = {
  ledger: 'the facts, with keys and principals',
  bodies: 'outputs, proposals and lists of changes',
  questions: 'staged files of questions',
  flows: 'staged files that runs of flows hold',
  undo: 'what actions replaced, kept for undo',
  caches: 'made again when missing',
  other: 'everything else',
}

export async function run(call: CommandCall): Promise<Exit> {
  return withGates(call, async (sessions) => {
    for (const { session } of sessions) requireWholeHost(session.caller, 'looking at all of a home')
    const inUse = await homeInUse(sessions)
    const use = await surveyHome(inUse)
    const { id, state } = inUse.home
    const { terminal, options } = call
    const answer = { id, state, total_bytes: totalOf(use), ...use, unneeded_bytes: removable(use) }
    const text = options.isOn('json')
      ? `${JSON.stringify(answer)}\n`
      : useText(terminal, state, use)
    await terminal.out(text)
    return EXIT.yes
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
    WORDS[part as HomePart],
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
