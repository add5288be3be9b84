/**
 * Attributes that overlayfs itself writes, on roots that are about to lie under one: they would hide
 * or distort what is below. Roots only, and each once while it stays unchanged; what lies deeper is
 * found when changes are read.
 */
import { lstatSync } from 'node:fs'
import { sandboxFailure } from '../driver/failure.ts'
import type { PlannedRoot } from './overlay-plan.ts'

const KNOWN_MAX = 10_000

export class RootAttributes {
  readonly #clean = new Set<string>()

  /** Those that have to be looked at. */
  unknown(roots: readonly PlannedRoot[]): readonly PlannedRoot[] {
    return roots.filter((root) => !this.#clean.has(stateOf(root)))
  }

  /** Takes what was listed of them; throws when one of them carries such an attribute. */
  take(roots: readonly PlannedRoot[], listed: string): void {
    refuseCarriers(listed)
    if (this.#clean.size > KNOWN_MAX) this.#clean.clear()
    for (const root of roots) this.#clean.add(stateOf(root))
  }
}

/** As `getfattr` lists them. */
export function refuseCarriers(listed: string): void {
  const carrier = /^# file: (.*)$/m.exec(listed)?.[1]
  if (carrier !== undefined) throw carries(carrier)
}

/** Setting an attribute moves the time of the last change. */
function stateOf({ path, device, inode }: PlannedRoot): string {
  const changed = lstatSync(path, { bigint: true, throwIfNoEntry: false })?.ctimeNs ?? 0n
  return `${device}:${inode}:${changed}`
}

function carries(path: string) {
  const message = `the scope root \`${path}\` carries attributes named \`user.overlay.…\``
  const hint = `setfattr -x user.overlay.opaque ${path}`
  return sandboxFailure('sandbox.overlay_attributes', path, message, hint)
}
