/**
 * The stage of the guided tour: chapters speak and show through it. A chapter states what it
 * expects; a tour that does not go as told ends with a fault, so it cannot drift from the product.
 */
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { BrokenInvariant } from '../../base/index.ts'
import {
  type KnownHome,
  makeHome,
  registerHome,
  type Surroundings,
  stateRoot,
} from '../../home/index.ts'
import { MAIN_STREAM, type Principal } from '../../ledger/index.ts'
import { removeTreeSync } from '../../machine/index.ts'
import { createDriver, type SandboxDriver } from '../../sandbox/index.ts'
import { type GateSurface, openGate } from '../../service/index.ts'
import { type Ledger, openLedger } from '../../store/index.ts'
import type { Paint, Terminal } from '../call/terminal.ts'

export interface Chapter {
  readonly title: string
  readonly play: (stage: DemoOutput) => Promise<void> | void
}

export class DemoOutput {
  readonly #paint: Paint
  #text = ''

  constructor(terminal: Terminal) {
    this.#paint = terminal.paint
  }

  get paint(): Paint {
    return this.#paint
  }

  say(text: string): void {
    this.#text += `${text}\n`
  }

  /** A command line that the reader can repeat. */
  command(text: string): void {
    this.#text += `\n  ${this.#paint.dim('$')} ${this.#paint.strong(text)}\n`
  }

  /** What was answered, indented. */
  answer(text: string): void {
    this.#text += `${text.replace(/^(?=.)/gm, '  ')}\n`
  }

  expect(holds: boolean, what: string): void {
    if (!holds) throw new BrokenInvariant(`the tour expected: ${what}`)
  }

  /** Takes what has been said so far. */
  take(): string {
    const text = this.#text
    this.#text = ''
    return text
  }
}

export const ANN: Principal = { kind: 'human', id: 'ann', namespace: 'local' }

export interface Shop {
  readonly project: string
  readonly around: Surroundings
  readonly home: KnownHome
  readonly ledger: Ledger
  readonly driver: SandboxDriver
  gateOf(principal: Principal): Promise<GateSurface>
}

/**
 * A throw-away project with a home, a ledger and a sandbox of its own, for the chapters that act.
 * All of it is real, and gone afterwards. `files` are by path below the project.
 */
export async function inShop(
  files: Readonly<Record<string, string>>,
  work: (shop: Shop) => Promise<void>,
): Promise<void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-demo-')))
  try {
    await openShop(folder, files, work)
  } finally {
    removeTreeSync(folder)
  }
}

async function openShop(
  folder: string,
  files: Readonly<Record<string, string>>,
  work: (shop: Shop) => Promise<void>,
): Promise<void> {
  const project = join(folder, 'shop')
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), text)
  }
  mkdirSync(join(folder, 'home'))
  const around: Surroundings = {
    cwd: project,
    env: { PATH: process.env['PATH'], XDG_STATE_HOME: join(folder, 'state') },
    userDirectory: join(folder, 'home'),
    userName: 'ann',
  }
  const made = (await makeHome(around, null, { principal: ANN, source: 'demo' })).home
  // The laws among the files are Ann's own.
  registerHome(around, made)
  const home = { ...made, registeredLaws: made.laws }
  const ledger = await openLedger({ directory: home.state })
  const driver = createDriver()
  const gateOf = (principal: Principal): Promise<GateSurface> =>
    openGate({
      home,
      ledger,
      caller: { principal, streams: null, proof: 'none' },
      stream: MAIN_STREAM,
      stateRoot: stateRoot(around),
      userDirectory: around.userDirectory,
      environment: around.env,
      ancestors: [],
      hasPasskey: false,
      // No principal of the tour has one.
      hasCredential: false,
      driver,
      nowMs: Date.now,
    })
  try {
    await work({ project, around, home, ledger, driver, gateOf })
  } finally {
    await driver.close()
    await ledger.close()
  }
}
