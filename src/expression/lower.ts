/**
 * Checks the types of a tree and turns it into functions, in one walk. It reports every fault at its
 * place. A faulty part counts as `any`, so that it causes no further faults around it.
 *
 * INVARIANT (an int literal adapts): an integer literal becomes a double if the other operand is a
 * double or a value whose type is known only when it is read. No other value is converted implicitly.
 */
import { nearest, showName } from '../base/index.ts'
import { lowerCall } from './call.ts'
import {
  type Environment,
  type Evaluator,
  elementOf,
  isNullable,
  isNumber,
  joined,
  kindOf,
  objectOf,
  sayType,
  type ValueType,
} from './environment.ts'
import type { ExpressionCode, RawFault } from './fault.ts'
import { adapt, bool, type Lowered, literal, OVERFLOW, own, UNKNOWN } from './lowered.ts'
import { lowerArithmetic, lowerCompare, lowerIn } from './operator.ts'
import { guess } from './parse.ts'
import {
  chainOf,
  fits,
  holdsKey,
  type PathChain,
  type PathStep,
  readPath,
  sayPath,
  sayStep,
} from './path.ts'
import type { Node } from './syntax.ts'
import { both, Failure, fail } from './value.ts'

/** The variable that a macro binds while its condition is lowered. */
interface Local {
  readonly name: string
  readonly type: ValueType
}

export class LowerContext {
  readonly environment: Environment
  readonly faults: RawFault[] = []
  local: Local | null = null

  constructor(environment: Environment) {
    this.environment = environment
  }

  refuse(code: ExpressionCode, at: number, message: string, hint?: string | null): Lowered {
    this.faults.push({ code, at, message, hint: hint ?? null })
    return UNKNOWN
  }

  lower(node: Node): Lowered {
    switch (node.kind) {
      case 'literal':
        return literal(node)
      case 'list':
        return this.#list(node.items, node.at)
      case 'name':
      case 'select':
      case 'index':
        return this.#reading(node)
      case 'not':
        return this.#not(node.operand)
      case 'negate':
        return this.#negate(node.operand, node.at)
      case 'arithmetic':
        return lowerArithmetic(this, node)
      case 'compare':
        return lowerCompare(this, node)
      case 'in':
        return lowerIn(this, node)
      case 'logic':
        return this.#logic(node.operands, node.operator === '&&')
      case 'implies':
        return this.#implies(node.left, node.right)
      case 'choice':
        return this.#choice(node.condition, node.yes, node.no, node.at)
      case 'call':
        return lowerCall(this, node)
      default:
        return node satisfies never
    }
  }

  /** Lowers a part that must be a condition. */
  condition(node: Node): Evaluator {
    const { type, run } = this.lower(node)
    const kind = kindOf(type)
    if (kind !== 'bool' && kind !== 'any') {
      this.refuse('expression.type', node.at, `expected a bool, found ${sayType(type)}`)
    }
    if (kind === 'bool' && !isNullable(type)) return run
    return (frame) => {
      const value = run(frame)
      if (typeof value === 'boolean' || value instanceof Failure) return value
      return fail('expression.overload', node.at, 'a condition is neither true nor false')
    }
  }

