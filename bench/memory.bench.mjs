/**
 * The memory of writ itself for an act that makes very many files, and for taking it back: the largest
 * resident size of its process, against 300 MB for 200,000 files. Needs Linux with user namespaces and
 * bubblewrap.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { placeOf, writ } from './long-history.mjs'
import { row } from './measure.mjs'

const PEAK = fileURLToPath(new URL('peak.mjs', import.meta.url))
const FILES = Number(process.env.WRIT_BENCH_MEMORY_FILES ?? 200_000)
const IN_DIRECTORY = 100
const MB_MAX = 300

export const title = 'memory (files a MB of the largest size; more is better)'

export async function measure() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-bench-memory-')))
  try {
    const place = placeOf(folder)
    writ(place, ['init', '--no-pass'])
    const script = `mkdir many; cd many; seq -f 'd%.0f' 1 ${FILES / IN_DIRECTORY} | xargs mkdir; for d in d*; do (cd $d; seq -f 'file-%.0f.js' 1 ${IN_DIRECTORY} | xargs touch); done`
    const made = peakOf(place, ['exec', '--write', '**', '-q', '--', 'sh', '-c', script])
    const undone = peakOf(place, ['undo'])
    const shown = FILES.toLocaleString('en')
    const least = FILES / MB_MAX
    return [
      row(`writ exec that makes ${shown} files`, 'at', FILES / made, '300 MB', least, 1),
      row('writ undo of it', 'at', FILES / undone, '300 MB', least, 1),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** In MB. */
function peakOf({ project, env }, args) {
  const options = { cwd: project, env, encoding: 'utf8', timeout: 3_600_000 }
  const { status, stderr } = spawnSync(process.execPath, [PEAK, ...args], options)
  if (status !== 0) throw new Error(`writ ${args[0]} ended with ${status}: ${stderr}`)
  return Number(/^peak (\d+)$/m.exec(stderr)?.[1])
}
