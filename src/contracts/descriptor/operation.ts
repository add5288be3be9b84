/**
 * `operation_v1`: what would be run, typed by what it does (G-7). A closed variant per type, each
 * with an optional `compensation`, itself an operation, which undoes it where files cannot.
 *
 * Operations name exact paths: a `*` in one would mean a file of that name to the one who runs it
 * and a pattern to the one who declared its effects. Inside which scope they lie is the proposal's.
 */
import * as Type from 'typebox'
import { DOCUMENT_LIMITS } from '../../base/index.ts'
import type { Contract } from '../kernel/contract.ts'
import { OPERATION_CHECKS } from './operation-checks.ts'
import { AbsolutePath, closed } from './shapes.ts'

const Selector = Type.String({ minLength: 1 })

function actionOf<const A extends string>(action: A) {
  return Type.Literal(action, { 'x-code': 'step' })
}

/**
 * The steps of a UI_AUTOMATION: a small closed vocabulary, distinguished by `action`. `content` holds
 * the text to type into a page; no message and no fact shows it. Deliberately absent: scripts in the
 * page, waiting for a time, anything that depends on what an earlier step returned.
 */
const StepSchema = Type.Union(
  [
    Type.Object({ action: actionOf('goto'), url: Type.String() }, closed),
    Type.Object({ action: actionOf('click'), selector: Selector }, closed),
    Type.Object({ action: actionOf('fill'), selector: Selector, content: Type.String() }, closed),
    Type.Object(
      {
        action: actionOf('press'),
        key: Type.String({ minLength: 1 }),
        selector: Type.Optional(Selector),
      },
      closed,
    ),
    Type.Object({ action: actionOf('select'), selector: Selector, option: Type.String() }, closed),
    Type.Object(
      {
        action: actionOf('wait_for'),
        selector: Selector,
        timeout_ms: Type.Optional(Type.Integer({ minimum: 1 })),
      },
      closed,
    ),
    Type.Object(
      {
        action: actionOf('expect_text'),
        text: Type.String({ minLength: 1 }),
        selector: Type.Optional(Selector),
      },
      closed,
    ),
    Type.Object({ action: actionOf('screenshot'), save_to: AbsolutePath }, closed),
  ],
  { 'x-choose': 'action', 'x-code': { enum: 'step' } },
)

export type UiStep = Type.Static<typeof StepSchema>

const OperationRef = Type.Ref('#/$defs/Operation')
const compensation = Type.Optional(OperationRef)
const Text = Type.String()

function typeOf<const T extends string>(type: T) {
  return Type.Literal(type, { 'x-code': 'type' })
}

/** At least one of something to act on. */
function some<Item extends Type.TSchema>(item: Item) {
  return Type.Array(item, { minItems: 1, 'x-code': { minItems: 'empty' } })
}

/** Texts under names that are data: an open object, which `Record` would match by a pattern. */
const TextByName = Type.Unsafe<Readonly<Record<string, string>>>(
  Type.Object({}, { additionalProperties: Text }),
)

/** Octal digits such as `0644`, or the number that they mean. */
const Mode = Type.Union(
  [
    Type.String({
      pattern: '^[0-7]{3,4}$',
      'x-code': { pattern: 'mode' },
      'x-says': 'three or four octal digits',
    }),
    Type.Integer({ minimum: 0, maximum: 0o7777, 'x-code': 'mode' }),
  ],
  { 'x-code': { anyOf: 'mode' } },
)

const Method = Type.Enum(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'], {
  'x-code': 'method',
})

function packageVariant<const T extends string>(type: T) {
  return Type.Object(
    {
      type: typeOf(type),
      manager: Type.String({
        pattern: '^[a-z][a-z0-9._+-]{0,31}$',
        'x-code': { pattern: 'manager' },
        'x-says': 'the lower-case name of a package manager',
      }),
      packages: some(Text),
      cwd: AbsolutePath,
      compensation,
    },
    closed,
  )
}

const OperationBody = Type.Union(
  [
    Type.Object({ type: typeOf('FILE_READ'), path: AbsolutePath, compensation }, closed),
    Type.Object(
      {
        type: typeOf('FILE_WRITE'),
        path: AbsolutePath,
        content: Type.Optional(Text),
        content_base64: Type.Optional(Text),
        mode: Type.Optional(Mode),
        compensation,
      },
      closed,
    ),
    Type.Object({ type: typeOf('FILE_DELETE'), paths: some(AbsolutePath), compensation }, closed),
    Type.Object(
      { type: typeOf('FILE_MOVE'), from: AbsolutePath, to: AbsolutePath, compensation },
      closed,
    ),
    Type.Object({ type: typeOf('DIRECTORY_CREATE'), path: AbsolutePath, compensation }, closed),
    Type.Object(
      {
        type: typeOf('DIRECTORY_DELETE'),
        path: AbsolutePath,
        recursive: Type.Boolean(),
        compensation,
      },
      closed,
    ),
    Type.Object(
      {
        type: typeOf('COMMAND_EXECUTION'),
        argv: Type.Array(Text, { minItems: 1, 'x-code': { minItems: 'argv' } }),
        cwd: AbsolutePath,
        env: Type.Optional(TextByName),
        stdin: Type.Optional(Text),
        compensation,
      },
      closed,
    ),
    packageVariant('PACKAGE_INSTALL'),
    packageVariant('PACKAGE_REMOVE'),
    Type.Object(
      {
        type: typeOf('NETWORK_REQUEST'),
        method: Method,
        url: Text,
        headers: Type.Optional(TextByName),
        body: Type.Optional(Text),
        save_to: Type.Optional(AbsolutePath),
        compensation,
      },
      closed,
    ),
    Type.Object(
      {
        type: typeOf('UI_AUTOMATION'),
        start_url: Text,
        steps: Type.Array(StepSchema),
        compensation,
      },
      closed,
    ),
    Type.Object(
      {
        type: typeOf('CONFIG_CHANGE'),
        path: AbsolutePath,
        format: Type.Enum(['json', 'yaml', 'toml'], { 'x-code': 'format' }),
        set: Type.Unsafe<Readonly<Record<string, unknown>>>(Type.Object({})),
        unset: Type.Array(Text),
        compensation,
      },
      closed,
    ),
  ],
  { 'x-choose': 'type', 'x-code': { enum: 'type' }, 'x-prefix': 'operation' },
)

/** Definitions that a schema needs which refers to `#/$defs/Operation`. */
export const OPERATION_DEFINITIONS = { Operation: OperationBody } as const

const OperationSchema = Type.Ref('#/$defs/Operation', { $defs: OPERATION_DEFINITIONS })

/** The static type of a reference is unknown, so the recursion is said here. */
export type Operation = Type.Static<typeof OperationBody> & { readonly compensation?: Operation }
export type OperationType = Operation['type']

/** The types of operations: every action type but the composite. */
export const OPERATION_TYPES: readonly string[] = OperationBody.anyOf.map(
  (variant) => variant.properties.type.const,
)

/** Returns the permission bits of a `mode`. The contract has judged its form. */
export function modeBits(mode: string | number): number {
  return typeof mode === 'number' ? mode : Number.parseInt(mode, 8)
}

export const operationContract: Contract = {
  name: 'operation_v1',
  title: 'What an action would run.',
  prefix: 'operation',
  schema: OperationSchema,
  checks: OPERATION_CHECKS,
  limits: DOCUMENT_LIMITS,
  isRecord: false,
}
