/** How long the command line takes to start, compared with a bare `node -e 0`, as whole processes. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { task } from './contracts-documents.mjs'
import { row } from './measure.mjs'

export const title = 'command line'

const ROUNDS = 25

export async function measure() {
  const folder = mkdtempSync(join(tmpdir(), 'writ-bench-'))
  try {
    const file = join(folder, 'task.json')
    writeFileSync(file, JSON.stringify(task))
    const calls = {
      bare: ['-e', '0'],
      help: ['bin/writ.cjs', '--help'],
      check: ['bin/writ.cjs', 'check', file],
    }
    const times = { bare: [], help: [], check: [] }
    for (let round = 0; round < ROUNDS; round++) {
      for (const [name, args] of Object.entries(calls)) times[name].push(timed(args))
    }
    const [bare, help, check] = [times.bare, times.help, times.check].map((list) =>
      Math.min(...list),
    )
    return [
      // Starts a second, so that more is better here as in every row.
      row('writ --help, starts/s', 'whole process', 1000 / help, 'node -e 0', 1000 / bare, 1 / 1.5),
      row(
        'writ check FILE, starts/s',
        'whole process',
        1000 / check,
        'node -e 0',
        1000 / bare,
        null,
      ),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function timed(args) {
  const started = performance.now()
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' })
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}`)
  return performance.now() - started
}
