/**
 * What a request means on this machine as it is now: which directories get an overlay and which places
 * are out of sight. Two requests with the same key can use the same sandbox, made before either came.
 */
import { statSync } from 'node:fs'
import { faultError } from '../../base/index.ts'
import type { SandboxRequest } from '../driver/driver.ts'

import { isWithin, readMounts } from '../kernel/mount-table.ts'
import { type MachineView, planMachineView } from '../layers/machine-view.ts'
import { type Mask, masksOf } from '../layers/masks.ts'
import { type OverlayPlan, planOverlays, stackOf } from '../layers/overlay-plan.ts'
import type { SandboxResources } from './sandbox-resources.ts'

const HIDDEN_ALREADY = ['/tmp', '/var/tmp', '/dev', '/run', '/proc', '/sys']

export interface SandboxPlan {
  readonly plan: OverlayPlan
  readonly view: MachineView
  /** Looked for when first asked, since that can wait until the holder is on its way. */
  readonly masksNow: () => Masks
}

export function survey(request: SandboxRequest, shop: SandboxResources): SandboxPlan {
  const mounts = readMounts()
  const plan = planOverlays(request, mounts)
  refuseForeignRoots(request, plan)
  const roots = [...plan.roots.map(({ path }) => path), ...plan.shown]
  const masked = new Set(shop.systemMasks.outside(request.scopeRoots).map(({ path }) => path))
  const isMasked = (directory: string): boolean =>
    masked.has(directory) && !roots.some((root) => isWithin(root, directory))
  const view = planMachineView({ mounts, roots, parts: plan.shown, isMasked })
  let found: Masks | null = null
  return {
    plan,
    view,
    masksNow: () => {
      found ??= masksFor(request, plan, shop)
      return found
    },
  }
}

/** Everything that is fixed when a sandbox is made; CPU and wall time are not. */
export function surveyKey(request: SandboxRequest, { plan, view, masksNow }: SandboxPlan): string {
  const { caps, sockets, allOwners, emptied, bases, hasChannel, kept, private: own } = request
  const { hasClosedOutput } = request
  const { memoryMb, diskMb, processes } = caps
  const fixed = [memoryMb, diskMb, processes, sockets, allOwners, emptied, bases, hasChannel]
  return JSON.stringify([plan, view, masksNow(), fixed, kept, own, hasClosedOutput])
}

function refuseForeignRoots({ scopeRoots, allOwners }: SandboxRequest, plan: OverlayPlan): void {
  const own = process.getuid?.() ?? 0
  if (allOwners && own !== 0) {
    const place = scopeRoots[0] ?? ''
    const message = `files of other owners in \`${place}\` can be rehearsed by root only`
    const hint = 'run it as root, or change their owner with `sudo chown`'
    throw faultError('sandbox.unmapped_owner', place, message, hint)
  }
  if (allOwners) return
  for (const path of scopeRoots) {
    const { uid } = plan.roots.find((root) => root.path === path) ?? statSync(path)
    if (uid === own) continue
    const message = `the directory \`${path}\` belongs to user ${uid}, and this command runs as user ${own}: a sandbox of user ${own} cannot change files of others`
    const hint = `run it as user ${uid}, or make the directory yours: \`sudo chown -R ${own} ${path}\``
    throw faultError('sandbox.unmapped_owner', path, message, hint)
  }
}

export interface Masks {
  /** By the holder, before bubblewrap. */
  readonly mounted: readonly Mask[]
  /** By bubblewrap: places that hold a root or the working directory, and so cannot go before. */
  readonly late: readonly string[]
  /** Parts of the roots that are shown unwritable, by the holder. */
  readonly sealed: readonly string[]
}

function masksFor(
  request: SandboxRequest,
  { roots, shown }: OverlayPlan,
  { directory, ownPlaces, systemMasks }: SandboxResources,
): Masks {
  const paths = [...roots.map(({ path }) => path), ...shown]
  const holdsRoot = (path: string): boolean => paths.some((root) => isWithin(root, path))
  const system = systemMasks.outside(request.scopeRoots)
  const late = system.filter(({ path }) => holdsRoot(path) || isWithin(directory, path))
  const early = system.filter((mask) => !late.includes(mask))
  const gone = [...HIDDEN_ALREADY, ...late.map(({ path }) => path)]
  const { banned = [], bases = [] } = request
  const hidden = [...request.hidden, ...banned, ...ownPlaces]
  const covered = early.map(({ path }) => path)
  const wanted = hidden.filter((path) => isInside(path, paths) || !isInside(path, gone))
  const uncovered = wanted.filter((path) => !isInside(path, covered))
  const kindAt = stackOf(bases)
  const mounted = [
    ...early,
    ...masksOf(uncovered, bases.length === 0 ? undefined : kindAt, new Set(banned)),
  ]
  return {
    mounted,
    sealed: sealedIn(request, roots, mounted).filter((path) => kindAt(path) !== null),
    late: late
      .map(({ path }) => path)
      .filter((path) => !paths.includes(path) && !isInside(path, paths)),
  }
}

/** Returns the read-only paths that no mask hides. */
function sealedIn(
  { readOnly = [] }: SandboxRequest,
  roots: OverlayPlan['roots'],
  masks: readonly Mask[],
): readonly string[] {
  const covered = masks.map(({ path }) => path)
  const covers = roots.map(({ path }) => path)
  return [...new Set(readOnly)]
    .sort()
    .filter((path) => isInside(path, covers) && !isInside(path, covered))
}

export function isInside(path: string, places: readonly string[]): boolean {
  return places.some((place) => isWithin(path, place))
}

export function isRoot(): boolean {
  return process.getuid?.() === 0
}
