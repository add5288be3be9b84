/**
 * Promotion against what people would do by hand. Small: ten files of a tree are replaced, against
 * `cp -a` of the same ten and a sync of their filesystem. Large: an installed package tree of 15,000
 * files is put in place, against unpacking it there (what an install does at least) and against
 * copying it, each with a sync. Checking, hashing, journal and pre-images are in our time; the stage is
 * not, as capturing comes before a decision. Memory: one file of 1 GiB, in a process of its own.
 */
import { spawnSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import {
  closeSync,
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { row } from './measure.mjs'

const DIST = new URL(process.env.WRIT_DIST ?? '../dist/', import.meta.url)

export const title = 'promotion'

const FILES = Number(process.env.WRIT_BENCH_FILES ?? 15_000)
const PER_DIRECTORY = 10
const SMALL_TURNS = 15
const LARGE_TURNS = 3
const LARGE_BYTES = 2 ** 30
const MEMORY_MB_MAX = 64

export async function measure() {
  const folder = mkdtempSync(join(process.env.WRIT_BENCH_FOLDER ?? tmpdir(), 'writ-promotion-'))
  try {
    const host = await import(new URL('promotion/index.js', DIST))
    const small = await measureSmall(host, join(folder, 'small'))
    const large = await measureLarge(host, join(folder, 'large'))
    const extraMb = measureMemory(join(folder, 'memory'))
    return [
      row('10 files replaced', 'promotions/s', small.ours, 'cp -a and sync', small.copied, null),
      row(`${FILES} files, a new tree`, 'files/s', large.ours, 'npm install', large.installed, 2),
      row('the same', 'files/s', large.ours, 'tar -x and sync', large.unpacked, 1),
      row('the same', 'files/s', large.ours, 'cp -a and sync', large.copied, 1),
      row(
        'room left under 64 MB, one file of 1 GiB',
        'MB',
        MEMORY_MB_MAX,
        'memory beyond the start',
        extraMb,
        1,
      ),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The best of several turns, which nothing else on the machine disturbed. */
async function best(turns, work) {
  let rate = 0
  for (let turn = 0; turn < turns; turn++) rate = Math.max(rate, await work(turn))
  return rate
}

function sh(command, ...args) {
  const { status, stderr } = spawnSync(command, args)
  if (status !== 0) throw new Error(`${command}: ${stderr}`)
}

const digestOf = (bytes) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

function stateOf(path) {
  const stats = lstatSync(path, { bigint: true })
  const kind = stats.isDirectory() ? 'directory' : 'file'
  return {
    kind,
    mode: Number(stats.mode & 0o7777n),
    size: kind === 'file' ? Number(stats.size) : 0,
    digest: kind === 'file' ? digestOf(readFileSync(path)) : null,
    target: null,
    attributes: [],
    owner: null,
    mtimeNs: String(stats.mtimeNs),
    linkGroup: null,
  }
}

function writeIndex(stage, units) {
  const lines = units.map((path, index) => ({ path, place: `u${index}`, unit: true }))
  const head = { stage: 1, entries: units.length, emptied: [] }
  const text = [head, ...lines].map((line) => JSON.stringify(line)).join('\n')
  writeFileSync(join(stage, 'stage.jsonl'), `${text}\n`)
}

async function promoteIn({ applyStage, withWorkspaceLock }, base, stage, changes) {
  const actionId = randomUUID()
  const started = performance.now()
  await withWorkspaceLock(join(base, 'tree'), { waitMs: 1000 }, (lock) =>
    applyStage({
      actionId,
      lock,
      changes,
      stage,
      keep: join(base, 'preimages', actionId),
      state: join(base, 'state'),
      roots: [],
      isHalted: () => false,
      record: async () => {},
      note: null,
    }),
  )
  return (performance.now() - started) / 1000
}

async function measureSmall(host, base) {
  for (const name of ['tree', 'state', 'copy', 'source'])
    mkdirSync(join(base, name), { recursive: true })
  const names = Array.from({ length: 10 }, (_, index) => `file-${index}`)
  for (const name of names) writeFileSync(join(base, 'tree', name), 'old '.repeat(500))
  const ours = await best(SMALL_TURNS, async (turn) => {
    const stage = join(base, 'stage', String(turn))
    mkdirSync(stage, { recursive: true })
    const changes = names.map((name, index) => {
      const path = join(base, 'tree', name)
      const staged = join(stage, `u${index}`)
      writeFileSync(staged, `new ${turn} `.repeat(500))
      return { path, before: stateOf(path), after: stateOf(staged) }
    })
    writeIndex(
      stage,
      changes.map(({ path }) => path),
    )
    return 1 / (await promoteIn(host, base, stage, changes))
  })
  for (const name of names) writeFileSync(join(base, 'source', name), 'new '.repeat(500))
  const copied = await best(SMALL_TURNS, async () => {
    const started = performance.now()
    sh('cp', '-a', join(base, 'source', '.'), join(base, 'copy'))
    sh('sync', '-f', join(base, 'copy'))
    return 1000 / (performance.now() - started)
  })
  return { ours, copied }
}

/** A tree of small packages, as an install leaves it. */
function plantTree(root) {
  for (let at = 0; at < FILES; at += PER_DIRECTORY) {
    const directory = join(root, `scope-${at % 97}`, `package-${at}`)
    mkdirSync(directory, { recursive: true })
    for (let index = 0; index < PER_DIRECTORY; index++) {
      writeFileSync(join(directory, `${index}.js`), `module.exports = ${at + index}\n`.repeat(40))
    }
  }
}

/** From a file on this disk, with nothing asked of anybody. */
const INSTALL = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix']

async function measureLarge(host, base) {
  for (const name of ['tree', 'state', 'stage']) mkdirSync(join(base, name), { recursive: true })
  const source = join(base, 'source')
  plantTree(source)
  const archive = join(base, 'tree.tar')
  sh('tar', '-cf', archive, '-C', source, '.')
  const target = join(base, 'tree', 'modules')
  const ours = await best(LARGE_TURNS, async (turn) => {
    const stage = join(base, 'stage', String(turn))
    mkdirSync(stage)
    cpSync(source, join(stage, 'u0'), { recursive: true })
    sh('sync', '-f', stage)
    writeIndex(stage, [target])
    const changes = changesOf(join(stage, 'u0'), target)
    const seconds = await promoteIn(host, base, stage, changes)
    renameSync(target, join(base, `done-${turn}`))
    return FILES / seconds
  })
  const timed = (...command) => {
    const place = mkdtempSync(join(base, 'bare-'))
    const started = performance.now()
    sh(...command.map((word) => (word === 'PLACE' ? place : word)))
    sh('sync', '-f', place)
    return (FILES / (performance.now() - started)) * 1000
  }
  const unpacked = await best(LARGE_TURNS, () => timed('tar', '-xf', archive, '-C', 'PLACE'))
  const copied = await best(LARGE_TURNS, () => timed('cp', '-a', join(source, '.'), 'PLACE'))
  const packed = join(base, 'package.tgz')
  writeFileSync(join(source, 'package.json'), JSON.stringify({ name: 'many', version: '1.0.0' }))
  sh('tar', '-czf', packed, '--transform', 's,^\\.,package,', '-C', source, '.')
  const installed = await best(1, () => timed('npm', 'install', ...INSTALL, 'PLACE', packed))
  return { ours, unpacked, copied, installed }
}

function changesOf(root, as) {
  const changes = []
  const open = ['']
  for (let below = open.pop(); below !== undefined; below = open.pop()) {
    const after = stateOf(root + below)
    changes.push({ path: as + below, before: null, after })
    if (after.kind !== 'directory') continue
    for (const name of readdirSync(root + below)) open.push(`${below}/${name}`)
  }
  return changes.sort((one, other) => (one.path < other.path ? -1 : 1))
}

/** How much more memory a process takes that replaces one large file by another. */
function measureMemory(base) {
  const bench = JSON.stringify(new URL('promotion.bench.mjs', import.meta.url).href)
  const program = `const { replaceLarge } = await import(${bench}); await replaceLarge(${JSON.stringify(base)})`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout).extraMb
}

/** What the process above does. */
export async function replaceLarge(base) {
  const host = await import(new URL('promotion/index.js', DIST))
  for (const name of ['tree', 'state', 'stage']) mkdirSync(join(base, name), { recursive: true })
  const [path, staged] = [join(base, 'tree', 'large'), join(base, 'stage', 'u0')]
  const change = { path, before: plantLarge(path, 1), after: plantLarge(staged, 2) }
  writeIndex(join(base, 'stage'), [path])
  const startMb = process.resourceUsage().maxRSS / 1024
  await promoteIn(host, base, join(base, 'stage'), [change])
  const extraMb = Math.max(1, process.resourceUsage().maxRSS / 1024 - startMb)
  console.log(JSON.stringify({ extraMb }))
}

function plantLarge(path, seed) {
  const hash = createHash('sha256')
  const chunk = Buffer.alloc(1 << 20, seed)
  const handle = openSync(path, 'w')
  for (let at = 0; at < LARGE_BYTES; at += chunk.length) {
    chunk.writeUInt32LE(at >>> 8, 0)
    hash.update(chunk)
    writeSync(handle, chunk)
  }
  closeSync(handle)
  const { mode, mtimeNs } = lstatSync(path, { bigint: true })
  return {
    kind: 'file',
    mode: Number(mode & 0o7777n),
    size: LARGE_BYTES,
    digest: `sha256:${hash.digest('hex')}`,
    target: null,
    attributes: [],
    owner: null,
    mtimeNs: String(mtimeNs),
    linkGroup: null,
  }
}
