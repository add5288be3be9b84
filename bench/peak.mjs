/** Runs the command line in this process and tells its peak resident memory on standard error. */
import { main } from '../dist/cli/main.js'

process.exitCode = await main(process.argv.slice(2))
process.stderr.write(`peak ${Math.round(process.resourceUsage().maxRSS / 1024)}\n`)
