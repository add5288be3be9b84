#!/usr/bin/env node
/** Starts the command line from the built files; says how to build them when they are missing. */
import { existsSync } from 'node:fs'

const entry = new URL('../dist/cli/main.js', import.meta.url)
if (existsSync(entry)) {
  const { main } = await import(entry.href)
  process.exitCode = await main(process.argv.slice(2))
} else {
  process.stderr.write(
    'cli.not_built: the program files are missing\n  hint: run `npm run build` in the checkout\n',
  )
  process.exitCode = 4
}
