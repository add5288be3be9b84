/**
 * `writ hook doctor`: what happens when the hooks of an installed coding agent fail, tried for real
 * against a stand-in for its model; which tools wrapping does not cover; what this project switches off.
 */
import { delimiter, join } from 'node:path'
import { faultError, showName } from '../../base/index.ts'
import { type FaultTrial, switchesIn, tryFaults } from '../../hooks/index.ts'
import type { AgentHost } from '../../hosts/index.ts'
import { isExecutable } from '../../machine/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { refuseBelowAgent, refuseTokens } from '../call/home.ts'
import { surroundings } from '../call/terminal.ts'
import { placesHere } from '../hooks/own-places.ts'
import { ownBin } from '../hooks/own-program.ts'
import { namedHost } from './hook.ts'

const WHAT = 'trying the hooks of a coding agent'

export async function run(call: CommandCall): Promise<Exit> {
  const around = surroundings()
  refuseTokens(around, WHAT)
  refuseBelowAgent(WHAT)
  const [name, ...others] = call.arguments
  if (name === undefined || others.length > 0) throw usageError('name one coding agent')
  const host = namedHost(name)
  const program = programOf(host, call.options.text('program'))
  const { terminal, options } = call
  const bin = ownBin()
  const rows: FaultTrial[] = []
  const order = {
    host,
    program: [program],
    writ: join(bin, 'writ.cjs'),
    plugins: join(bin, 'plugins'),
  }
  for await (const row of tryFaults(order)) {
    rows.push(row)
    if (!options.isOn('json')) await terminal.out(rowText(row))
  }
  const switches = await switchesIn(host, placesHere().project)
  const { uncovered } = host.hooks
  const isSafe = rows.every(({ shell, edit }) => shell !== 'executed' && edit !== 'executed')
  if (options.isOn('json')) {
    await terminal.out(
      `${JSON.stringify({ host: host.name, program, faults: rows, uncovered, switches })}\n`,
    )
  } else await terminal.out(endText(host, switches))
  return isSafe ? EXIT.yes : EXIT.no
}

/** Found in the person's own PATH: it is the program that they start. */
function programOf(host: AgentHost, given: string | null): string {
  if (host.trial === null) {
    const message = `${host.title} cannot run a turn without a person, so its hooks cannot be tried`
    throw faultError('hook.host', host.name, message, `writ hook list ${host.name}`)
  }
  const folders = (surroundings().env['PATH'] ?? '').split(delimiter)
  const paths = folders.flatMap((folder) => host.programs.map((name) => join(folder, name)))
  const found = given ?? paths.find(isExecutable)
  if (found !== undefined && isExecutable(found)) return found
  const message = `${given === null ? host.title : showName(given)} is not installed here`
  throw faultError(
    'hook.missing_host',
    host.name,
    message,
    'name its program with `--program PATH`',
  )
}

const WORDS = {
  gated: 'goes through writ exec',
  blocked: 'blocked',
  executed: 'EXECUTED FOR REAL',
  silent: 'not known: the host called no tool',
} as const

function rowText({ fault, says, shell, edit, note }: FaultTrial): string {
  const more = note === null ? '' : `  ${note.split('\n').join(' ')}\n`
  return `${fault}: ${says}\n  shell: ${WORDS[shell]}; edit tool: ${WORDS[edit]}\n${more}`
}

function endText(host: AgentHost, switches: Awaited<ReturnType<typeof switchesIn>>): string {
  const lines = [
    `Tools of ${host.title} that wrapping does not cover:`,
    ...host.hooks.uncovered.map(({ tool, why }) => `  ${tool}: ${why}`),
    ...switches.map(
      ({ file, keys, effect, survives }) =>
        `This project: ${file} ${keys.join('.')} ${effect}. What remains: ${survives}`,
    ),
    'In a session (`writ run`) the kernel confines the agent, whether its hooks work or not.',
  ]
  return `${lines.join('\n')}\n`
}
