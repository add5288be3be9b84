/**
 * What a UI_AUTOMATION needs of the machine: a browser, and the package that drives it. Both are looked
 * for when they are needed; where one is missing the refusal says how to get it.
 *
 * The driver runs inside like the browser it talks to, so it goes in with the program: an installation
 * may lie where nothing inside can see it.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import type { ActionDescriptor, Operation } from '../../contracts/index.ts'
import type { OperationCommand } from '../../gate/index.ts'
import { isOnPath, missing } from './act-command.ts'
import { insideCommand } from './inside.ts'
import type { UiRequest } from './ui-automation.program.ts'

const DRIVER = 'playwright-core'
const DRIVER_VERSION = '1.65.0'
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
const BROWSERS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
/** Inside everything of a run lies in its own empty directory, which is thrown away. */
const FOLDER = '/tmp/writ-ui'
/** For the way back after the last step. */
const SPARE_MS = 2_000

export function browserCommand(
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
