/**
 * Sandboxes made before they are needed, for programs that live long. An entry waits with its shell
 * inside, is used once, and fits only requests that mean the same on the machine as it is now: when a
 * root is replaced, a mask is added or a mount comes, the key changes and the entry is never taken.
 *
 * The pool learns: whatever was asked for last is made ready again.
 */
import type { SandboxRequest } from './driver.ts'
import type { LinuxSandbox } from './linux-sandbox.ts'
import type { Survey } from './survey.ts'

/** An overlay should not stand for long over a tree that others change. */
const AGE_MAX_MS = 60_000
/** A long run does not hold up the next one's sandbox. */
const PATIENCE_MS = 100
/** Who has used one has more to do: what it left is judged and put in place. */
const QUIET_MS = 25
/** Where so few are left, the next one is made at once. */
const LOW = 1
/** More at a time would take the processors away from who is waiting. */
const MAKING_MAX = 2

interface Entry {
  readonly key: string
  readonly madeAtMs: number
  readonly sandbox: Promise<LinuxSandbox>
}

/** By all pools of this process: control groups bear the name, and the machine has one of each. */
let made = 0

type Make = (request: SandboxRequest, found: Survey) => Promise<LinuxSandbox>

export class WarmPool {
  readonly #size: number
  readonly #make: Make
  #entries: readonly Entry[] = []
  #making = 0
  #isClosed = false

  constructor(size: number, make: Make) {
    this.#size = size
    this.#make = make
  }

  /** An entry that fits, perhaps still on its way; null when one has to be made. */
  take(key: string, request: SandboxRequest, found: Survey): Promise<LinuxSandbox> | null {
    const oldestMs = performance.now() - AGE_MAX_MS
    this.#drop((entry) => entry.madeAtMs <= oldestMs)
    const fitting = this.#entries.find((entry) => entry.key === key)
    if (fitting === undefined && this.#entries.length >= this.#size) {
      const [oldest] = this.#entries
      this.#drop((entry) => entry === oldest)
    }
    this.#entries = this.#entries.filter((entry) => entry !== fitting)
    const fill = (): void => this.#fill(key, request, found)
    // Making one takes the processor away from who is about to run and to read what it left: so when
    // that is over, or in a while.
    setTimeout(fill, PATIENCE_MS).unref()
    const afterUse = (): void => {
      if (this.#entries.length <= LOW) fill()
      else setTimeout(fill, QUIET_MS).unref()
    }
    fitting?.sandbox.then(
      (sandbox) => sandbox.afterUse(afterUse),
      () => undefined,
    )
    return fitting?.sandbox ?? null
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const entries = this.#entries
    this.#entries = []
    await Promise.all(entries.map(discard))
  }

  #fill(key: string, request: SandboxRequest, found: Survey): void {
    while (!this.#isClosed && this.#entries.length < this.#size && this.#making < MAKING_MAX) {
      this.#making++
      const name = `warm-${process.pid}-${made++}`
      const sandbox = this.#ready({ ...request, sandboxId: name }, found)
      const entry: Entry = { key, madeAtMs: performance.now(), sandbox }
      this.#entries = [...this.#entries, entry]
      sandbox.then(
        () => this.#done(key, request, found),
        () => this.#failed(entry),
      )
    }
  }

  async #ready(request: SandboxRequest, found: Survey): Promise<LinuxSandbox> {
    const sandbox = await this.#make(request, found)
    await sandbox.ready()
    return sandbox
  }

  #done(key: string, request: SandboxRequest, found: Survey): void {
    this.#making--
    this.#fill(key, request, found)
  }

  /** Who asks next makes one itself and hears why it cannot be. */
  #failed(entry: Entry): void {
    this.#making--
    this.#entries = this.#entries.filter((other) => other !== entry)
  }

  #drop(isStale: (entry: Entry) => boolean): void {
    for (const entry of this.#entries.filter(isStale)) discard(entry)
    this.#entries = this.#entries.filter((entry) => !isStale(entry))
  }
}

async function discard({ sandbox }: Entry): Promise<void> {
  const made = await sandbox.catch(() => null)
  await made?.close()
}
