/** Writes one half, by the plan, which it may read and not change. */
import { readFileSync } from 'node:fs'
import { deliver, propose, write } from './channel.mjs'

const [half] = process.argv.slice(2)
const plan = readFileSync('output/plan/plan.md', 'utf8').trim()
write(`output/implementation/${half}.md`, `Half ${half}. ${plan}\n`)
propose({ type: 'COMMAND_EXECUTION', argv: ['ls', 'output/implementation'], cwd: process.cwd() })
deliver(half, `# Half ${half}\n\nBy the plan: ${plan}\n`)
