/**
 * The researcher: writes notes, says how many pages the draft will have, and how long it took by its own
 * clock. The host measures for itself; a file may say less than the host knows, and never more.
 */
import { mkdirSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

const input = JSON.parse(readFileSync(0, 'utf8'))
const began = Date.now()

/** One operation through the gate: a line out, a line back. */
function propose(operation) {
  writeSync(3, `${JSON.stringify({ operation })}\n`)
  const part = Buffer.alloc(65536)
  let text = ''
  while (!text.includes('\n')) {
    try {
      text += part.toString('utf8', 0, readSync(3, part))
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error
    }
  }
  return JSON.parse(text)
}

propose({ type: 'COMMAND_EXECUTION', argv: ['date', '-u'], cwd: process.cwd() })
await pause(5000)

mkdirSync('out', { recursive: true })
writeFileSync('out/notes.md', `# 调研 Notes\n\nAttempt ${input.attempt}.\n`)
writeFileSync('out/draft.json', JSON.stringify({ pages: 12 }))
const cumulative_duration = Math.floor((Date.now() - began) / 100) / 10
writeFileSync('out/phase_P1_timing.json', JSON.stringify({ cumulative_duration }))

process.stdout.write(
  JSON.stringify({
    result_type: 'ARTIFACT',
    artifact: { name: 'notes', format: 'md', content: `Notes of attempt ${input.attempt}.\n` },
  }),
)
