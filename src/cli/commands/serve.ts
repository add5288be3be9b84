/** `writ serve`: serves a home over HTTP until a signal ends it. */
import { faultError, showName } from '../../base/index.ts'
import { startServer } from '../../server/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { refuseBelowAgent, refuseTokens } from '../call/home.ts'
import { surroundings } from '../call/terminal.ts'
import { ownProgram } from '../hooks/own-program.ts'
import { consoleOf, evaluate, explain } from './mcp.ts'

const WHAT = 'serving a home'
const PORT = 4180

export async function run(call: CommandCall): Promise<Exit> {
  const { options, terminal } = call
  const around = surroundings()
  refuseTokens(around, WHAT)
  refuseBelowAgent(WHAT)
  const server = await startServer({
    around,
    home: options.text('home'),
    listen: {
      ...addressOf(options.text('listen')),
      isBehindProxy: options.isOn('behind-proxy'),
      names: options.texts('name'),
    },
    tls: tlsOf(call),
    program: ownProgram(),
    writeLog: (line) => terminal.err(line),
    mcp: { explain, evaluate, console: consoleOf(call) },
  })
  const { url, socket } = server
  const text = options.isOn('json') ? JSON.stringify({ url, socket }) : `serving at ${url}`
  await terminal.out(`${text}\n`)
  await signalled()
  await server.stop()
  return EXIT.yes
}

function addressOf(text: string | null): { readonly host: string; readonly port: number } {
  if (text === null) return { host: '127.0.0.1', port: PORT }
  const [, host = '', port = ''] = /^\[?([^\]]+)\]?:(\d{1,5})$/.exec(text) ?? []
  if (host !== '' && Number(port) < 65_536) return { host, port: Number(port) }
  throw usageError(`${showName(text)} is no address`, '--listen 127.0.0.1:4180')
}

function tlsOf({ options }: CommandCall): { readonly cert: string; readonly key: string } | null {
  const [cert, key] = [options.text('tls-cert'), options.text('tls-key')]
  if (cert === null && key === null) return null
  if (cert !== null && key !== null) return { cert, key }
  throw faultError('cli.usage', '', '`--tls-cert` and `--tls-key` belong together')
}

function signalled(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve()).once('SIGTERM', () => resolve())
  })
}
