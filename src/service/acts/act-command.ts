/**
 * What an operation is inside the sandbox: one command for each kind of act, or why this machine has
 * none for it. A held request is nothing there: it is composed, digested and sent by the host after a
 * yes, so what runs in its place does nothing.
 *
 * What a UI_AUTOMATION needs of the machine: a browser, and the package that drives it. Both are looked
 * for when they are needed; where one is missing the refusal says how to get it.
 *
 * The driver runs inside like the browser it talks to, so it goes in with the program: an installation
 * may lie where nothing inside can see it.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { type FaultError, faultError } from '../../base/index.ts'
import { failureOfStatus } from '../../configuration/index.ts'
import type { ActionDescriptor, Operation, SandboxResult } from '../../contracts/index.ts'
import {
  commandOf,
  type OperationCommand,
  PACKAGE_MANAGERS,
  packageCommand,
} from '../../gate/index.ts'
import { isExecutable, workerEntry } from '../../machine/index.ts'
import type { RunOutcome } from '../../sandbox/index.ts'
import { requestLine, UI_STATUS } from './request.ts'
import type { UiRequest } from './ui-automation.program.ts'

interface ActSurroundings {
  readonly descriptor: ActionDescriptor
  /** Where programs are looked for inside. */
  readonly path: string
}

const NOTHING: OperationCommand = { argv: ['true'], cwd: '/', env: {}, stdin: 'empty' }
const DRIVER = 'playwright-core'
const DRIVER_VERSION = '1.65.0'
const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
/** Inside everything of a run lies in its own empty directory, which is thrown away. */
const FOLDER = '/tmp/writ-ui'
/** For the way back after the last step. */
const SPARE_MS = 2_000
/** Settings of the caller must not load anything into the program. */
const ENVIRONMENT = { NODE_OPTIONS: '', NODE_PATH: '' } as const

export function actCommand(operation: Operation, around: ActSurroundings): OperationCommand {
  switch (operation.type) {
    case 'CONFIG_CHANGE': {
      const { path, format, set, unset } = operation
      return insideCommand('config-change', { path, format, set, unset })
    }
    case 'PACKAGE_INSTALL':
    case 'PACKAGE_REMOVE':
      return managerCommand(operation, around)
    case 'NETWORK_REQUEST':
      return NOTHING
    case 'UI_AUTOMATION':
      return browserCommand(operation, around.descriptor, around.path)
    // `commandOf` has a case for each of the others.
    default: {
      const command = commandOf(operation)
      if (command === null) throw missing(operation.type, 'this kind of act cannot be rehearsed')
      return command
    }
  }
}

function managerCommand(
  operation: Extract<Operation, { type: 'PACKAGE_INSTALL' | 'PACKAGE_REMOVE' }>,
  { descriptor, path }: ActSurroundings,
): OperationCommand {
  const { manager } = operation
  const command = packageCommand(operation, descriptor.sandbox.allow_network)
  if (command === null) {
    const known = Object.keys(PACKAGE_MANAGERS).join(', ')
    throw missing(manager, `packages of \`${manager}\` cannot be changed; known are ${known}`)
  }
  const [program] = command.argv
  if (!isOnPath(program, path)) {
    const hint = PACKAGE_MANAGERS[manager]?.hint ?? ''
    throw missing(manager, `\`${manager}\` is not installed; install it with: ${hint}`)
  }
  return command
}

function missing(what: string, message: string): FaultError {
  return faultError('sandbox.control_missing', what, message)
}

function isOnPath(program: string, path: string): boolean {
  if (program.startsWith('/')) return isExecutable(program)
  return path.split(delimiter).some((folder) => isExecutable(join(folder, program)))
}

/** Of the driver, what it loads to start a browser and to speak with it. */
const DRIVER_FILES = [
  'package.json',
  'browsers.json',
  'index.js',
  'lib/bootstrap.js',
  'lib/coreBundle.js',
  'lib/package.js',
  'lib/serverRegistry.js',
  'lib/utilsBundle.js',
]

function browserCommand(
  { start_url, steps }: Extract<Operation, { type: 'UI_AUTOMATION' }>,
  descriptor: ActionDescriptor,
  path: string,
): OperationCommand {
  const request: UiRequest = {
    folder: FOLDER,
    browser: findBrowser([...path.split(delimiter), '/usr/bin']),
    driver: readDriver(),
    startUrl: start_url,
    steps,
    timeoutMs: Math.max(1_000, descriptor.resources.max_duration_ms - SPARE_MS),
  }
  const command = insideCommand('ui-automation', request)
  const home = `${FOLDER}/home`
  const env = {
    HOME: home,
    XDG_CONFIG_HOME: `${home}/.config`,
    XDG_CACHE_HOME: `${home}/.cache`,
    XDG_DATA_HOME: `${home}/.local/share`,
    // The browser must not connect to the session's D-Bus.
    DBUS_SESSION_BUS_ADDRESS: 'disabled:',
  }
  return { ...command, env: { ...command.env, ...env } }
}

/** The first in the order of names, wherever it lies. */
export function findBrowser(folders: readonly string[]): string {
  for (const name of BROWSERS) {
    const found = folders.find((folder) => folder !== '' && isOnPath(join(folder, name), ''))
    if (found !== undefined) return join(found, name)
  }
  throw missing('browser', 'no browser is installed; install one with: apt-get install chromium')
}

function readDriver(): UiRequest['driver'] {
  const folder = driverFolder()
  return DRIVER_FILES.map((name) => ({
    name,
    base64: readFileSync(join(folder, name)).toString('base64'),
  }))
}

function driverFolder(): string {
  try {
    const { resolve } = createRequire(import.meta.url)
    return dirname(resolve(`${DRIVER}/package.json`))
  } catch {
    const hint = `npm install ${DRIVER}@${DRIVER_VERSION}`
    throw missing(
      DRIVER,
      `the package that drives browsers is not installed; install it with: ${hint}`,
    )
  }
}

/**
 * Programs of writ's own that run inside a sandbox: untrusted files are parsed
 * there and nowhere else. The whole program and what it is asked go in on its standard input, so
 * nothing of writ has to be visible inside but the runtime itself, and no argument is too long.
 */
function insideCommand(
  program: 'config-change' | 'ui-automation',
  request: unknown,
): OperationCommand {
  const source = readFileSync(workerEntry(`service/acts/${program}.program.js`))
  return {
    argv: [process.execPath, '--input-type=module', '-'],
    cwd: '/',
    env: ENVIRONMENT,
    stdin: Buffer.concat([Buffer.from(requestLine(request)), source]),
  }
}

/** What an act that failed says about why, where its kind has names for that. */
export function actFindings(
  operation: Operation | undefined,
  { exitCode, killedBy, aborted }: RunOutcome,
): SandboxResult['findings'] {
  if (killedBy !== null || aborted) return []
  if (operation?.type === 'UI_AUTOMATION') {
    if (exitCode === UI_STATUS.browser) return [{ code: 'ui.browser' }]
    return exitCode === UI_STATUS.step ? [{ code: 'ui.step' }] : []
  }
  if (operation?.type !== 'CONFIG_CHANGE') return []
  const code = failureOfStatus(exitCode)
  return code === null ? [] : [{ code, path: operation.path }]
}
