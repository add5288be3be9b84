/** Requests of actors that an act of theirs is taken back, as people see and answer them (M-1). */
import { faultError } from '../../base/index.ts'
import type { UndoQuestion } from '../../service/index.ts'
import { counted, visible, visibleName } from '../../words/index.ts'
import { type CommandCall, EXIT, type Exit, reply } from '../call/command.ts'
import { credentialOf, proveHuman } from '../call/home.ts'
import { canAsk } from '../call/passphrase.ts'
import type { Paint } from '../call/terminal.ts'
import { momentText } from '../effects/question-head.ts'
import { readAnswer } from '../effects/question-text.ts'
import { askWord } from './answer-line.ts'
import type { GateSession } from './open.ts'

interface FoundUndo {
  readonly session: GateSession
  readonly question: UndoQuestion
}

/** Null where no request to take an act back waits under this id. */
export async function findUndo(
  sessions: readonly GateSession[],
  id: string,
): Promise<FoundUndo | null> {
  if (!id.toLowerCase().startsWith('undo-')) return null
  for (const session of sessions) {
    const question = await session.gate.undoRequests.find(id)
    if (question !== null) return { session, question }
  }
  return null
}

export async function undosIn(sessions: readonly GateSession[]): Promise<readonly UndoQuestion[]> {
  const found: UndoQuestion[] = []
  for (const { gate } of sessions) found.push(...(await gate.undoRequests.pending()))
  return found
}

export function undoText(question: UndoQuestion, paint: Paint): string {
  const { id, action_id, asked_by, what, reason, at, expires_at } = question
  return [
    `${paint.strong(visible(id))}  take back ${visibleName(action_id)}`,
    `  ${paint.strong(visible(what))}`,
    `  ${visibleName(asked_by)} asks, ${momentText(at)}: “${visible(reason)}”`,
    `  ${paint.dim(`writ rollback ${action_id} --dry-run shows what it restores; writ approve ${id}, or writ deny ${id}; until ${momentText(expires_at)}`)}`,
    '',
  ].join('\n')
}

/** A yes takes the act back. It needs the credential once one exists, like each question of an agent. */
export async function approveUndo(
  call: CommandCall,
  { session, question }: FoundUndo,
): Promise<Exit> {
  const { terminal, options } = call
  const isAsked = canAsk() && !options.isOn('yes') && !options.isOn('json')
  if (isAsked && !(await isAgreed(call, question))) {
    terminal.err(`not approved; it still waits: writ deny ${visibleName(question.id)} ends it\n`)
    return EXIT.waiting
  }
  const isGiven = isAsked || options.isOn('yes') || options.text('pass-fd') !== null
  if (!isGiven) {
    const hint = 'call from a terminal, or with `--yes` or `--pass-fd N`; it still waits'
    throw faultError('credential.required', question.id, 'approving needs a person', hint)
  }
  const assurance = await proven(session, call, 'approving')
  const answer = await session.gate.undoRequests.answer(question.request_id, {
    kind: 'yes',
    assurance,
  })
  const paths = answer?.restored.length ?? 0
  await reply(
    call,
    { ...answer, request_id: question.request_id },
    (paint) =>
      `${paint.good('taken back')}  ${visibleName(question.action_id)}  ${counted(paths, 'path')}\n`,
  )
  if (answer?.compensation?.pending !== undefined) return EXIT.waiting
  return answer?.verified === true ? EXIT.yes : EXIT.no
}

async function isAgreed({ terminal }: CommandCall, question: UndoQuestion): Promise<boolean> {
  terminal.err(undoText(question, terminal.paintError))
  const prompt = `${terminal.paintError.strong('take it back?')} [y, N: leave it waiting] `
  const answer = await askWord(prompt, (line) => {
    const word = readAnswer(line)
    return word === 'all' ? null : word
  })
  return answer === 'yes'
}

export async function denyUndo(
  call: CommandCall,
  { session, question }: FoundUndo,
  reason: string | null,
): Promise<Exit> {
  const given = reason === null ? {} : { reason }
  const no = { kind: 'no', assurance: 'terminal', ...given } as const
  await session.gate.undoRequests.answer(question.request_id, no)
  const { id, request_id, action_id } = question
  return reply(
    call,
    { id, request_id, action_id, denied: true },
    (paint) => `${paint.bad('denied')}  ${visibleName(id)}  nothing was taken back\n`,
  )
}

/** Asks for the passphrase if there is a credential; until then a plain word counts, not below an agent. */
async function proven(
  { session }: GateSession,
  call: CommandCall,
  what: string,
): Promise<'terminal' | 'passphrase'> {
  await proveHuman(session, call, what)
  return credentialOf(session) === null ? 'terminal' : 'passphrase'
}
