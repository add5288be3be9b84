/**
 * One service a home and machine (H-6). The lock lasts as long as the process; a file in the folder says
 * who has it and where it answers.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { faultError, showName } from '../base/index.ts'
import { isObject } from '../contracts/index.ts'
import { holdFolderLock, makeFolder, readIfThere, writeWhole } from '../machine/index.ts'

const FOLDER = 'service'
const FILE = 'running.json'

interface ServiceMark {
  readonly pid: number
  readonly url: string
  readonly since: string
}

export class ServiceLock {
  readonly #folder: string
  readonly #release: () => void

  private constructor(folder: string, release: () => void) {
    this.#folder = folder
    this.#release = release
  }

  /** Fails if another service has the home, and says which. */
  static take(state: string): ServiceLock {
    const folder = join(state, FOLDER)
    makeFolder(folder, 0o700)
    const release = holdFolderLock(folder)
    if (release === null) throw running(readMark(state))
    return new ServiceLock(folder, release)
  }

  get socket(): string {
    return join(this.#folder, 'socket')
  }

  tell(service: ServiceMark): void {
    writeWhole(join(this.#folder, FILE), `${JSON.stringify(service)}\n`, 0o600)
  }

  release(): void {
    rmSync(join(this.#folder, FILE), { force: true })
    this.#release()
  }
}

/** What the last service of a home wrote down; it may be gone. */
function readMark(state: string): ServiceMark | null {
  const text = readIfThere(join(state, FOLDER, FILE))
  if (text === null) return null
  try {
    const value: unknown = JSON.parse(text.toString())
    if (!isObject(value)) return null
    const { pid, url, since } = value
    return { pid: Number(pid), url: String(url), since: String(since) }
  } catch {
    return null
  }
}

function running(other: ServiceMark | null): Error {
  const who = other === null ? 'another process' : `process ${other.pid}, at ${showName(other.url)}`
  const hint = other === null ? 'wait until it has ended' : `end it: kill ${other.pid}`
  return faultError('service.running', '', `${who} serves this home already`, hint)
}
