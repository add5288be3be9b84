/** Collects sources; one too few at first. */
import { deliver, input, spend, write } from './channel.mjs'

const sources = input.last_review ? ['the survey of 2024', 'the archive'] : ['the survey of 2024']
spend(300)
write('output/phase_1/sources.json', JSON.stringify({ sources: sources.length, list: sources }))
deliver('sources', `# Sources\n\n${sources.map((source) => `- ${source}`).join('\n')}\n`)
