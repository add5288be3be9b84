/** The director plans without the agents' files, which it cannot read: it says what it found. */
import { readFileSync } from 'node:fs'
import { deliver, write } from './channel.mjs'

function seen(path) {
  try {
    return `read ${readFileSync(path, 'utf8').length} bytes`
  } catch (error) {
    return error.code
  }
}

write('output/plan/plan.md', 'First half, then second half.\n')
deliver('plan', `# Plan\n\nsources.json: ${seen('output/phase_1/sources.json')}\n`)
