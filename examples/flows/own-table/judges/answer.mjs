/** A review as `xiaojing_review_v1`, with the id and the digest that the reviewer was given. */
export function judge(input, isGood, summary) {
  const change = {
    priority: 'HIGH',
    change: summary,
    steps: [summary],
    acceptance_criteria: summary,
  }
  process.stdout.write(
    JSON.stringify({
      schema_version: 'xiaojing_review_v1',
      review_id: input.review_id,
      artifact_digest: input.artifact_digest,
      task_id: input.artifact.id,
      review_target: 'NODE',
      total_score: isGood ? 95 : 40,
      action_required: isGood ? 'APPROVE' : 'MODIFY',
      summary,
      breakdown: [],
      suggestions: isGood ? [] : [change],
    }),
  )
}
