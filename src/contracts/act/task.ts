/**
 * `ao_act_task_v0`: a physically checkable instruction that a human issued (seed 000 §A, C-4a).
 * Deliberately absent: anything that decides, recommends, scores or triggers; the forbid list
 * refuses such keys at any depth.
 */
import * as Type from 'typebox'
import { at, DOCUMENT_LIMITS, show, showName } from '../../base/index.ts'
import { type Contract, elements, field, isObject, type Subject } from '../kernel/contract.ts'
import {
  type BagCodes,
  judgeBag,
  type ParameterKey,
  PointerRef,
  parameterTable,
  reportForbidden,
  Span,
  TASK_FORBIDS,
} from './forbid.ts'

export const ACTION_TYPES = [
  'PLOW',
  'HARROW',
  'SEED',
  'SPRAY',
  'IRRIGATE',
  'TRANSPORT',
  'HARVEST',
] as const

const closed = { additionalProperties: false } as const

const ParameterKeySchema = Type.Object(
  {
    name: Type.String(),
    type: Type.Enum(['number', 'boolean', 'enum'], { 'x-code': 'schema_key_type' }),
    min: Type.Optional(Type.Number()),
    max: Type.Optional(Type.Number()),
    enum: Type.Optional(Type.Array(Type.String())),
  },
  closed,
)

const ActTaskSchema = Type.Object(
  {
    type: Type.Literal('ao_act_task_v0', { 'x-code': 'type_const' }),
    act_task_id: Type.String(),
    issuer: Type.Object(
      {
        kind: Type.Literal('human', { 'x-code': 'issuer_kind' }),
        id: Type.String(),
        namespace: Type.String(),
      },
      closed,
    ),
    action_type: Type.Enum([...ACTION_TYPES], { 'x-code': 'action_type' }),
    target: Type.Object(
      { kind: Type.Enum(['field', 'area', 'path'], { 'x-code': 'target_kind' }), ref: PointerRef },
      closed,
    ),
    time_window: Span,
    parameter_schema: Type.Object(
      {
        keys: Type.Array(ParameterKeySchema, {
          minItems: 1,
          'x-code': { minItems: 'schema_keys_min' },
        }),
      },
      closed,
    ),
    parameters: Type.Object({}),
    constraints: Type.Object({}),
    created_at_ts: Type.Number(),
    meta: Type.Optional(Type.Object({})),
  },
  closed,
)

export type ActTask = Type.Static<typeof ActTaskSchema>

const PARAMETER_CODES: BagCodes = {
  composite: 'task.param_composite',
  valueType: 'task.param_value_type',
  freeString: 'task.free_string',
  notInList: 'task.enum_not_in_list',
}

const CONSTRAINT_CODES: BagCodes = {
  composite: 'task.constraint_composite',
  valueType: 'task.constraint_value_type',
  freeString: 'task.free_string',
  notInList: 'task.enum_not_in_list',
}

/** Places whose keys the structure leaves open; the rest of a sound task holds known keys only. */
const OPEN_PLACES = ['parameters', 'constraints', 'meta'] as const

function checkForbidList({ document, report, sound }: Subject): void {
  if (!sound) return reportForbidden(document, '', TASK_FORBIDS, 'task.forbid_key', report)
  for (const place of OPEN_PLACES) {
    reportForbidden(document[place], `/${place}`, TASK_FORBIDS, 'task.forbid_key', report)
  }
}

function checkTimeWindow({ document, report }: Subject): void {
  const start = field(document['time_window'], 'start_ts')
  const end = field(document['time_window'], 'end_ts')
  if (typeof start !== 'number' || typeof end !== 'number' || start <= end) return
  report.add(
    'task.time_window_order',
    '/time_window/start_ts',
    `the window starts at ${show(start, '')}, after its end at ${show(end, '')}`,
  )
}

