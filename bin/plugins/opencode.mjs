/** The plugin of writ for OpenCode: reports tool calls, and does what the hook program answers. */
import { asker } from './ask.mjs'

export function plugin(words, isStrict) {
  const ask = asker(words, isStrict)
  const tell = asker(words, false)
  return async ({ directory }) => ({
    'tool.execute.before': async ({ tool, callID, sessionID }, output) => {
      const args = output.args ?? {}
      const cwd = args.workdir ?? directory
      const report = {
        boundary: 'before',
        tool,
        arguments: args,
        call: callID,
        session: sessionID,
        cwd,
      }
      const answer = await ask(report)
      if (answer.kind === 'deny') throw new Error(answer.reason)
      if (answer.kind === 'rewrite') output.args.command = answer.command
    },
    'tool.execute.after': async ({ tool, callID, sessionID, args = {} }, output) => {
      const cwd = args.workdir ?? directory
      const report = {
        boundary: 'after',
        tool,
        arguments: args,
        call: callID,
        session: sessionID,
        cwd,
      }
      const answer = await tell(report)
      if (answer.kind === 'feedback') output.output = `${output.output ?? ''}\n${answer.line}`
    },
    event: async ({ event }) => {
      if (event.type !== 'session.idle') return
      await tell({ boundary: 'stop', session: event.properties?.sessionID, cwd: directory })
    },
  })
}
