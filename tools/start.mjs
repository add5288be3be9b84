/**
 * `npm start`: sets up what is missing, runs the guided tour, and at a terminal serves the console with a
 * question that waits. `--once` ends after the tour. Other arguments go to `writ demo`.
 */
import { spawn } from 'node:child_process'
import { prepare, ROOT } from './setup.mjs'

const words = process.argv.slice(2)
const isWatched = process.stdin.isTTY === true && process.stdout.isTTY === true
const isServing = isWatched && !words.includes('--once') && !words.includes('--json')

await prepare()
const tour = ['bin/writ.cjs', 'demo', ...(isServing ? ['--serve'] : [])]
const rest = words.filter((word) => word !== '--once')
const child = spawn('node', [...tour, ...rest], { cwd: ROOT, stdio: 'inherit' })
// A terminal signals both; the tour removes what it made, and then this process ends.
for (const name of ['SIGINT', 'SIGHUP']) process.on(name, () => undefined)
process.on('SIGTERM', () => child.kill('SIGTERM'))
child.once('exit', (status) => process.exit(status ?? 4))
