/**
 * `writ mcp`: offers this home to one MCP client over standard input and output. The caller is the
 * principal of `WRIT_TOKEN`; without one nothing is served, because a model must not act as the person
 * at this machine.
 */
import { showName } from '../../base/index.ts'
import { establish } from '../../constitution/index.ts'
import { type McpHost, serveOverStdio } from '../../mcp/index.ts'
import { HostedHome, Turnstile } from '../../server/index.ts'
import { ancestorNames } from '../../service/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { surroundings } from '../call/terminal.ts'
import { explainAction } from '../laws/explained-action.ts'

const REHEARSALS = 2

export async function run(call: CommandCall): Promise<Exit> {
  const around = surroundings()
  const console = consoleOf(call)
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort())
  const home = await HostedHome.open(around, call.options.text('home'), ancestorNames())
  try {
    const rehearsals = new Turnstile(REHEARSALS)
    const host = { home, explain, evaluate, rehearsals, stop: stop.signal, console }
    await serveOverStdio(host, around.env['WRIT_TOKEN'] ?? '')
    return EXIT.yes
  } finally {
    await home.close()
  }
}

/** The same words as `writ laws explain --json`. */
export const explain: McpHost['explain'] = async (place, stream, action) => {
  const found = await explainAction(place, stream, action)
  return found === null ? null : { ...found.explanation, human: found.human }
}

/** The same verdicts as `writ rules eval`. */
export const evaluate: McpHost['evaluate'] = (rulesets, inputs, at) =>
  establish(rulesets.map((document) => ({ document }))).evaluate(inputs, at)

/** Where people answer questions in a browser; null without the option. */
export function consoleOf({ options }: CommandCall): string | null {
  const text = options.text('console')
  if (text === null) return null
  if (/^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : '')) return text
  throw usageError(`${showName(text)} is no address`, '--console http://writ.localhost:4180/')
}
