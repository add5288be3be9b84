/**
 * One round of the comparison of a scan with a full walk before and after: a random tree, a random
 * script on an overlay over it, a scan, a capture. Each difference is one line; none is a pass.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Change, EntryState } from '../../src/gate/index.ts'
import { captureChanges } from '../../src/tree/capture.ts'
import { makeMarker } from '../../src/tree/marker.ts'
import { PATH_BYTES_MAX, scanLayers } from '../../src/tree/scan.ts'
import { type Captured, readStage } from '../../src/tree/stage.ts'
import { type Overlay, openOverlay } from './overlay.ts'
import { applySteps, randomTree } from './random-tree.ts'
import { listingDifferences, treeListing, withoutOwner } from './tree-hash.ts'

type Listing = ReadonlyMap<string, string>

const isRoot = process.getuid?.() === 0

/** How many changes there were, and what was wrong. */
export interface Round {
  readonly changes: number
  readonly wrong: readonly string[]
}

export async function scanRound(seed: number, temporary: string): Promise<Round> {
  const folder = mkdtempSync(join(temporary, 'writ-round-'))
  const root = join(folder, 'real')
  mkdirSync(root)
  const everyOwner = isRoot && seed % 4 < 2
  const tree = randomTree(seed, { owners: everyOwner, closedModes: true })
  applySteps(root, tree.build)
  await new Promise((resolved) => setTimeout(resolved, 12))
  const marker = makeMarker(join(folder, 'place'), 'round', [root], Date.now)
  const upper = seed % 2 === 0 ? 'memory' : 'disk'
  const overlay = await openOverlay(root, join(folder, 'work'), { upper, everyOwner })
  try {
    applySteps(overlay.layer.merged, tree.change)
    const [before, after] = [treeListing(root), treeListing(overlay.layer.merged)]
    const { changes, findings } = await scanLayers([overlay.layer], {
      marker,
      commandStartedAtMs: marker.madeAtMs + 20,
      maxBytes: 2 ** 40,
      pathBytesMax: PATH_BYTES_MAX,
      scopeRoots: [root],
      isRoot,
      exclude: [],
    })
    const wrong = findings
      .filter(({ code }) => code !== 'diff.link_split')
      .map(({ code, path, detail }) => `found ${code} ${JSON.stringify(path)} ${detail}`)
    wrong.push(...listingDifferences(before, treeListing(root)).map((line) => `real ${line}`))
    wrong.push(...listingDifferences(after, treeListing(overlay.layer.merged)))
    wrong.push(...scanDifferences(root, before, after, changes))
    if (wrong.length === 0)
      wrong.push(...(await captureDifferences(folder, root, overlay, after, changes)))
    return { changes: changes.length, wrong }
  } finally {
    await overlay.close()
    spawnSync('chmod', ['-R', 'u+rwx', folder])
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The first listing with the changes put on it must be the second, and no change may be idle. */
export function scanDifferences(
  root: string,
  before: Listing,
  after: Listing,
  changes: readonly Change[],
): readonly string[] {
  const wrong: string[] = []
  const made = new Map([...before].map(([name, line]) => [name, compared(line)]))
  for (const change of changes) {
    const name = change.path === root ? '' : change.path.slice(root.length + 1)
    const [from, to] = [lineOf(change.before), lineOf(change.after)]
    if (from === to) wrong.push(`idle change ${JSON.stringify(name)}`)
    if (made.get(name) !== from)
      wrong.push(`before ${JSON.stringify(name)}: ${from} is not ${made.get(name)}`)
    if (to === undefined) made.delete(name)
    else made.set(name, to)
    const time = after.get(name)?.split(' | ')[4]
    if (change.after !== null && change.after.mtimeNs !== time)
      wrong.push(`time of ${JSON.stringify(name)}`)
  }
  const want = new Map([...after].map(([name, line]) => [name, compared(line)]))
  return [...wrong, ...listingDifferences(made, want)]
}

/** Kind, mode, content, owner and attributes of a line of the listing. */
function compared(line: string): string {
  const [kind, mode, content, owner, , , , attributes] = line.split(' | ')
  return [kind, mode, content, owner, attributes].join(' | ')
}

function lineOf(state: EntryState | null): string | undefined {
  if (state === null) return undefined
  const { kind, mode, size, digest, target, owner, attributes } = state
  const content = kind === 'file' ? `${size} ${digest?.slice('sha256:'.length)}` : (target ?? '')
  const shown = attributes
    .map(([name, hex]) => withoutOwner(`${quoted(name)}=0x${hex}`))
    .sort()
    .join(' ')
  const who = owner === null ? '' : `${owner.uid}:${owner.gid}`
  return [kind, mode.toString(8), content, who, shown].join(' | ')
}

function quoted(name: string): string {
  return name.replace(/[\n\r\\=]/g, (one) => `\\${one.charCodeAt(0).toString(8).padStart(3, '0')}`)
}

/** Compares the stage with the merged tree: every entry with all its attributes, links as groups. */
async function captureDifferences(
  folder: string,
  root: string,
  overlay: Overlay,
  merged: Listing,
  changes: readonly Change[],
): Promise<readonly string[]> {
  // The overlay shows two names of one written file as two files when one of them was copied up.
  const upper = treeListing(overlay.layer.upper)
  const stage = join(folder, 'stage')
  await captureChanges(changes, [overlay.layer], stage, {
    isRoot,
  })
  const captured = readStage(stage)
  const names = captured.entries.map(({ path }) => path.slice(root.length + 1))
  const staged = renamed(treeListing(captured.stage), captured, root)
  const wrong = listingDifferences(picked(merged, names), picked(staged, names))
  const links = [linkSets(upper, names), linkSets(staged, names)].map((sets) =>
    JSON.stringify(sets),
  )
  if (links[0] !== links[1]) wrong.push(`links ${links.join(' became ')}`)
  const needed = changes.filter(
    ({ before, after }) =>
      after !== null && (after.kind !== 'directory' || before?.kind !== after.kind),
  )
  if (needed.length !== names.length) wrong.push('not everything was staged')
  return wrong
}

/** A listing of the stage by the names that its entries have in the tree. */
function renamed(listing: Listing, { entries }: Captured, root: string): Listing {
  return new Map(
    entries.map(({ path, place }) => [path.slice(root.length + 1), listing.get(place) ?? 'absent']),
  )
}

/** The named lines without their link groups, which are compared as sets. */
function picked(listing: Listing, names: readonly string[]): Listing {
  return new Map(
    names.map((name) => {
      const words = (listing.get(name) ?? 'absent').split(' | ')
      return [name, words.filter((_, index) => index !== 6).join(' | ')]
    }),
  )
}

function linkSets(listing: Listing, names: readonly string[]): readonly string[][] {
  const sets = new Map<string, string[]>()
  for (const name of names) {
    const group = listing.get(name)?.split(' | ')[6] ?? ''
    if (group !== '') sets.set(group, [...(sets.get(group) ?? []), name])
  }
  return [...sets.values()].filter((set) => set.length > 1).sort()
}
