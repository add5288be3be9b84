/**
 * Calls: the functions of CEL that are kept (`size`, `has`, `int`, `double`, `startsWith`,
 * `endsWith`, `contains`), the macros `exists` and `all`, and the functions of the host. All are
 * linear in what they look at. Left out on purpose: `matches` (patterns), macros inside macros, and
 * everything about times, bytes and protocol buffers.
 */
import { showName } from '../base/index.ts'
import { type HostFunction, kindOf, sayType } from './environment.ts'
import type { LowerContext } from './lower.ts'
import { bool, type Lowered, own, UNKNOWN } from './lowered.ts'
import { hasCount, macro } from './macro.ts'
import { charge } from './operator.ts'
import { guess } from './parse.ts'
import { holdsKey } from './path.ts'
import type { CallNode, Node } from './syntax.ts'
import { both, Failure, fail, truncated } from './value.ts'

const TEXT_TESTS: Readonly<Record<string, (text: string, part: string) => boolean>> = {
  startsWith: (text, part) => text.startsWith(part),
  endsWith: (text, part) => text.endsWith(part),
  contains: (text, part) => text.includes(part),
}

const FUNCTIONS = ['has', 'size', 'int', 'double'] as const
const METHODS = ['size', 'startsWith', 'endsWith', 'contains', 'exists', 'all'] as const

/** Functions of CEL that writ leaves out. Their error differs from that of an unknown function. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  ...['matches', 'map', 'filter', 'exists_one', 'string', 'bytes', 'uint', 'bool', 'dyn', 'type'],
  ...['timestamp', 'duration', 'getDate', 'getDayOfMonth', 'getDayOfWeek', 'getDayOfYear'],
  ...['getFullYear', 'getHours', 'getMilliseconds', 'getMinutes', 'getMonth', 'getSeconds'],
])

export function lowerCall(lowering: LowerContext, node: CallNode): Lowered {
  const { name, target, args } = node
  if (target === null) {
    const host = own(lowering.environment.functions ?? {}, name)
    if (host !== undefined) return hostCall(lowering, node, host)
    if (name === 'has') return presence(lowering, node)
    if (name === 'size') return sizeOf(lowering, node, args)
    if (name === 'int' || name === 'double') return conversion(lowering, node, name)
  } else {
    if (name === 'size') return sizeOf(lowering, node, [target, ...args])
    if (name === 'exists' || name === 'all') return macro(lowering, node, target)
    if (Object.hasOwn(TEXT_TESTS, name)) return textTest(lowering, node, target)
  }
  return unknownCall(lowering, node)
}

function unknownCall(lowering: LowerContext, { name, at, target }: CallNode): Lowered {
  if (LEFT_OUT.has(name)) {
    const message = `${showName(name)} is a part of CEL that writ leaves out`
    return lowering.refuse('expression.unsupported', at, message)
  }
  const hosts = Object.keys(lowering.environment.functions ?? {})
  const known: readonly string[] = target === null ? [...FUNCTIONS, ...hosts] : METHODS
  const isMisplaced = target === null ? METHODS.some((one) => one === name) : known.includes(name)
  const hint = isMisplaced
    ? `it is called on a value: ${showName(`value.${name}()`)}`
    : guess(name, known)
  return lowering.refuse(
    'expression.unknown_function',
    at,
    `there is no function ${showName(name)}`,
    hint,
  )
}

/** Calls the host with the argument that its `prepare` returned, at most once an evaluation. */
function hostCall(lowering: LowerContext, node: CallNode, host: HostFunction): Lowered {
  const { name, at, args } = node
  const [argument] = args
  if (!hasCount(lowering, node, args.length, 1) || argument === undefined) return UNKNOWN
  if (argument.kind !== 'literal' || argument.type !== 'string') {
    const message = `${showName(name)} takes a literal text in quotes, not a computed one`
    return lowering.refuse('expression.arguments', argument.at, message)
  }
  const prepared = host.prepare(argument.value)
  if (!prepared.ok) {
    return lowering.refuse('expression.arguments', argument.at, prepared.message, prepared.hint)
  }
  const path = `${name}(${JSON.stringify(argument.value)})`
  return bool((frame) => {
    const call = own(frame.calls, name)
    const answer = call === undefined ? null : call(prepared.argument)
    if (answer === null) {
      return fail('expression.absent', at, `${showName(path)} is not known here`, path)
    }
    frame.reads.push({ path, ...answer })
    return answer.value
  })
}

