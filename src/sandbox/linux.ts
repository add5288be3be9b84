/**
 * The driver for Linux: user namespaces, overlayfs, bubblewrap, a filter of system calls, control groups
 * where this user may make some. Root and ordinary users get the same walls.
 *
 * Deliberately absent: native code, set-uid programs, a daemon. Everything is a program of the machine
 * that dies with this process.
 */

import { faultError } from '../base/index.ts'
import type { Probe, Sandbox, SandboxDriver, SandboxRequest } from './driver/driver.ts'

import { probeMachine } from './kernel/probe.ts'
import type { Architecture } from './kernel/syscalls.ts'
import { LinuxSandbox } from './linux-sandbox.ts'
import { MaskVanished, type Opened, openSandbox } from './preparation/open-sandbox.ts'
import { type SandboxPlan, survey, surveyKey } from './preparation/sandbox-plan.ts'
import { makeResources, type SandboxResources } from './preparation/sandbox-resources.ts'
import { startWatcher, type Watcher } from './supervision/watcher.ts'

interface DriverOptions {
  /** Where this user's sandboxes have their working directories; private to the user. */
  readonly directory?: string
  /** Directories for layers that do not fit into memory; the one on the root's disk is taken. */
  readonly disks?: readonly string[]
  /** Pipes left in stock stay for the next process of this user. */
  readonly keepsPipes?: boolean
  /** The built thread of watch.worker.ts, for who runs from sources. */
  readonly watcher?: URL
}

export function createDriver(options: DriverOptions = {}): SandboxDriver {
  return new LinuxDriver(options)
}

/** What has to be there before the first sandbox, and is made then. */
interface Plant {
  readonly shop: SandboxResources
  readonly watcher: Watcher
}

/** One that was begun before it was asked for, with what it was made for. */
interface Ahead {
  readonly request: SandboxRequest
  readonly found: SandboxPlan
  readonly sandbox: Promise<LinuxSandbox>
}

class LinuxDriver implements SandboxDriver {
  readonly name = 'linux'
  readonly #options: DriverOptions
  readonly #open = new Set<LinuxSandbox>()
  #plant: Plant | null = null
  #ahead: Ahead | null = null
  #closing: Promise<void> | null = null

  constructor(options: DriverOptions) {
    this.#options = options
  }

  async probe(): Promise<readonly Probe[]> {
    return probeMachine()
  }

  anticipate(request: SandboxRequest): void {
    // Kept layers must lie under one sandbox only.
    if (this.#ahead !== null || request.kept !== undefined) return
    try {
      const plant = this.#equip()
      const found = survey(request, plant.shop)
      const sandbox = this.#make(plant, request, found)
      sandbox.catch(() => undefined)
      this.#ahead = { request, found, sandbox }
    } catch {
      // `open` tries again and reports the failure.
    }
  }

  async open(request: SandboxRequest): Promise<Sandbox> {
    const plant = this.#equip()
    const found = survey(request, plant.shop)
    return (await this.#takeAhead(request, found)) ?? this.#make(plant, request, found)
  }

  /** A second call waits for the first. */
  close(): Promise<void> {
    this.#closing = this.#closing === null ? this.#close() : this.#closing.then(() => this.#close())
    return this.#closing
  }

  async #close(): Promise<void> {
    const plant = this.#plant
    if (plant === null) return
    this.#plant = null
    await this.#ahead?.sandbox.catch(() => undefined)
    await Promise.all([...this.#open].map((sandbox) => sandbox.close()))
    await plant.watcher.close()
    await plant.shop.remove()
  }

  /** What was begun ahead, if it means the same on the machine as it is now; else it is let go. */
  async #takeAhead(request: SandboxRequest, found: SandboxPlan): Promise<LinuxSandbox | null> {
    const ahead = this.#ahead
    if (ahead === null) return null
    this.#ahead = null
    const sandbox = await ahead.sandbox.catch(() => null)
    if (sandbox === null) return null
    const isFitting = surveyKey(ahead.request, ahead.found) === surveyKey(request, found)
    if (isFitting && sandbox.isAlive) {
      sandbox.adopt(request)
      return sandbox
    }
    sandbox.close().catch(() => undefined)
    return null
  }

  #equip(): Plant {
    if (this.#plant !== null) return this.#plant
    const shop = makeResources(this.#options, requirePlatform())
    this.#plant = { shop, watcher: startWatcher(this.#options.watcher) }
    return this.#plant
  }

  async #make(plant: Plant, request: SandboxRequest, found: SandboxPlan): Promise<LinuxSandbox> {
    const opened = await openAgain(request, found, plant.shop)
    const sandbox = new LinuxSandbox(request, opened, plant.watcher)
    this.#open.add(sandbox)
    sandbox.whenClosed(() => this.#open.delete(sandbox))
    return sandbox
  }
}

const OPENINGS_MAX = 8

/** Opens a sandbox. If a place that has to be hidden vanished meanwhile, surveys the machine again. */
async function openAgain(
  request: SandboxRequest,
  found: SandboxPlan,
  shop: SandboxResources,
): Promise<Opened> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await openSandbox(request, attempt === 1 ? found : survey(request, shop), shop)
    } catch (error) {
      if (!(error instanceof MaskVanished)) throw error
      if (attempt >= OPENINGS_MAX) throw faultError('sandbox.failed', '', error.message)
    }
  }
}

function requirePlatform(): Architecture {
  if (process.platform !== 'linux') {
    const message = `commands cannot be rehearsed on ${process.platform}, only on Linux`
    throw faultError('sandbox.platform', process.platform, message)
  }
  if (process.arch === 'x64' || process.arch === 'arm64') return process.arch
  const message = `there is no filter of system calls for ${process.arch}`
  throw faultError('sandbox.platform', process.arch, message)
}
