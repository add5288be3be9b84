/** The summary that is read off the schemas equals the block of seed 001 §0, word for word. */
import { expect, it } from 'vitest'
import { contractSummary } from './summary.ts'

const REVIEW_KEYS = [
  'schema_version',
  'task_id',
  'review_target',
  'total_score',
  'action_required',
  'summary',
  'breakdown',
  'suggestions',
]

const SEED = {
  TASK_ACTION: {
    schema_version: 'xiaobo_action_v1',
    required_keys: ['schema_version', 'task_id', 'result_type'],
    enums: {
      result_type: ['ARTIFACT', 'NEEDS_INPUT', 'NOOP', 'ERROR'],
      'artifact.format': ['md', 'txt', 'json', 'html', 'css', 'js'],
    },
  },
  PLAN_REVIEW: {
    schema_version: 'xiaojing_review_v1',
    required_keys: REVIEW_KEYS,
    enums: {
      review_target: ['PLAN'],
      action_required: ['APPROVE', 'MODIFY', 'REQUEST_EXTERNAL_INPUT'],
      'suggestions[*].priority': ['HIGH', 'MED', 'LOW'],
    },
  },
  TASK_CHECK: {
    schema_version: 'xiaojing_review_v1',
    required_keys: REVIEW_KEYS,
    enums: {
      review_target: ['NODE'],
      action_required: ['APPROVE', 'MODIFY', 'REQUEST_EXTERNAL_INPUT'],
      'suggestions[*].priority': ['HIGH', 'MED', 'LOW'],
    },
  },
  PLAN_GEN: {
    schema_version: 'plan_json_v1',
    required_keys: ['plan', 'nodes', 'edges'],
    enums: {
      'nodes[*].node_type': ['GOAL', 'ACTION', 'CHECK'],
      'edges[*].edge_type': ['DECOMPOSE', 'DEPENDS_ON', 'ALTERNATIVE'],
    },
  },
}

it('is the summary of the seed', () => {
  expect(contractSummary()).toEqual(SEED)
  expect(Object.keys(contractSummary())).toEqual(Object.keys(SEED))
})
