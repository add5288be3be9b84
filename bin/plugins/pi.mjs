/** The extension of writ for pi: reports tool calls, and does what the hook program answers. */
import { asker } from './ask.mjs'

export function plugin(words, isStrict) {
  const ask = asker(words, isStrict)
  const tell = asker(words, false)
  return (pi) => {
    pi.on('tool_call', async (event, context) => {
      const answer = await ask(reportOf('before', event, context))
      if (answer.kind === 'deny') return { block: true, reason: answer.reason }
      if (answer.kind === 'rewrite') event.input.command = answer.command
    })
    pi.on('tool_result', async (event, context) => {
      const answer = await tell(reportOf('after', event, context))
      if (answer.kind !== 'feedback') return
      return { content: [...(event.content ?? []), { type: 'text', text: answer.line }] }
    })
    pi.on('agent_end', async (_event, context) => {
      await tell({ ...around(context), boundary: 'stop' })
    })
  }
}

function reportOf(boundary, event, context) {
  const { toolName: tool, toolCallId: call, input } = event
  return { ...around(context), boundary, tool, call, arguments: input ?? {} }
}

function around(context) {
  return {
    cwd: context?.cwd,
    session: context?.sessionManager?.getSessionId?.(),
    model: context?.model?.id,
  }
}
