/**
 * `writ run`: runs a coding agent in a session. The agent works as it always does; what it changes
 * becomes real act by act through the gate, and each act can be undone.
 */
import { randomBytes } from 'node:crypto'
import { homedir } from 'node:os'
import { basename, dirname } from 'node:path'
import { faultError, showName, uuidV7 } from '../../base/index.ts'
import { hostPort, showHostPort } from '../../gate/index.ts'
import { type CommandCall, type OwnStatus, usageError } from '../call/command.ts'
import { refuseOthers } from '../call/home.ts'
import { readEnv } from '../exec/exec-proposal.ts'
import { absoluteGlobs, execScope } from '../exec/exec-scope.ts'
import { withGate } from '../gate/open.ts'
import { carryOutSession } from '../session/session-run.ts'

const MODES = ['auto', 'tool', 'end', 'never'] as const

export async function run(call: CommandCall): Promise<OwnStatus> {
  if (process.env['WRIT_SESSION'] !== undefined) {
    const message = 'this process already runs in a session, and sessions are not nested'
    throw faultError('session.nested', '', message, 'run the agent itself, without `writ run`')
  }
  const { options } = call
  const resumed = options.text('resume')
  const [program, ...rest] = call.arguments
  if (program === undefined || program === '') {
    throw usageError('no agent is named', 'writ run -- claude')
  }
  const settle = MODES.find((mode) => mode === (options.text('settle') ?? 'auto'))
  if (settle === undefined) {
    throw usageError(`--settle is one of ${MODES.join(', ')}`, 'writ run --settle end -- claude')
  }
  return withGate(call, async (session) => {
    refuseOthers(session.session.caller, 'starting a session')
    const workspace = dirname(session.session.home.directory)
    const cwd = process.cwd()
    const nowMs = Date.now()
    const place = { cwd, home: homedir(), workspace }
    return carryOutSession(session, {
      sessionId: uuidV7(nowMs, randomBytes(10)),
      actionId: uuidV7(nowMs, randomBytes(10)),
      nowMs,
      resumed,
      agent: options.text('as') ?? agentName(program),
      argv: [program, ...rest],
      cwd,
      workspace,
      scope: execScope(options.texts('scope'), place),
      write: absoluteGlobs(options.texts('write'), cwd),
      remove: absoluteGlobs(options.texts('delete'), cwd),
      hosts: readHosts(options.texts('net')),
      env: readEnv(options.texts('env'), process.env),
      settle,
    })
  })
}

/** The name of the program, in the letters that names of actors have. */
function agentName(program: string): string {
  return (
    basename(program)
      .replaceAll(/[^\w.-]/g, '_')
      .slice(0, 64) || 'agent'
  )
}

function readHosts(texts: readonly string[]): readonly string[] {
  return texts.map((text) => {
    const read = hostPort(text)
    if (read !== null) return showHostPort(read.name, read.port)
    throw usageError(`${showName(text)} is not a host, or a host and a port`, '--net example.org')
  })
}
