/**
 * `ao_act_receipt_v0`: the statement of what an execution actually did (seed 000 §B, C-4b). It says
 * whether and how the task was carried out, never whether that was good.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS, show } from '../../base/index.ts'
import { type Contract, field, isObject, type Subject } from '../kernel/contract.ts'
import {
  type BagCodes,
  judgeBag,
  PointerRef,
  parameterTable,
  RECEIPT_FORBIDS,
  reportForbidden,
  Span,
} from './forbid.ts'

const closed = { additionalProperties: false } as const

const resourceCode = { required: 'resource_usage_keys', '*': 'resource_usage_type' } as const
const Resource = Type.Union([Type.Number(), Type.Null()], { 'x-code': resourceCode })
const LogText = Type.String({ minLength: 1, 'x-code': { minLength: 'ref_not_pointer' } })

const ActReceiptSchema = Type.Object(
  {
    type: Type.Literal('ao_act_receipt_v0', { 'x-code': 'type_const' }),
    act_task_id: Type.String(),
    executor_id: Type.Object(
      {
        kind: Type.Enum(['human', 'script', 'device'], { 'x-code': 'executor_kind' }),
        id: Type.String(),
        namespace: Type.String(),
      },
      closed,
    ),
    execution_time: Span,
    execution_coverage: Type.Object(
      {
        kind: Type.Enum(['area', 'path', 'field'], { 'x-code': 'coverage_kind' }),
        ref: PointerRef,
      },
      closed,
    ),
    resource_usage: Type.Object(
      { fuel_l: Resource, electric_kwh: Resource, water_l: Resource, chemical_ml: Resource },
      { additionalProperties: Resource },
    ),
    logs_refs: Type.Array(Type.Object({ kind: LogText, ref: LogText }, closed), {
      minItems: 1,
      'x-code': { minItems: 'logs_refs_min' },
    }),
    status: Type.Optional(Type.Enum(['executed', 'not_executed'], { 'x-code': 'status_enum' })),
    constraint_check: Type.Object(
      { violated: Type.Boolean(), violations: Type.Array(Type.String()) },
      closed,
    ),
    observed_parameters: Type.Object({}),
    created_at_ts: Type.Number(),
    meta: Type.Optional(Type.Object({})),
  },
  closed,
)

export type ActReceipt = Type.Static<typeof ActReceiptSchema>

const OBSERVED_CODES: BagCodes = {
  composite: 'receipt.observed_composite',
  valueType: 'receipt.observed_value_type',
  freeString: 'receipt.free_string',
  notInList: 'receipt.enum_not_in_list',
}

const OPEN_PLACES = ['resource_usage', 'observed_parameters', 'meta'] as const

function checkForbidList({ document, report, sound }: Subject): void {
  if (!sound) return reportForbidden(document, '', RECEIPT_FORBIDS, 'receipt.forbid_key', report)
  for (const place of OPEN_PLACES) {
    reportForbidden(document[place], `/${place}`, RECEIPT_FORBIDS, 'receipt.forbid_key', report)
  }
}

function checkExecutionTime({ document, report }: Subject): void {
  const start = field(document['execution_time'], 'start_ts')
  const end = field(document['execution_time'], 'end_ts')
  if (typeof start !== 'number' || typeof end !== 'number' || start <= end) return
  report.add(
    'receipt.execution_time_order',
    '/execution_time/start_ts',
    `the execution starts at ${show(start, '')}, after its end at ${show(end, '')}`,
  )
}

function checkConstraintCheck({ document, report }: Subject): void {
  const violations = field(document['constraint_check'], 'violations')
  if (field(document['constraint_check'], 'violated') !== false) return
  if (!Array.isArray(violations) || violations.length === 0) return
  report.add(
    'receipt.constraint_check_inconsistent',
    '/constraint_check/violations',
    `violated is \`false\`, yet violations are listed: ${show(violations, '')}`,
  )
}

/** Reads `context.task`: its parameter_schema decides which strings may be observed. */
function checkObserved({ document, context, report }: Subject): void {
  const task = context['task']
  const table = isObject(task) ? parameterTable(task['parameter_schema']) : null
  judgeBag(document['observed_parameters'], '/observed_parameters', table, OBSERVED_CODES, report)
}

export const actReceipt: Contract = {
  name: 'ao_act_receipt_v0',
  title: 'What the execution of a task actually did.',
  prefix: 'receipt',
  schema: ActReceiptSchema,
  checks: [checkForbidList, checkExecutionTime, checkConstraintCheck, checkObserved],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
