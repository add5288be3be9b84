/**
 * What a rehearsal changed, read off its layers: the same ten changes in a small tree and in a large
 * one, in turns. The cost must follow the changes, not the tree. For comparison, what a walk over the large
 * tree costs without hashing anything.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { row } from './measure.mjs'

const DIST = new URL(process.env.WRIT_DIST ?? '../dist/', import.meta.url)

export const title = 'tree (scans per second; more is better)'

const SMALL = 1_000
const LARGE = Number(process.env.WRIT_BENCH_TREE_FILES ?? 200_000)
const TURNS = 60
const WALKS = 3
const IN_DIRECTORY = 100

const SET_UP = `
set -e
mount -t tmpfs -o mode=700 writ "$2"
mkdir "$2/u" "$2/w" "$2/m"
cd "$1"
mount -t overlay writ -o "userxattr,lowerdir=.,upperdir=$2/u,workdir=$2/w" "$2/m"
cd "$2/m"
for i in 0 1 2 3; do echo more >> d$i/f1; done
echo new > new; mkdir made; echo new > made/new; rm d4/f4; chmod 700 d5/f5; mv d6/f6 d6/moved
echo ready
read end
`

export async function measure() {
  const folder = mkdtempSync(join(tmpdir(), 'writ-bench-tree-'))
  const open = []
  try {
    for (const [name, files] of Object.entries({ small: SMALL, large: LARGE })) {
      open.push(await rehearsed(folder, name, files))
    }
    const [small, large] = await bestTimes(open.map(({ scan }) => scan))
    const walk = Math.min(...Array.from({ length: WALKS }, () => walkTime(join(folder, 'large'))))
    const shown = LARGE.toLocaleString('en')
    return [
      row(
        `ten changes in ${shown} files`,
        'scans',
        1e3 / large,
        'in 1,000 files',
        1e3 / small,
        0.83,
      ),
      row('the same', 'scans', 1e3 / large, 'bare walks over the tree', 1e3 / walk, null),
    ]
  } finally {
    for (const { close } of open) await close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function rehearsed(folder, name, files) {
  const { makeMarker, scanLayers } = await import(new URL('tree/index.js', DIST))
  const root = join(folder, name)
  fill(root, files)
  await new Promise((resolved) => setTimeout(resolved, 20))
  const marker = makeMarker(join(folder, 'place'), name, [root], Date.now)
  const work = join(folder, `${name}-work`)
  mkdirSync(work)
  const holder = spawn('unshare', ['-Umr', 'sh', '-c', SET_UP, 'sh', root, work], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(holder.stdout, 'data')
  const inside = `/proc/${holder.pid}/root${work}`
  const layer = { root, upper: `${inside}/u`, merged: `${inside}/m`, upperDevice: null }
  const options = {
    marker,
    commandStartedAtMs: marker.madeAtMs + 20,
    maxBytes: 2 ** 28,
    pathBytesMax: 4095,
    scopeRoots: [root],
    isRoot: process.getuid() === 0,
    exclude: [],
  }
  return {
    scan: async () => {
      const { changes, findings } = await scanLayers([layer], options)
      if (changes.length !== 11 || findings.length > 0) throw new Error('the scan is wrong')
    },
    close: async () => {
      holder.stdin.end()
      await once(holder, 'exit')
    },
  }
}

function fill(root, files) {
  mkdirSync(root)
  for (let directory = 0; directory < files / IN_DIRECTORY; directory++) {
    const path = join(root, `d${directory}`)
    mkdirSync(path)
    for (let file = 0; file < IN_DIRECTORY; file++) {
      writeFileSync(join(path, `f${file}`), 'x'.repeat(200))
    }
  }
}

/** The best of many turns of each, in milliseconds. */
async function bestTimes(works) {
  const best = works.map(() => Number.POSITIVE_INFINITY)
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [index, work] of works.entries()) {
      const started = performance.now()
      await work()
      best[index] = Math.min(best[index], performance.now() - started)
    }
  }
  return best
}

function walkTime(root) {
  const started = performance.now()
  for (const directory of readdirSync(root)) {
    for (const name of readdirSync(join(root, directory))) lstatSync(join(root, directory, name))
  }
  return performance.now() - started
}