/** `has(a.b)`: whether the field exists. The field must be declared, as for a read. */
function presence(lowering: LowerContext, node: CallNode): Lowered {
  const { at, args } = node
  const [field] = args
  if (!hasCount(lowering, node, args.length, 1) || field === undefined) return UNKNOWN
  if (field.kind !== 'select') {
    const message = '`has` asks for a field, such as `has(a.b)`'
    return lowering.refuse('expression.arguments', field.at, message)
  }
  const before = lowering.faults.length
  const known = lowering.lower(field)
  if (lowering.faults.length > before) return UNKNOWN
  const base = lowering.lower(field.base).run
  const { name } = field
  const path = known.path === null ? null : `has(${known.path})`
  return bool((frame) => {
    const mark = frame.reads.length
    const holder = base(frame)
    if (holder instanceof Failure) return holder
    if (typeof holder !== 'object' || holder === null) {
      const named = field.base.kind === 'name' ? null : known.path
      return fail('expression.overload', at, 'what `has` looks into has no fields', named)
    }
    const value = holdsKey(holder, name)
    if (path !== null) {
      frame.reads.length = mark
      frame.reads.push({ path, value })
    }
    return value
  })
}

function sizeOf(lowering: LowerContext, node: CallNode, args: readonly Node[]): Lowered {
  const { at } = node
  const [argument] = args
  if (!hasCount(lowering, node, args.length, 1) || argument === undefined) return UNKNOWN
  const { type, run } = lowering.lower(argument)
  if (!['string', 'list', 'object', 'any'].includes(kindOf(type))) {
    return lowering.refuse('expression.type', at, `${sayType(type)} has no size`)
  }
  return {
    type: 'int',
    literal: null,
    path: null,
    run: (frame) => {
      const value = run(frame)
      if (Array.isArray(value)) return value.length
      if (typeof value === 'string') return charge(frame, value.length >> 4, at) ?? points(value)
      if (value instanceof Failure) return value
      if (typeof value === 'object' && value !== null) return Object.keys(value).length
      return fail('expression.overload', at, 'what is here has no size')
    },
  }
}

/** Characters are code points, as CEL counts them. */
function points(text: string): number {
  let count = text.length
  for (let index = 1; index < text.length; index++) {
    const isLow = (text.charCodeAt(index) & 0xfc00) === 0xdc00
    if (isLow && (text.charCodeAt(index - 1) & 0xfc00) === 0xd800) count--
  }
  return count
}

function conversion(lowering: LowerContext, node: CallNode, name: 'int' | 'double'): Lowered {
  const { at, args } = node
  const [argument] = args
  if (!hasCount(lowering, node, args.length, 1) || argument === undefined) return UNKNOWN
  const { type, run } = lowering.lower(argument)
  const kind = kindOf(type)
  if (kind !== 'int' && kind !== 'double' && kind !== 'any') {
    return lowering.refuse(
      'expression.type',
      at,
      `${showName(name)} turns numbers, not ${sayType(type)}`,
    )
  }
  return {
    type: name,
    literal: null,
    path: null,
    run: (frame) => {
      const value = run(frame)
      if (value instanceof Failure) return value
      if (typeof value !== 'number' && typeof value !== 'bigint') {
        return fail(
          'expression.overload',
          at,
          `${showName(name)} is used before something that is not a number`,
        )
      }
      if (name === 'double') return Number(value)
      if (kind === 'int' || typeof value === 'bigint') return value
      return truncated(value) ?? fail('expression.overflow', at, 'the number is beyond 64 bits')
    },
  }
}

function textTest(lowering: LowerContext, node: CallNode, target: Node): Lowered {
  const { at, name, args } = node
  const [argument] = args
  if (!hasCount(lowering, node, args.length, 1) || argument === undefined) return UNKNOWN
  const text = lowering.lower(target)
  const part = lowering.lower(argument)
  for (const { type } of [text, part]) {
    if (kindOf(type) === 'string' || kindOf(type) === 'any') continue
    return lowering.refuse(
      'expression.type',
      at,
      `${showName(name)} compares texts, not ${sayType(type)}`,
    )
  }
  // `lowerCall` passes only names of the table.
  const test = TEXT_TESTS[name] as (text: string, part: string) => boolean
  return bool((frame) => {
    const whole = text.run(frame)
    const piece = part.run(frame)
    if (whole instanceof Failure) return piece instanceof Failure ? both(whole, piece) : whole
    if (piece instanceof Failure) return piece
    if (typeof whole !== 'string' || typeof piece !== 'string') {
      return fail(
        'expression.overload',
        at,
        `${showName(name)} is used on something that is not text`,
      )
    }
    // Searching for one long text in another may take time in proportion to the product of their lengths.
    const units = (whole.length * (1 + (piece.length >> 8))) >> 4
    return charge(frame, units < 0 ? Number.MAX_SAFE_INTEGER : units, at) ?? test(whole, piece)
  })
}
