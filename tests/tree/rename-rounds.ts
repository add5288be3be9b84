/**
 * One round of renames: a random tree and a copy of it; the same steps in the copy, plainly, and inside
 * a sandbox over the tree. Each difference is one line; none is a pass.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { SandboxDriver } from '../../src/sandbox/driver/driver.ts'
import { makeMarker } from '../../src/tree/marker.ts'
import { PATH_BYTES_MAX, scanLayers } from '../../src/tree/scan.ts'
import { applySteps, randomTree } from './random-tree.ts'
import { renameSteps, STEPPER } from './rename-steps.ts'
import { type Round, scanDifferences } from './scan-rounds.ts'
import { listingDifferences, treeListing } from './tree-hash.ts'

type Listing = ReadonlyMap<string, string>

const isRoot = process.getuid?.() === 0
const LONG_AGO = '@1000000000.123456789'
const CAPS = { cpuMs: 60_000, memoryMb: 512, durationMs: 60_000, processes: 64 }

export interface RenameRound extends Round {
  /** Directories that lie elsewhere than before. */
  readonly renamed: number
}

export async function renameRound(
  seed: number,
  temporary: string,
  driver: SandboxDriver,
): Promise<RenameRound> {
  const folder = mkdtempSync(join(temporary, 'writ-rename-'))
  const [root, plain] = [join(folder, 'real'), join(folder, 'plain')]
  const allOwners = isRoot && seed % 4 < 2
  try {
    mkdirSync(root)
    const { build } = randomTree(seed, { links: false, owners: allOwners })
    // Without absolute links a wrong step stays in this folder.
    applySteps(
      root,
      build.filter((step) => step.do !== 'symlink' || !step.to.startsWith('/')),
    )
    execFileSync('find', [root, '-depth', '-exec', 'touch', '-h', '-d', LONG_AGO, '{}', '+'])
    execFileSync('cp', ['-a', root, plain])
    const before = treeListing(root)
    const input = stepsFor(seed, before)
    // Root has no capabilities inside, unless there are other owners.
    const bare = isRoot && !allOwners ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : []
    const [program = 'perl', ...words] = [...bare, 'perl', '-e', STEPPER]
    const said = spawnSync(program, words, { cwd: plain, input, encoding: 'latin1' })
    return await compare({ seed, folder, root, plain, before, input, allOwners }, said, driver)
  } finally {
    spawnSync('chmod', ['-R', 'u+rwx', folder])
    rmSync(folder, { recursive: true, force: true })
  }
}

function stepsFor(seed: number, before: Listing): string {
  const names = [...before.keys()].filter((name) => name !== '')
  const isDirectory = (name: string): boolean => before.get(name)?.startsWith('directory') === true
  const tree = {
    directories: names.filter(isDirectory),
    others: names.filter((name) => !isDirectory(name)),
  }
  return `${renameSteps(seed, tree, 25).join('\n')}\n`
}

interface Scene {
  readonly seed: number
  readonly folder: string
  readonly root: string
  readonly plain: string
  readonly before: Listing
  readonly input: string
  readonly allOwners: boolean
}

async function compare(
  { seed, folder, root, plain, before, input, allOwners }: Scene,
  plainly: { readonly stdout: string; readonly stderr: string },
  driver: SandboxDriver,
): Promise<RenameRound> {
  const marker = makeMarker(join(folder, 'place'), 'round', [root], Date.now)
  const sandbox = await driver.open({
    sandboxId: `round-${process.pid}-${seed}`,
    scopeRoots: [root],
    watchedRoots: [],
    hidden: [],
    // Layers in memory up to 256 MB, else on the disk.
    caps: { ...CAPS, diskMb: seed % 2 === 0 ? 64 : 512 },
    sockets: 'inside',
    allOwners,
  })
  try {
    const said: Buffer[] = []
    const { startedAtMs } = await sandbox.run({
      argv: ['perl', '-e', STEPPER],
      cwd: root,
      env: { PATH: '/usr/bin:/bin' },
      stdin: Buffer.from(input),
      terminal: null,
      onOutput: (_, bytes) => said.push(Buffer.from(bytes)),
      abort: new AbortController().signal,
    })
    const inside = Buffer.concat(said).toString('latin1')
    const wrong = inside === plainly.stdout ? [] : stepDifferences(input, plainly.stdout, inside)
    const { layers } = sandbox
    const after = treeListing(layers[0]?.merged ?? '')
    wrong.push(...listingDifferences(without(treeListing(plain)), without(after)))
    const { changes, findings } = await scanLayers(layers, {
      marker,
      commandStartedAtMs: startedAtMs,
      maxBytes: 2 ** 40,
      pathBytesMax: PATH_BYTES_MAX,
      scopeRoots: [root],
      isRoot,
      exclude: [],
    })
    wrong.push(...findings.map(({ code, path }) => `found ${code} ${JSON.stringify(path)}`))
    wrong.push(...scanDifferences(root, before, after, changes))
    wrong.push(...listingDifferences(before, treeListing(root)).map((line) => `real ${line}`))
    const renamed = changes.filter((change) => change.after?.kind === 'directory').length
    return { changes: changes.length, wrong, renamed }
  } finally {
    await sandbox.close()
  }
}

function stepDifferences(input: string, plain: string, inside: string): string[] {
  const [steps, one, other] = [input, plain, inside].map((text) => text.split('\n'))
  return (steps ?? []).flatMap((step, index) =>
    one?.[index] === other?.[index]
      ? []
      : [`step ${step}: ${one?.[index]} outside, ${other?.[index]} inside`],
  )
}

/**
 * Holes and links are another matter, and times of now differ: those of long ago must be kept. The root
 * of an overlay has the time of its upper layer.
 */
function without(listing: Listing): Listing {
  return new Map(
    [...listing].map(([name, line]) => {
      const [kind, mode, content, owner, time = '', , , attributes] = line.split(' | ')
      const old = name !== '' && time.startsWith('1000000000') ? time : ''
      return [name, [kind, mode, content, owner, old, attributes].join(' | ')]
    }),
  )
}
