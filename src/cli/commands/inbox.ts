/** `writ inbox`: the questions that wait for a human, each with what it is about. */
import type { PendingQuestion } from '../../host/index.ts'
import { type Call, EXIT, type Exit } from '../command.ts'
import { countsText } from '../effects/amount.ts'
import { shortDigest } from '../effects/question-text.ts'
import { withGate } from '../gate/open.ts'
import { plain } from '../history/plain.ts'
import { table } from '../history/table.ts'

const HEADS = ['id', 'kind', 'effects', 'result', 'needs', 'until'] as const

export async function run(call: Call): Promise<Exit> {
  return withGate(call, async ({ gate }) => {
    const pending = await gate.pending()
    const { terminal, options } = call
    if (options.isOn('json')) await terminal.out(`${JSON.stringify({ pending })}\n`)
    else if (pending.length === 0) await terminal.out('nothing waits\n')
    else await terminal.out(table(terminal, HEADS, pending.map(row)))
    return EXIT.yes
  })
}

function row(question: PendingQuestion): readonly string[] {
  return [
    plain(question.id),
    plain(question.kind),
    countsText(question.effects),
    shortDigest(question.result_digest),
    question.needs,
    question.expires_at,
  ]
}
