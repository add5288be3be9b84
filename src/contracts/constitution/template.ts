/**
 * Template expressions (`expr` of `control_ruleset_v0`) and their translation to guards. The seven
 * templates are guard operators under other names, so the translation only renames: members of the
 * expression, and the pointers of findings on the way back.
 */
import type { TSchema } from 'typebox'
import * as Type from 'typebox'
import { at, pointerSteps } from '../../base/index.ts'
import { elements, field, isObject } from '../kernel/contract.ts'
import { CLOSED, PathSchema, SetSchema, SHAPE, ValueSchema } from './guard.ts'
import type { GuardPath } from './paths.ts'

export const TEMPLATE_IDS = [
  'FIELD_EQ',
  'FIELD_IN',
  'FIELD_EXISTS',
  'SET_INTERSECTS',
  'WINDOW_MATCH',
  'LOGICAL_AND',
  'LOGICAL_OR_NOT',
] as const
export type TemplateId = (typeof TEMPLATE_IDS)[number]

export const TemplateIdSchema = Type.Enum([...TEMPLATE_IDS], {
  'x-code': { required: 'shape', '*': 'template' },
})

const named = (id: TemplateId) => Type.Literal(id, { 'x-code': SHAPE })
const Nested = Type.Ref('#/$defs/Expr', { 'x-code': SHAPE })
const Children = Type.Array(Nested, { minItems: 1, 'x-code': { ...SHAPE, minItems: 'empty' } })

const OrNode = Type.Object(
  {
    template_id: named('LOGICAL_OR_NOT'),
    op: Type.Literal('OR', { 'x-code': SHAPE }),
    children: Children,
  },
  CLOSED,
)
const NotNode = Type.Object(
  {
    template_id: named('LOGICAL_OR_NOT'),
    op: Type.Literal('NOT', { 'x-code': SHAPE }),
    child: Nested,
  },
  CLOSED,
)

/** Definitions that a schema must carry at its root when it uses `Expr`. */
export const TEMPLATE_DEFINITIONS: Readonly<Record<string, TSchema>> = {
  Expr: Type.Union(
    [
      Type.Object(
        { template_id: named('FIELD_EQ'), field_path: PathSchema, value: ValueSchema },
        CLOSED,
      ),
      Type.Object(
        { template_id: named('FIELD_IN'), field_path: PathSchema, values: SetSchema },
        CLOSED,
      ),
      Type.Object({ template_id: named('FIELD_EXISTS'), field_path: PathSchema }, CLOSED),
      Type.Object(
        { template_id: named('SET_INTERSECTS'), field_path: PathSchema, values: SetSchema },
        CLOSED,
      ),
      Type.Object({ template_id: named('WINDOW_MATCH') }, CLOSED),
      Type.Object({ template_id: named('LOGICAL_AND'), children: Children }, CLOSED),
      Type.Union([OrNode, NotNode], { 'x-choose': 'op', 'x-code': SHAPE }),
    ],
    { 'x-choose': 'template_id', 'x-code': { ...SHAPE, enum: 'template' } },
  ),
}

export type TemplateExpr =
  | {
      readonly template_id: 'FIELD_EQ'
      readonly field_path: GuardPath
      readonly value: string
    }
  | {
      readonly template_id: 'FIELD_IN' | 'SET_INTERSECTS'
      readonly field_path: GuardPath
      readonly values: readonly string[]
    }
  | { readonly template_id: 'FIELD_EXISTS'; readonly field_path: GuardPath }
  | { readonly template_id: 'WINDOW_MATCH' }
  | { readonly template_id: 'LOGICAL_AND'; readonly children: readonly TemplateExpr[] }
  | {
      readonly template_id: 'LOGICAL_OR_NOT'
      readonly op: 'OR'
      readonly children: readonly TemplateExpr[]
    }
  | { readonly template_id: 'LOGICAL_OR_NOT'; readonly op: 'NOT'; readonly child: TemplateExpr }

export const Expr = Type.Unsafe<TemplateExpr>(Nested)

/** Translates an expression to a guard tree. A broken expression gives a tree broken in the same way. */
export function guardOfTemplate(expr: unknown): unknown {
  const path = field(expr, 'field_path')
  switch (field(expr, 'template_id')) {
    case 'FIELD_EQ':
      return { op: 'EQ', field: path, value: field(expr, 'value') }
    case 'FIELD_IN':
      return { op: 'IN', field: path, set: field(expr, 'values') }
    case 'FIELD_EXISTS':
      return { op: 'EXISTS', field: path }
    case 'SET_INTERSECTS':
      return { op: 'INTERSECTS', left: path, right: field(expr, 'values') }
    case 'WINDOW_MATCH':
      return { op: 'WINDOW_MATCH' }
    case 'LOGICAL_AND':
      return { op: 'AND', args: elements(field(expr, 'children')).map(guardOfTemplate) }
    case 'LOGICAL_OR_NOT':
      return field(expr, 'op') === 'NOT'
        ? { op: 'NOT', arg: guardOfTemplate(field(expr, 'child')) }
        : { op: 'OR', args: elements(field(expr, 'children')).map(guardOfTemplate) }
    // The schema refuses an unknown template.
    default:
      return null
  }
}

/** No two members of one guard share a template member, so the names alone translate back. */
const TEMPLATE_MEMBERS: ReadonlyMap<string, string> = new Map([
  ['op', 'template_id'],
  ['field', 'field_path'],
  ['left', 'field_path'],
  ['right', 'values'],
  ['set', 'values'],
  ['args', 'children'],
  ['arg', 'child'],
])

/** Translates a pointer into the guard tree to a pointer into the expression. */
export function pointerInTemplate(pointer: string): string {
  let translated = ''
  for (const step of pointerSteps(pointer)) {
    translated = at(translated, TEMPLATE_MEMBERS.get(step) ?? step)
  }
  return translated
}

/** Every template an expression names, with its place. */
export function templatesOf(
  expr: unknown,
  pointer: string,
): readonly (readonly [string, string])[] {
  const found: [string, string][] = []
  collectTemplates(expr, pointer, found)
  return found
}

function collectTemplates(expr: unknown, pointer: string, found: [string, string][]): void {
  if (!isObject(expr)) return
  const id = field(expr, 'template_id')
  if (typeof id === 'string') found.push([id, `${pointer}/template_id`])
  collectTemplates(field(expr, 'child'), `${pointer}/child`, found)
  elements(field(expr, 'children')).forEach((child, index) => {
    collectTemplates(child, at(`${pointer}/children`, index), found)
  })
}
