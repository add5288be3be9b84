/**
 * `writ run`: runs a coding agent in a session. The agent works as it always does; what it changes
 * becomes real act by act through the gate, and each act can be undone.
 */
import { randomBytes } from 'node:crypto'
import { homedir } from 'node:os'
import { basename, dirname } from 'node:path'
import { faultError, showName, uuidV7 } from '../../base/index.ts'
import { hostPort, PROXY_PORT, showHostPort } from '../../gate/index.ts'
import { openHome } from '../../home/index.ts'
import { createDriver, type SandboxDriver } from '../../sandbox/index.ts'
import { stagePlaces } from '../../service/index.ts'
import { knownHost } from '../../sessions/index.ts'
import { probeView } from '../../view/index.ts'
import { type CommandCall, type OwnStatus, usageError } from '../call/command.ts'
import { refuseOthers } from '../call/home.ts'
import { surroundings } from '../call/terminal.ts'
import { readEnv } from '../exec/exec-proposal.ts'
import { absoluteGlobs, execScope } from '../exec/exec-scope.ts'
import { type GateSession, withGate } from '../gate/open.ts'
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
  const around = surroundings()
  const home = openHome(around, options.text('home'))
  const driver = createDriver({ disks: stagePlaces(home), keepsPipes: true })
  const work = async (session: GateSession): Promise<OwnStatus> => {
    refuseOthers(session.session.caller, 'starting a session')
    await requireLiveView(driver, home.state)
    const workspace = dirname(home.directory)
    const cwd = process.cwd()
    const nowMs = Date.now()
    const place = { cwd, home: homedir(), workspace }
    return carryOutSession(session, {
      sessionId: uuidV7(nowMs, randomBytes(10)),
      actionId: uuidV7(nowMs, randomBytes(10)),
      nowMs,
      resumed,
      agent: options.text('as') ?? agentName([program, ...rest], cwd),
      argv: [program, ...rest],
      cwd,
      workspace,
      scope: execScope(options.texts('scope'), place),
      write: absoluteGlobs(options.texts('write'), cwd),
      remove: absoluteGlobs(options.texts('delete'), cwd),
      hosts: readHosts(options.texts('net')),
      publish: options.texts('publish').map(readPort),
      env: readEnv(options.texts('env'), process.env),
      settle,
    })
  }
  return withGate(call, work, { home, driver })
}

/** Fails where the kernel does not show the real tree again under a process that works in it (S-1). */
async function requireLiveView(driver: SandboxDriver, state: string): Promise<void> {
  const { status, hint } = await probeView(driver, state)
  if (status !== 'absent') return
  const message = 'sessions do not work on this machine: its kernel cannot refresh a live view'
  throw faultError('sandbox.control_missing', 'live_view', message, hint ?? 'writ doctor')
}

/**
 * The name of the program, in the letters that names of actors have. An agent that another program starts,
 * such as `node` or `npx`, has its own.
 */
function agentName(argv: readonly [string, ...string[]], cwd: string): string {
  const host = knownHost({ argv, cwd, environment: process.env })
  const name = basename(argv[0])
  const known = host === null || host.programs.includes(name) ? name : host.programs[0]
  return (known ?? name).replaceAll(/[^\w.-]/g, '_').slice(0, 64) || 'agent'
}

function readHosts(texts: readonly string[]): readonly string[] {
  return texts.map((text) => {
    const read = hostPort(text)
    if (read !== null) return showHostPort(read.name, read.port)
    throw usageError(`${showName(text)} is not a host, or a host and a port`, '--net example.org')
  })
}

const PORT_MAX = 65_535

/** `OUTSIDE:INSIDE` as people know it from containers, or one number for both. */
function readPort(text: string): { readonly outside: number; readonly inside: number } {
  const [, first = '', second = first] = /^(\d{1,5})(?::(\d{1,5}))?$/.exec(text) ?? []
  const [outside, inside] = [Number(first), Number(second)]
  const isPort = (port: number): boolean => port >= 1 && port <= PORT_MAX
  if (isPort(outside) && isPort(inside) && inside !== PROXY_PORT) return { outside, inside }
  throw usageError(
    `${showName(text)} is no port that can be published`,
    '--publish 3000, or --publish 8080:3000 for port 3000 of the session at 8080 of this machine',
  )
}
