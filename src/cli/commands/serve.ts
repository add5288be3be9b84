/** `writ serve`: serves a home over HTTP until a signal ends it. */
import { startServer } from '../../server/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { refuseBelowAgent, refuseTokens } from '../call/home.ts'
import { listenOption, signalled, tlsOption } from '../call/listening.ts'
import { surroundings } from '../call/terminal.ts'
import { numberOption } from '../history/option-values.ts'
import { ownProgram } from '../hooks/own-program.ts'
import { consoleOf, evaluate, explain } from './mcp.ts'

const WHAT = 'serving a home'
const PORT = 4180
const [ANCHOR_FACTS, ANCHOR_MINUTES, PACE_MAX] = [1_000, 10, 1_000_000]

export async function run(call: CommandCall): Promise<Exit> {
  const { options, terminal } = call
  const around = surroundings()
  refuseTokens(around, WHAT)
  refuseBelowAgent(WHAT)
  const server = await startServer({
    around,
    home: options.text('home'),
    listen: {
      ...listenOption(call, PORT),
      names: options.texts('name'),
    },
    tls: tlsOption(call),
    program: ownProgram(),
    writeLog: (line) => terminal.err(line),
    mcp: { explain, evaluate, console: consoleOf(call) },
    anchorPace: {
      facts: numberOption(call, 'anchor-facts', PACE_MAX) ?? ANCHOR_FACTS,
      minutes: numberOption(call, 'anchor-minutes', PACE_MAX) ?? ANCHOR_MINUTES,
    },
  })
  const { url, console, socket } = server
  const text = options.isOn('json')
    ? JSON.stringify({ url, console, socket })
    : `serving at ${url}; people log in at ${console}`
  await terminal.out(`${text}\n`)
  const lost = await Promise.race([signalled().then(() => null), server.lost])
  await server.stop()
  if (lost !== null) throw lost
  return EXIT.yes
}