function checkParameterSchema({ document, report }: Subject): void {
  const keys = elements(field(document['parameter_schema'], 'keys'))
  const seen = new Set<string>()
  for (let index = 0; index < keys.length; index++) {
    const key = keys[index]
    if (!isObject(key)) continue
    const path = `/parameter_schema/keys/${index}`
    checkFacets(key, path, report)
    const name = field(key, 'name')
    if (typeof name !== 'string') continue
    if (seen.has(name)) {
      report.add(
        'task.coverage_duplicate',
        `${path}/name`,
        `the parameter ${showName(name)} is defined twice`,
      )
    }
    seen.add(name)
  }
}

function checkFacets(key: object, path: string, report: Subject['report']): void {
  const type = field(key, 'type')
  if (type !== 'number' && type !== 'boolean' && type !== 'enum') return
  for (const facet of type === 'number'
    ? ['enum']
    : type === 'enum'
      ? ['min', 'max']
      : ['min', 'max', 'enum']) {
    if (!Object.hasOwn(key, facet)) continue
    report.add(
      'task.schema_facet_misplaced',
      `${path}/${facet}`,
      `${showName(facet)} has no meaning for a parameter of type ${showName(type)}`,
    )
  }
  if (type === 'enum') checkEnumList(key, path, report)
  const min = field(key, 'min')
  const max = field(key, 'max')
  if (type === 'number' && typeof min === 'number' && typeof max === 'number' && min > max) {
    report.add(
      'task.schema_facet_misplaced',
      `${path}/min`,
      `min ${show(min, '')} is greater than max ${show(max, '')}`,
    )
  }
}

function checkEnumList(key: object, path: string, report: Subject['report']): void {
  const list = field(key, 'enum')
  if (list !== undefined && (!Array.isArray(list) || list.length > 0)) return
  report.add(
    'task.schema_enum_required',
    `${path}/enum`,
    list === undefined
      ? `the field ${showName('enum')} is missing: an enum parameter lists its values`
      : `expected a list of at least one value, found ${show(list, '')}`,
  )
}

function checkParameters({ document, report }: Subject): void {
  const table = parameterTable(document['parameter_schema'])
  judgeBag(document['parameters'], '/parameters', table, PARAMETER_CODES, report)
  judgeBag(document['constraints'], '/constraints', table, CONSTRAINT_CODES, report)
  const parameters = document['parameters']
  if (!isObject(parameters)) return
  for (const name of Object.keys(parameters)) {
    const key = table.get(name)
    const path = at('/parameters', name)
    if (key === undefined) {
      report.add('task.coverage_extra', path, `${showName(name)} is not a key of parameter_schema`)
    } else {
      checkDeclaredType(key, parameters[name], path, report)
    }
  }
  for (const name of table.keys()) {
    if (Object.hasOwn(parameters, name)) continue
    report.add(
      'task.coverage_missing',
      at('/parameters', name),
      `the parameter ${showName(name)} has no value`,
    )
  }
}

/** Reports scalars of the wrong type. `judgeBag` reports null and composites. */
function checkDeclaredType(
  key: ParameterKey,
  value: unknown,
  path: string,
  report: Subject['report'],
): void {
  if (typeof value === 'object') return
  // A type that is no type, such as `string`, declares nothing.
  if (key.type !== 'number' && key.type !== 'boolean' && key.type !== 'enum') return
  if (typeof value !== (key.type === 'enum' ? 'string' : key.type)) {
    report.add(
      'task.param_value_type',
      path,
      `expected a value of type ${showName(key.type)}, found ${show(value, path)}`,
    )
  } else if (typeof value === 'number') {
    checkBounds(key, value, path, report)
  }
}

function checkBounds(
  key: ParameterKey,
  value: number,
  path: string,
  report: Subject['report'],
): void {
  const low = key.min !== null && value < key.min
  const high = key.max !== null && value > key.max
  if (!low && !high) return
  const bounds = `${key.min ?? 'any'} to ${key.max ?? 'any'}`
  report.add('task.bounds', path, `${show(value, path)} is outside the bounds ${bounds}`)
}

export const actTask: Contract = {
  name: 'ao_act_task_v0',
  title: 'A physically checkable instruction that a human issued.',
  prefix: 'task',
  schema: ActTaskSchema,
  checks: [checkForbidList, checkTimeWindow, checkParameterSchema, checkParameters],
  limits: DOCUMENT_LIMITS,
  isRecord: true,
}
