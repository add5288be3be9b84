/** Runs the command line in this process and tells its peak resident memory on standard error. */
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const { load } = createRequire(import.meta.url)('../bin/writ.cjs')
const { main } = load(fileURLToPath(new URL('../dist/cli', import.meta.url)))
process.exitCode = await main(process.argv.slice(2))
process.stderr.write(`peak ${Math.round(process.resourceUsage().maxRSS / 1024)}\n`)
