/**
 * `writ exec`: runs any command under the gate. The command's output and status are its own; what
 * it would change is shown, asked about and only then made real.
 */
import { randomBytes } from 'node:crypto'
import { homedir } from 'node:os'
import { dirname } from 'node:path'
import { showName, uuidV7 } from '../../base/index.ts'
import { hostPort, showHostPort } from '../../gate/index.ts'
import { type KnownHome, openHome, stateRoot } from '../../home/index.ts'
import { redeemTicket, ticketFolder, withTickets } from '../../hooks/index.ts'
import { createDriver } from '../../sandbox/index.ts'
import { likelyRequest, stagePlaces } from '../../service/index.ts'
import { type CommandCall, type OwnStatus, usageError } from '../call/command.ts'
import { surroundings } from '../call/terminal.ts'
import { type ExecRequest, readEnv, readLimits } from '../exec/exec-proposal.ts'
import { carryOut } from '../exec/exec-run.ts'
import { absoluteGlobs, execScope } from '../exec/exec-scope.ts'
import { prepareReport, type ReportGround } from '../exec/report-file.ts'

/** What runs the text of a ticket; hosts mean bash too. */
const SHELL = '/bin/bash'

/** Starts the sandbox as soon as the request is read: its processes start while the ledger is opened. */
export async function run(call: CommandCall): Promise<OwnStatus> {
  const around = surroundings()
  const home = openHome(around, call.options.text('home'))
  // Who bears a token is known when the ledger is open; until then nothing is emptied for them.
  if (around.env['WRIT_TOKEN'] === undefined) prepareReport(call.options, personsGround(home))
  const request = readRequest(call, dirname(home.directory))
  const driver = createDriver({ disks: stagePlaces(home), keepsPipes: true })
  // With a network another sandbox is made than the usual one.
  if (request.hosts.length === 0) driver.anticipate(likely(request, home))
  return carryOut(call, request, { home, driver })
}

/** Returns where a person's report may lie, as far as that is known before the scope is read. */
function personsGround(home: KnownHome): ReportGround {
  const around = surroundings()
  const places = [home.directory, stateRoot(around)]
  return { cwd: around.cwd, places, scope: null, isPersons: true }
}

/** Most runs are of this kind; another one is made when it is asked for. */
function likely({ actionId, scope, resources }: ExecRequest, home: KnownHome) {
  const around = surroundings()
  const order = { sandboxId: actionId, home, stateRoot: stateRoot(around), roots: scope, resources }
  return likelyRequest(order, around.userDirectory)
}

function readRequest(call: CommandCall, workspace: string): ExecRequest {
  const { options } = call
  const [program, ...rest] = commandWords(call)
  if (program === undefined || program === '') {
    throw usageError('no command is named', 'writ exec -- CMD …')
  }
  if (options.isOn('json')) {
    const message = 'standard output belongs to the command'
    const hint =
      'the answer goes to a file with `--report FILE`, or to a descriptor with `--report-fd N`'
    throw usageError(message, hint)
  }
  const cwd = process.cwd()
  const nowMs = Date.now()
  const send = readHosts(options.texts('send'))
  return {
    actionId: uuidV7(nowMs, randomBytes(10)),
    createdAt: new Date(nowMs).toISOString(),
    argv: [program, ...rest],
    cwd,
    scope: execScope(options.texts('scope'), { cwd, home: homedir(), workspace }),
    write: absoluteGlobs(options.texts('write'), cwd),
    remove: absoluteGlobs(options.texts('delete'), cwd),
    resources: readLimits(options),
    env: readEnv(options.texts('env'), process.env),
    hosts: [...new Set([...readHosts(options.texts('net')), ...send])],
    send,
  }
}

/** The words of the command, or what a hook or `writ-shell` names instead of them. */
function commandWords({ arguments: words, options }: CommandCall): readonly string[] {
  const ticket = options.text('ticket')
  const shell = options.text('shell')
  if (ticket === null && shell === null) return words
  if ((ticket !== null && shell !== null) || words.length > 0) {
    throw usageError(
      'a ticket or a text takes the place of the command',
      'writ exec --ticket TICKET',
    )
  }
  const redeem = (id: string): string => {
    const folder = ticketFolder(stateRoot(surroundings()))
    return redeemTicket(folder, id, process.cwd(), Date.now()).command
  }
  const text = ticket === null ? withTickets(shell ?? '', redeem) : redeem(ticket)
  return [SHELL, '-c', text]
}

/** Each host in the one spelling that a scope has for it. */
function readHosts(texts: readonly string[]): readonly string[] {
  return texts.map((text) => {
    const read = hostPort(text)
    if (read !== null) return showHostPort(read.name, read.port)
    const message = `${showName(text)} is not a host, or a host and a port`
    throw usageError(message, '--net registry.npmjs.org')
  })
}
