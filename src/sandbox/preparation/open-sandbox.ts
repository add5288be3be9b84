/**
 * Opening a sandbox: what is mounted where, in which backing, under which limits, up to the moment when
 * a shell waits inside. If a step fails, `openSandbox` undoes the earlier ones and then throws.
 */
import { lstatSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { faultError } from '../../base/index.ts'
import {
  quoteAll,
  readableNames,
  readableText,
  removeTree,
  requireProgram,
} from '../../machine/index.ts'
import type { Caps, Layer, SandboxRequest } from '../driver/driver.ts'

import { ownerMark } from '../driver/owner.ts'
import { ControlGroup } from '../kernel/cgroup.ts'
import type { MachineView } from '../layers/machine-view.ts'
import { procMasks } from '../layers/masks.ts'
import {
  BEFORE,
  EMPTY_FILE,
  MACHINE,
  MERGED,
  mountLines,
  preparedEntries,
  READ_ONLY,
  SCRATCH,
  SEALED,
  sealedRoots,
  VIEW,
} from '../layers/mount-lines.ts'
import { layersOver, type OverlayPlan, refuseCarriers } from '../layers/overlay-plan.ts'
import { destroyEnds, type Ends, openEnds, type Pipes } from '../pipes/pipe-ends.ts'
import {
  type BubblewrapOptions,
  bubbleArguments,
  FD,
  OPENS_ALL,
  OWNER_CAPABILITIES,
} from '../processes/bubble.ts'
import { CARRIERS, Holder, UNSEEN, type Upper } from '../processes/holder.ts'
import { AROUND, OWN, ScriptFiles, TERMINAL_TASKS, TOOLS } from '../processes/run-script.ts'
import { type DiskMeter, entriesMax } from '../supervision/watch.ts'
import { closesAny, makeClosed } from './closed-places.ts'
import { type KeptLayers, keepLayers } from './kept-layers.ts'
import { isInside, isRoot, type Masks, type SandboxPlan } from './sandbox-plan.ts'
import type { LayerStorage, SandboxResources } from './sandbox-resources.ts'

/** An open sandbox with a shell waiting inside, before anything ran in it. */
export interface Opened {
  readonly directory: string
  readonly holder: Holder
  readonly layers: readonly Layer[]
  readonly plan: OverlayPlan
  /** Directories of the machine that are shown empty, since no overlay can cover them. */
  readonly unseen: readonly string[]
  /** How many places are out of sight. */
  readonly hidden: number
  readonly group: ControlGroup | null
  readonly backing: LayerStorage
  readonly disk: DiskMeter
  readonly pipes: Pipes
  /** The owner that is not known inside; null where every owner is, or none but one. */
  readonly withheld: number | null
  /** What the shells inside read. */
  readonly scripts: ScriptFiles
  /** The directory for the pipes of commands for the side shell; null without a channel. */
  readonly tools: string | null
  readonly fifos: SandboxResources['fifos']
  /** Of the first run, whose bubblewrap starts by itself. */
  readonly ends: Ends
  readonly tidy: SandboxResources['tidy']
  /** Null where nothing outlives the sandbox. */
  readonly kept: KeptLayers | null
}

const PRIVATE_PLACES = ['/tmp', '/var/tmp'] as const
const SHARED_MEMORY = '/dev/shm'

/** Where layers outlive the sandbox, so does what lies in shared memory. */
function placesOf(kept: KeptLayers | null): readonly string[] {
  return kept === null ? PRIVATE_PLACES : [...PRIVATE_PLACES, SHARED_MEMORY]
}

const MEBIBYTE = 1024 * 1024
const SHARED_MEMORY_BYTES = 64 * MEBIBYTE
/** The holder, bubblewrap and the waiting shell. */
export const OWN_TASKS = 3
const OWN_BYTES = 16 * MEBIBYTE

/** Steps that take an opening back, in the order of what they undo. */
type Undo = (() => Promise<void> | void)[]

export async function openSandbox(
  request: SandboxRequest,
  survey: SandboxPlan,
  shop: SandboxResources,
): Promise<Opened> {
  const directory = join(shop.directory, fileName(request.sandboxId))
  const undo: Undo = []
  try {
    return await build(request, shop, survey, directory, undo)
  } catch (error) {
    for (const step of undo.reverse()) await step()
    throw error
  }
}

async function build(
  request: SandboxRequest,
  shop: SandboxResources,
  { plan, view, masksNow }: SandboxPlan,
  directory: string,
  undo: Undo,
): Promise<Opened> {
  const { backing, group } = makePlace(request, shop, plan, directory, undo)
  const withheld = makeClosed(request, directory)
  const unknown = shop.attributes.unknown(plan.roots)
  const over = plan.roots.map(({ path }) => layersOver(path, request.bases ?? []))
  const kept = request.kept === undefined ? null : await keepLayers(request.kept.directory, plan)
  const scratch = backing.kind === 'memory' ? 0 : placesOf(kept).length
  const holder = new Holder({
    directory,
    memory: backing.kind === 'memory' ? memoryOptions(request.caps) : null,
    doors: group?.doors ?? [],
    fullMap: request.allOwners,
    withheld,
    strayDescriptors: shop.strayDescriptors,
    attributesOf: unknown.map(({ path }) => path),
    hasChannel: request.hasChannel === true,
    hasKeeper: kept !== null,
    entries: preparedEntries(plan, view, over, scratch),
    uppers: uppersOf(plan, request, kept),
    starter: shop.starts.next(),
  })
  kept?.take(holder.pid)
  undo.push(() => holder.kill())
  // All of this happens while the holder starts.
  const pipes = pipesIn(directory)
  const tools = request.hasChannel === true ? makeTools(directory) : null
  const taken = takePipes(shop, pipes)
  const masks = masksNow()
  writeMounts(directory, plan, view, masks, scratch, over, withheld !== null, kept)
  const scripts = new ScriptFiles(directory)
  undo.push(() => scripts.close())
  const rights = capabilitiesOf(request, withheld !== null)
  const bubble = bubbleOf(request, plan, masks, directory, backing, shop, rights, kept)
  writeFileSync(join(directory, 'run'), runLine(bubble, shop.filters[request.sockets], directory))
  if (taken !== null) await taken
  const ends = openEnds(pipes)
  undo.push(() => destroyEnds(ends))
  // The holder waits for its maps if every owner is known inside; otherwise it can go on at once.
  if (request.allOwners) await holder.begin()
  holder.go()
  if (!request.allOwners) await holder.begin()
  await mounted(holder, plan, join(directory, CARRIERS))
  shop.attributes.take(unknown)
  return {
    directory,
    holder,
    layers: layersOf(plan, holder, directory, backing, over, kept),
    kept,
    tools,
    fifos: shop.fifos,
    plan,
    unseen: [...view.unseen, ...unseenIn(directory)],
    hidden: masks.mounted.length + masks.late.length,
    group,
    backing,
    disk: diskMeter(holder, directory, backing),
    pipes,
    withheld,
    scripts,
    ends,
    tidy: shop.tidy,
  }
}

/** Chooses the backing and makes the working directory and the control group. */
function makePlace(
  request: SandboxRequest,
  shop: SandboxResources,
  plan: OverlayPlan,
  directory: string,
  undo: Undo,
): Pick<Opened, 'backing' | 'group'> {
  const name = fileName(request.sandboxId)
  const backing: LayerStorage =
    request.kept === undefined
      ? shop.chooseBacking(request.caps.diskMb, scopeDevice(request, plan), name)
      : { kind: 'disk', directory: request.kept.directory, release: () => undefined }
  undo.push(backing.release)
  mkdirSync(directory, { mode: 0o700 })
  undo.push(() => removeTree(directory))
  // The holder mounts there as its first act.
  mkdirSync(join(directory, VIEW), { mode: 0o700 })
  if (backing.kind === 'memory') mkdirSync(join(directory, 't'), { mode: 0o700 })
  else symlinkSync(backing.directory, join(directory, 't'))
  const group = makeGroup(shop, name, request, backing)
  if (group !== null) undo.push(() => group.remove())
  return { backing, group }
}

/** Takes named pipes from the stock; null if it had enough, otherwise settles when they are made. */
function takePipes({ fifos }: SandboxResources, pipes: Pipes): Promise<void> | null {
  const names = Object.values(pipes)
  if (fifos.takeNow(names)) return null
  const taken = fifos.take(names)
  // The caller awaits it later; a failure until then must not count as unhandled.
  taken.catch(() => undefined)
  return taken
}

/** Returns the device of the scope: promotion moves files from the layer to it, so both need one disk. */
function scopeDevice({ scopeRoots }: SandboxRequest, { roots }: OverlayPlan): number {
  const [scope] = scopeRoots
  return scope === undefined ? (roots[0]?.device ?? 0) : statSync(scope).dev
}

function memoryOptions({ diskMb }: Caps): string {
  return `size=${diskMb}m,nr_inodes=${entriesMax(diskMb)},mode=700`
}

function makeGroup(
  shop: SandboxResources,
  name: string,
  { caps }: SandboxRequest,
  backing: LayerStorage,
): ControlGroup | null {
  // Pages of a memory filesystem are charged to who wrote them.
  const written = backing.kind === 'memory' ? caps.diskMb : 0
  return ControlGroup.make(shop.groups, `writ-${ownerMark()}-${name}`, {
    memoryBytes: (caps.memoryMb + written) * MEBIBYTE + OWN_BYTES,
    processes: caps.processes + OWN_TASKS + TERMINAL_TASKS,
  })
}

const TOOLS_NAME = 'tools'

function makeTools(directory: string): string {
  const tools = join(directory, TOOLS_NAME)
  mkdirSync(tools, { mode: 0o700 })
  return tools
}

function pipesIn(directory: string): Pipes {
  const at = (name: string): string => join(directory, name)
  return { stdin: at('stdin'), stdout: at('stdout'), stderr: at('stderr') }
}

function writeMounts(
  directory: string,
  { roots }: OverlayPlan,
  view: MachineView,
  { mounted, sealed }: Masks,
  scratch: number,
  over: readonly (readonly string[])[],
  isClosed: boolean,
  kept: KeptLayers | null,
): void {
  const lines = mountLines({
    directory,
    numbers: kept?.numbers ?? [],
    isKept: kept !== null,
    roots: roots.map(({ path }) => path),
    layers: over.map(({ length }) => length),
    view,
    scratch,
    masks: mounted,
    sealed,
    isClosed,
  })
  writeFileSync(join(directory, 'fstab'), lines)
}

/** The merged root shows mode and owner of its upper, so that is made like the real one. */
function uppersOf(
  { roots }: OverlayPlan,
  { allOwners }: SandboxRequest,
  kept: KeptLayers | null,
): readonly Upper[] {
  const isKept = kept !== null
  const own = { owner: null, isKept }
  return [
    ...roots.flatMap(({ mode, uid, gid }, index) => [
      { ...own, name: `u${numberOf(kept, index)}`, mode, owner: allOwners ? { uid, gid } : null },
      { ...own, name: `w${numberOf(kept, index)}`, mode: 0o700 },
    ]),
    ...placesOf(kept).map((_, index) => ({ ...own, name: `p${index}`, mode: 0o1777 })),
  ]
}

/** The number of the layer of a root, by its place in the plan. */
function numberOf(kept: KeptLayers | null, index: number): number {
  return kept?.numbers[index] ?? index
}

/** A place that had to be hidden went away between being found and being hidden. */
export class MaskVanished extends Error {
  override readonly name = 'MaskVanished'
}

async function mounted(holder: Holder, { roots }: OverlayPlan, carriers: string): Promise<void> {
  try {
    await holder.expect('M')
  } catch (error) {
    // Nothing is laid over a root that carries such attributes.
    refuseCarriers(readableText(carriers))
    const words = holder.words()
    if (/does not exist|No such file or directory/.test(words)) throw new MaskVanished(words)
    const index = new RegExp(`/${MERGED}(\\d+):`).exec(words)?.[1]
    const root = index === undefined ? undefined : roots[Number(index)]
    if (root === undefined) throw error
    const reason = words.split(': ').slice(1).join(': ').split('\n')[0]
    const message = `no overlay can be laid over \`${root.path}\`: ${reason}`
    throw faultError('sandbox.filesystem', root.path, message)
  }
}

function bubbleOf(
  request: SandboxRequest,
  { roots, shown }: OverlayPlan,
  { late, sealed }: Masks,
  directory: string,
  backing: LayerStorage,
  { first }: SandboxResources,
  capabilities: BubblewrapOptions['capabilities'],
  kept: KeptLayers | null,
): BubblewrapOptions {
  const own = request.private ?? []
  const isOwn = (path: string): boolean => own.some(({ at }) => at === path)
  const paths = roots.map(({ path }) => path)
  const withSealed = new Set(sealedRoots(paths, sealed))
  const proc = isRoot() ? procMasks() : null
  const bound = (name: string) => (at: string, index: number) => ({
    from: join(directory, `${name}${index}`),
    at,
  })
  return {
    machine: join(directory, MACHINE),
    binds: paths.map((at, index) => bound(withSealed.has(index) ? SEALED : MERGED)(at, index)),
    shown: shown.map((at) => ({ from: join(directory, MACHINE, at), at })),
    scratch: PRIVATE_PLACES.map(bound(backing.kind === 'memory' ? 't/p' : SCRATCH)).filter(
      ({ at }) => isDirectory(at) && !isInside(at, paths),
    ),
    masks: late.filter((path) => !isOwn(path)),
    private: own,
    sharedMemory: kept === null ? null : join(directory, `${SCRATCH}${PRIVATE_PLACES.length}`),
    tools: request.hasChannel === true ? { from: join(directory, TOOLS_NAME), at: TOOLS } : null,
    emptied: (request.emptied ?? []).filter((path) => !late.includes(path) && !isOwn(path)),
    proc,
    emptyFile: join(directory, EMPTY_FILE),
    uid: process.getuid?.() ?? 0,
    gid: process.getgid?.() ?? 0,
    capabilities,
    sharedMemoryBytes: SHARED_MEMORY_BYTES,
    first,
  }
}

/** Root's rights inside. The right to open every file opens banned ones too, unless those are closed. */
function capabilitiesOf(request: SandboxRequest, isClosed: boolean): readonly string[] | null {
  if (!request.allOwners) return null
  const opensAll = isClosed || !closesAny(request)
  return OWNER_CAPABILITIES.filter((right) => opensAll || right !== OPENS_ALL)
}

function unseenIn(directory: string): readonly string[] {
  const lines = readableText(join(directory, UNSEEN)).split('\n')
  const top = join(directory, MACHINE)
  return lines.filter((line) => line !== '').map((line) => line.slice(top.length))
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

function runLine(bubble: BubblewrapOptions, filter: string, directory: string): string {
  const words = quoteAll([requireProgram('bwrap'), ...bubbleArguments(bubble)])
  const place = join(directory, READ_ONLY)
  const { stdin, stdout, stderr } = pipesIn(place)
  return [
    words,
    `<${stdin} >${stdout} ${FD.stderr}>${stderr} 2>&${FD.inner}`,
    `${FD.filter}<${filter} ${FD.around}<${join(place, AROUND)} ${FD.own}<${join(place, OWN)}`,
  ].join(' ')
}

function layersOf(
  { roots }: OverlayPlan,
  holder: Holder,
  directory: string,
  backing: LayerStorage,
  over: readonly (readonly string[])[],
  kept: KeptLayers | null,
): readonly Layer[] {
  return roots.map(({ path }, index) => ({
    root: path,
    ...(over[index]?.length ? { lower: holder.reach(join(directory, `${BEFORE}${index}`)) } : {}),
    upper:
      backing.kind === 'memory'
        ? holder.reach(join(directory, `t/u${index}`))
        : join(backing.directory, `u${numberOf(kept, index)}`),
    merged: holder.reach(join(directory, `${MERGED}${index}`)),
    upperDevice:
      backing.kind === 'memory' || kept !== null ? null : statSync(backing.directory).dev,
  }))
}

function diskMeter(holder: Holder, directory: string, backing: LayerStorage): DiskMeter {
  return backing.kind === 'memory'
    ? { kind: 'filesystem', path: holder.reach(join(directory, 't')) }
    : { kind: 'directories', paths: [backing.directory] }
}

function fileName(id: string): string {
  return id.replaceAll(/[^\w.-]/g, '_')
}

/** What a run left in its private `/tmp`, besides places that lead to roots and caches of ours. */
export function leftIn({ backing, holder, directory, layers }: Opened): { leftovers?: number } {
  const top = backing.kind === 'memory' ? holder.reach(join(directory, 't')) : backing.directory
  const [tmp] = PRIVATE_PLACES
  const known = layers
    .filter(({ root }) => root.startsWith(`${tmp}/`))
    .map(({ root }) => root.split('/')[2])
  const names = readableNames(join(top, 'p0')).filter(
    (name) => name !== '.writ-cache' && !known.includes(name),
  )
  return names.length === 0 ? {} : { leftovers: names.length }
}
