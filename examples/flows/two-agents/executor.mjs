/**
 * An executor: gets a document on standard input, asks for operations on descriptor 3, answers with an
 * action document. It is careless at first, and better once it has read a review.
 */
import { mkdirSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs'

const input = JSON.parse(readFileSync(0, 'utf8'))

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

const counting = input.last_review
  ? 'text.split(/\\s+/).filter((word) => word !== "").length'
  : 'text.split(" ").length'
const program = `import { readFileSync } from 'node:fs'
const text = readFileSync(0, 'utf8')
console.log(${counting})
`

mkdirSync('src', { recursive: true })
writeFileSync('src/count.mjs', program)
const tried = propose({
  type: 'COMMAND_EXECUTION',
  argv: ['sh', '-c', "printf 'one two' | node src/count.mjs"],
  cwd: process.cwd(),
})

const heard = input.last_review?.suggestions.map(({ change }) => `- ${change}`) ?? []
process.stdout.write(
  JSON.stringify({
    schema_version: 'xiaobo_action_v1',
    task_id: input.node.node_id,
    result_type: 'ARTIFACT',
    artifact: {
      name: 'report',
      format: 'md',
      content: [
        '# src/count.mjs',
        '',
        `Counts by \`${counting}\`. "one two" gives ${tried.result?.stdout.trim()}.`,
        ...(heard.length === 0 ? [] : ['', 'Changed after the review:', ...heard]),
        '',
      ].join('\n'),
    },
  }),
)
