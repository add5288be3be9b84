/**
 * Attributes that overlayfs itself writes, on roots that are about to lie under one: they would hide
 * or distort what is below. Roots only, and each once while it stays unchanged; what lies deeper is
 * found when changes are read.
 */
import { execFile } from 'node:child_process'
import { lstatSync } from 'node:fs'
import { sandboxFailure } from './failure.ts'
import type { PlannedRoot } from './overlay-plan.ts'
import { PROGRAM_ENV, requireProgram } from './programs.ts'

const KNOWN_MAX = 10_000

export class RootAttributes {
  readonly #clean = new Set<string>()

  /** Rejects when one of them carries such an attribute. */
  async check(roots: readonly PlannedRoot[]): Promise<void> {
    const unknown = roots.filter((root) => !this.#clean.has(stateOf(root)))
    if (unknown.length === 0) return
    const [carrier] = await carriers(unknown.map(({ path }) => path))
    if (carrier !== undefined) throw carries(carrier)
    if (this.#clean.size > KNOWN_MAX) this.#clean.clear()
    for (const root of unknown) this.#clean.add(stateOf(root))
  }
}

/** Setting an attribute moves the time of the last change. */
function stateOf({ path, device, inode }: PlannedRoot): string {
  const changed = lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ctimeNs ?? 0n
  return `${device}:${inode}:${changed}`
}

function carriers(paths: readonly string[]): Promise<readonly string[]> {
  const program = requireProgram('getfattr')
  const words = ['--absolute-names', '-h', '-m', '^user\\.overlay\\.', '--', ...paths]
  return new Promise((resolve, reject) => {
    execFile(program, words, { env: PROGRAM_ENV, cwd: '/' }, (error, stdout) => {
      // Status 1 is a root without attributes at all, on a filesystem that has none.
      if (error !== null && error.code !== 1) {
        reject(sandboxFailure('sandbox.failed', paths[0] ?? '', error.message))
      } else resolve([...stdout.matchAll(/^# file: (.*)$/gm)].map(([, path = '']) => path))
    })
  })
}

function carries(path: string) {
  const message = `the scope root \`${path}\` carries attributes named \`user.overlay.…\``
  const hint = `setfattr -x user.overlay.opaque ${path}`
  return sandboxFailure('sandbox.overlay_attributes', path, message, hint)
}
