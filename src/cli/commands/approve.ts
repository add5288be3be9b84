/**
 * `writ approve`: a human says yes to the effects of one rehearsal, or of several that are alike, and
 * they are promoted. On a terminal the effects are shown first.
 */
import type { Answered, Confirm } from '../../service/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { proveAhead, refuseOthers } from '../call/home.ts'
import { canAsk } from '../call/passphrase.ts'
import { usageError } from '../call/usage.ts'
import { failureText } from '../effects/question-text.ts'
import { visibleName } from '../effects/visible.ts'
import { printAnswer } from '../gate/answer-text.ts'
import { approveBatch, findBatch, refuseRepeated } from '../gate/batch.ts'
import { askAtTerminal, assureAhead, refuseAhead, settleChangedInputs } from '../gate/confirm.ts'
import { type FoundQuestion, findQuestion, namedId } from '../gate/named-question.ts'
import { withGates } from '../gate/open.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const like = call.options.text('like')
  const isMany = like !== null || call.arguments.length > 1
  if (like !== null && call.arguments.length > 0) {
    throw usageError('`--like` names the question itself')
  }
  const id = isMany ? '' : namedId(call)
  return withGates(call, async (sessions) => {
    for (const { session } of sessions) refuseOthers(session.caller, 'approving')
    const [first] = sessions
    if (first !== undefined) await proveAhead(first.session, call, 'approving')
    if (isMany) return approveBatch(call, await findBatch(sessions, call.arguments, like))
    const found = await findQuestion(sessions, id)
    const { gate } = found.session
    refuseRepeated([found])
    const answered = await approval(found)
    // An answer other than yes is no denial: `writ deny` is a call of its own.
    if (answered.kind !== 'yes') return stillWaits(call, id)
    const outcome = await gate.answer(found.question.actionId, answered)
    if (!asksFirst(call)) return printAnswer(call, outcome)
    const again: Confirm = async (question) => {
      const asked = await askAtTerminal(found.session, question, 'approve')
      return asked.kind === 'yes' ? asked : { kind: 'wait' }
    }
    return printAnswer(call, await settleChangedInputs(gate, outcome, again))
  })
}

function stillWaits({ terminal }: CommandCall, id: string): Exit {
  terminal.err(`not approved; it still waits: writ deny ${visibleName(id)} ends it\n`)
  return EXIT.waiting
}

function asksFirst({ options }: CommandCall): boolean {
  return canAsk() && !options.isOn('yes') && !options.isOn('json')
}

/** With `--yes`, or with a passphrase that is handed over, the call itself is the yes. */
async function approval({ session, question }: FoundQuestion): Promise<Answered> {
  if (asksFirst(session.call)) return askAtTerminal(session, question, 'approve')
  const failure = failureText(question.result)
  if (failure !== null) session.call.terminal.err(`${failure}\n`)
  refuseAhead(session, question)
  const assured = await assureAhead(session, question, 'approving')
  return { kind: 'yes', ...assured(question), ...(failure === null ? {} : { toldFailure: true }) }
}
