/**
 * Works at every stage: leaves out/STAGE.json, with the minutes that were spent, and an artifact. It
 * is careless at first, and better once it has read a review. Put your model's call in its place.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

const { node, attempt, last_review } = JSON.parse(readFileSync(0, 'utf8'))
const isFirst = last_review === undefined || last_review === null
const minutes = node.node_id === 'P1_MODEL' && isFirst ? 4 : 30

mkdirSync('out', { recursive: true })
writeFileSync(`out/${node.node_id}.json`, JSON.stringify({ minutes, figures: 2 }))

const heading = node.node_id === 'P3_WRITE' && isFirst ? '' : `# ${node.title}\n\n`
const content = `${heading}Attempt ${attempt}, ${minutes} minutes.\n`
const artifact = { name: 'result', format: 'md', content }
const head = { schema_version: 'xiaobo_action_v1', task_id: node.node_id }
process.stdout.write(JSON.stringify({ ...head, result_type: 'ARTIFACT', artifact }))
