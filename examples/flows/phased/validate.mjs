/** Approves two sources or more. */
import { readFileSync } from 'node:fs'
import { input } from './channel.mjs'

const { sources } = JSON.parse(readFileSync('output/phase_1/sources.json', 'utf8'))
const isGood = sources >= 2
process.stdout.write(
  JSON.stringify({
    schema_version: 'xiaojing_review_v1',
    review_id: input.review_id,
    artifact_digest: input.artifact.digest,
    task_id: input.artifact.id,
    review_target: 'NODE',
    total_score: isGood ? 96 : 55,
    action_required: isGood ? 'APPROVE' : 'MODIFY',
    summary: `${sources} sources`,
    breakdown: [],
    suggestions: isGood
      ? []
      : [
          {
            priority: 'HIGH',
            change: 'name a second source',
            steps: ['look into the archive'],
            acceptance_criteria: 'two sources',
          },
        ],
  }),
)
