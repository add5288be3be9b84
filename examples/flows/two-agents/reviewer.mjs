/**
 * A reviewer: runs what was staged, and answers with a review document that repeats the id and the
 * digest it was handed, so that the words of another program cannot be taken for its own.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const input = JSON.parse(readFileSync(0, 'utf8'))

const CASES = [
  ['one two', 2],
  ['one\ntwo  three\n', 3],
  ['', 0],
]

const failed = CASES.filter(([text, wanted]) => {
  const { stdout } = spawnSync('node', ['src/count.mjs'], { input: text })
  return Number(stdout) !== wanted
})

process.stdout.write(
  JSON.stringify({
    schema_version: 'xiaojing_review_v1',
    review_id: input.review_id,
    artifact_digest: input.artifact.digest,
    task_id: input.artifact.id,
    review_target: 'NODE',
    total_score: Math.round(100 - failed.length * 30),
    action_required: failed.length === 0 ? 'APPROVE' : 'MODIFY',
    summary: `${CASES.length - failed.length} of ${CASES.length} cases pass`,
    breakdown: [],
    suggestions: failed.map(([text, wanted]) => ({
      priority: 'HIGH',
      change: `count ${JSON.stringify(text)} as ${wanted}`,
      steps: ['split at any white space', 'leave out empty words'],
      acceptance_criteria: `prints ${wanted}`,
    })),
  }),
)