  #not(node: Node): Lowered {
    const run = this.condition(node)
    return bool((frame) => {
      const value = run(frame)
      return typeof value === 'boolean' ? !value : value
    })
  }

  #negate(node: Node, at: number): Lowered {
    const operand = this.lower(node)
    const kind = kindOf(operand.type)
    if (!isNumber(kind) && kind !== 'any') {
      return this.refuse(
        'expression.type',
        at,
        `\`-\` cannot be put before ${sayType(operand.type)}`,
      )
    }
    const { run } = operand
    return {
      ...operand,
      literal: null,
      path: null,
      run: (frame) => {
        const value = run(frame)
        if (typeof value === 'number') return kind === 'int' && value === 0 ? 0 : -value
        if (value instanceof Failure) return value
        if (typeof value !== 'bigint') {
          return fail(
            'expression.overload',
            at,
            '`-` is used before something that is not a number',
          )
        }
        return value === -(2n ** 63n) ? fail('expression.overflow', at, OVERFLOW) : -value
      },
    }
  }

  /** `&&` and `||`: one settling operand decides, even if other operands failed. */
  #logic(nodes: readonly Node[], isAnd: boolean): Lowered {
    const runs = nodes.map((node) => this.condition(node))
    const settling = !isAnd
    return bool((frame) => {
      const { reads } = frame
      const mark = reads.length
      let failure: Failure | null = null
      for (let index = 0; index < runs.length; index++) {
        const start = reads.length
        const value = (runs[index] as Evaluator)(frame) // `index` is below the length.
        if (value === settling) {
          if (start > mark) reads.splice(mark, start - mark)
          return settling
        }
        if (value instanceof Failure) failure = both(failure, value)
      }
      return failure ?? !settling
    })
  }

  /** `a -> b` is `!a || b`. */
  #implies(left: Node, right: Node): Lowered {
    const premise = this.condition(left)
    const conclusion = this.condition(right)
    return bool((frame) => {
      const mark = frame.reads.length
      const first = premise(frame)
      if (first === false) return true
      const start = frame.reads.length
      const second = conclusion(frame)
      if (second === true) {
        frame.reads.splice(mark, start - mark)
        return true
      }
      if (!(first instanceof Failure)) return second
      return second instanceof Failure ? both(first, second) : first
    })
  }

  #choice(condition: Node, yes: Node, no: Node, at: number): Lowered {
    const test = this.condition(condition)
    const [one, other] = this.alike(
      [this.lower(yes), this.lower(no)],
      at,
      'the two sides of a choice',
    )
    if (one === undefined || other === undefined) return UNKNOWN
    return {
      type: joined([one.type, other.type]),
      literal: null,
      path: null,
      run: (frame) => {
        const value = test(frame)
        if (value instanceof Failure) return value
        return value === true ? one.run(frame) : other.run(frame)
      },
    }
  }

  #list(nodes: readonly Node[], at: number): Lowered {
    const items = this.alike(
      nodes.map((node) => this.lower(node)),
      at,
      'the items of a list',
    )
    const type: ValueType = { list: joined(items.map((item) => item.type)) }
    const constants = items.map((item) => item.literal?.value)
    if (items.every((item) => item.literal !== null)) {
      return { type, literal: null, path: null, run: () => constants }
    }
    const run: Evaluator = (frame) => {
      const values: unknown[] = []
      for (const item of items) {
        const value = item.run(frame)
        if (value instanceof Failure) return value
        values.push(value)
      }
      return values
    }
    return { type, literal: null, path: null, run }
  }

  /** Checks that parts have one type; int literals among doubles adapt. Returns [] if types differ. */
  alike(parts: readonly Lowered[], at: number, what: string): readonly Lowered[] {
    const wide = parts.some(({ type }) => kindOf(type) === 'double' || kindOf(type) === 'any')
    const adapted = wide ? parts.map((part) => adapt(part)) : parts
    const kinds = new Set(adapted.map(({ type }) => kindOf(type)))
    kinds.delete('any')
    kinds.delete('null')
    if (kinds.size <= 1) return adapted
    this.refuse('expression.type', at, `${what} have different types: ${[...kinds].join(' and ')}`)
    return []
  }

  #reading(node: Node): Lowered {
    const chain = chainOf(node)
    if (chain !== null) return this.#path(chain)
    if (node.kind === 'select') return this.#select(node.base, { key: node.name, at: node.at })
    if (node.kind === 'index') return this.#computedIndex(node.base, node.index, node.at)
    return UNKNOWN
  }

  #path(chain: PathChain): Lowered {
    const isLocal = this.local?.name === chain.root
    const root = isLocal ? this.local?.type : own(this.environment.variables, chain.root)
    if (root === undefined) return this.#unknownName(chain)
    let type: ValueType = root
    for (const [index, step] of chain.steps.entries()) {
      const next = this.member(type, step, sayPath(chain.root, chain.steps.slice(0, index)))
      if (next === null) return UNKNOWN
      type = next
    }
    const path = sayPath(chain.root, chain.steps)
    return { type, run: readPath(chain, type, isLocal), literal: null, path }
  }

  #unknownName({ root, at, steps }: PathChain): Lowered {
    const { variables } = this.environment
    const holder = Object.keys(variables).find((name) =>
      // `name` is a key of `variables`.
      Object.hasOwn(objectOf(variables[name] as ValueType)?.fields ?? {}, root),
    )
    const hint =
      holder === undefined
        ? guess(root, Object.keys(variables))
        : `did you mean ${showName(`${holder}.${root}`)}?`
    const plain = steps.length === 0 ? 'write text in quotation marks' : null
    const message = `there is no ${showName(root)}`
    return this.refuse('expression.unknown_name', at, message, hint ?? plain)
  }

  /** Returns the type of a member. Reports a fault and returns null if there is no such member. */
  member(type: ValueType, { key, at }: PathStep, holder: string): ValueType | null {
    const kind = kindOf(type)
    if (kind === 'any') return 'any'
    if (typeof key === 'number') {
      const element = elementOf(type)
      if (element !== null) return element
      this.refuse('expression.type', at, `${sayHolder(holder, type)} has no place ${key}`)
      return null
    }
    const object = objectOf(type)
    if (object === null) {
      this.refuse('expression.type', at, `${sayHolder(holder, type)} has no fields`)
      return null
    }
    const declared = own(object.fields, key) ?? object.others
    if (declared !== undefined) return declared
    const withheld = own(object.withheld ?? {}, key)
    const near = nearest(key, Object.keys(object.fields))
    const hint = near === null ? null : `did you mean ${showName(`${holder}${sayStep(near)}`)}?`
    const message = `there is no ${showName(`${holder}${sayStep(key)}`)}`
    this.refuse('expression.unknown_field', at, message, withheld ?? hint)
    return null
  }

  #select(base: Node, step: PathStep): Lowered {
    const holder = this.lower(base)
    const type = this.member(holder.type, step, 'the value')
    if (type === null) return UNKNOWN
    return {
      type,
      literal: null,
      path: null,
      run: memberRun(holder.run, () => step.key, step.at, type),
    }
  }

  #computedIndex(base: Node, index: Node, at: number): Lowered {
    const holder = this.lower(base)
    const key = this.lower(index)
    const element = elementOf(holder.type)
    const others = objectOf(holder.type)?.others
    const isAny = kindOf(holder.type) === 'any'
    const type = isAny ? 'any' : (element ?? others)
    if (type === undefined || type === null) {
      return this.refuse('expression.type', at, `${sayType(holder.type)} cannot be indexed`)
    }
    const wanted = element !== null ? 'int' : 'string'
    const kind = kindOf(key.type)
    if (!isAny && kind !== wanted && kind !== 'any') {
      const message = `the index of ${sayType(holder.type)} is ${sayType(key.type)}`
      return this.refuse('expression.type', index.at, message)
    }
    return { type, literal: null, path: null, run: memberRun(holder.run, key.run, at, type) }
  }
}

function sayHolder(holder: string, type: ValueType): string {
  return `${holder === 'the value' ? holder : showName(holder)} is ${sayType(type)} and`
}

/** One step from a computed value, by a key that may be computed too. */
function memberRun(holder: Evaluator, key: Evaluator, at: number, type: ValueType): Evaluator {
  const kind = kindOf(type)
  const allowsNull = isNullable(type)
  return (frame) => {
    const value = holder(frame)
    if (value instanceof Failure) return value
    const step = key(frame)
    if (step instanceof Failure) return step
    if ((typeof step !== 'string' && typeof step !== 'number') || !holdsKey(value, step)) {
      return fail('expression.absent', at, 'there is nothing at this index')
    }
    const found = value[step]
    if (fits(kind, allowsNull, found)) return found
    return fail('expression.mistyped', at, `what is here is not ${sayType(type)}`)
  }
}
