/**
 * `writ hook event`: the program that hooks of coding agents start. Reads one event from standard
 * input, prints exactly one JSON object, and leaves with status 2 on any doubt.
 */
import { readFileSync } from 'node:fs'
import { stateRoot } from '../../home/index.ts'
import { answerEvent, ticketFolder } from '../../hooks/index.ts'
import { hostNamed } from '../../hosts/index.ts'
import { type CommandCall, EXIT, type Exit } from '../call/command.ts'
import { surroundings } from '../call/terminal.ts'
import { ownProgram } from '../hooks/own-program.ts'

export async function run({ arguments: words, options, terminal }: CommandCall): Promise<Exit> {
  const [name = '', event = null] = words
  const host = hostNamed(name)
  if (host === null || words.length > 2) return doubt(terminal, 'the hook names no coding agent')
  const around = surroundings()
  try {
    const { stdout, stderr, status } = await answerEvent({
      host,
      event,
      isWrapping: options.isOn('wrap'),
      input: readFileSync(0, 'utf8'),
      channel: around.env['WRIT_SESSION_CHANNEL'] || null,
      writ: ownProgram(),
      tickets: ticketFolder(stateRoot(around)),
      cwd: around.cwd,
      nowMs: Date.now(),
    })
    if (stderr !== '') terminal.err(stderr)
    if (stdout !== '') await terminal.out(stdout)
    return status === 0 ? EXIT.yes : EXIT.usage
  } catch (error) {
    return doubt(terminal, error instanceof Error ? error.message : String(error))
  }
}

/** Status 2 blocks the call. Every other failure lets it run in most hosts. */
function doubt(terminal: CommandCall['terminal'], why: string): Exit {
  terminal.err(`writ: the hook failed, so the call is blocked: ${why}\n`)
  return EXIT.usage
}
