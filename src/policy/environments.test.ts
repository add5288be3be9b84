/** What guards, policies and invariants of a flow may say: the examples of seed 004 among them. */
import { describe, expect, it } from 'vitest'
import { HOST_FIELDS } from '../contracts/index.ts'
import { compileExpression, evaluate, type ObjectType } from '../expression/index.ts'
import { flowEnvironment } from './environments.ts'

const ENVIRONMENT = flowEnvironment({
  state: {
    fields: { coverage: { type: 'double', initial: 0 }, retries: { type: 'int', initial: 0 } },
  },
})

function codes(source: string): readonly string[] {
  const compiled = compileExpression(source, ENVIRONMENT)
  return compiled.ok ? [] : compiled.faults.map(({ code, hint }) => `${code} ${hint ?? ''}`.trim())
}

describe('expressions of a flow', () => {
  it.each([
    'state.cumulative_duration >= state.minimum_duration',
    'state.phase_completed && state.cumulative_duration >= state.minimum_duration',
    'state.cumulative_duration < state.minimum_duration',
    'state.non_time_issue == true',
    'event.phase_end -> state.log_updated_after_phase == true',
    "state.validator_verdict == 'APPROVE' && state.required_files_exist && state.gate_passed",
    'state.tool_calls == 0',
    'state.score != null && state.score >= 90',
    'state.subphase_id in ["7A", "7B"]',
    'state.coverage > 80 && state.retries < 3',
    'state.cumulative_duration > 60',
    "node.kind == 'WORK' && size(node.node_id) > 0",
    "edge.class in ['Loop', 'Rollback'] -> state.rejection_count > 0",
    'event.node_id == node.node_id',
  ])('%s', (source) => {
    expect(codes(source)).toEqual([])
  })

  it.each([
    ['state.cumulative_time > 1', 'expression.unknown_field'],
    ['state.tool_cals == 0', 'expression.unknown_field did you mean `state.tool_calls`?'],
    ["state.validator_verdict == 'APPROVED'", 'expression.word did you mean `APPROVE`?'],
    ["edge.class == 'Gates'", 'expression.word did you mean `Gate`?'],
    ['state.tool_calls', 'expression.not_boolean'],
    [
      'state.tool_calls + state.coverage > 1.0',
      'expression.type turn one of the two with `int()` or `double()`',
    ],
    ['state.gate_passed == null', 'expression.type'],
    ["descriptor.risk_level == 'LOW'", 'expression.unknown_name'],
    ["touches('**')", 'expression.unknown_function'],
  ])('%s is refused', (source, code) => {
    expect(codes(source)).toEqual([code])
  })

  it('know every field that the host keeps, with its type', () => {
    const { fields } = ENVIRONMENT.variables['state'] as ObjectType
    expect(Object.keys(fields).sort()).toEqual([...HOST_FIELDS, 'coverage', 'retries'].sort())
  })

  it('tell the field that is not there yet', () => {
    const compiled = compileExpression('state.score >= 90', ENVIRONMENT)
    if (!compiled.ok) throw new Error('refused')
    const { value, reasons } = evaluate(compiled.expression, { state: { score: null } })
    expect([value, reasons[0]?.path]).toEqual(['undetermined', 'state.score'])
  })
})
