/**
 * The tree of an expression as it was written. Every node knows the offset that a message about it
 * points to. Chains of `&&` and `||` are one node with many operands, so that a wide expression is
 * not a deep one.
 */

export type CompareOperator = '==' | '!=' | '<' | '<=' | '>' | '>='
export type ArithmeticOperator = '+' | '-' | '*' | '/' | '%'
export type LogicOperator = '&&' | '||'

export type Literal =
  | { readonly kind: 'literal'; readonly at: number; readonly type: 'null'; readonly value: null }
  | {
      readonly kind: 'literal'
      readonly at: number
      readonly type: 'bool'
      readonly value: boolean
    }
  | {
      readonly kind: 'literal'
      readonly at: number
      readonly type: 'string'
      readonly value: string
    }
  | {
      readonly kind: 'literal'
      readonly at: number
      readonly type: 'double'
      readonly value: number
    }
  | {
      readonly kind: 'literal'
      readonly at: number
      readonly type: 'int'
      readonly value: number | bigint
    }

export type Node =
  | Literal
  | { readonly kind: 'list'; readonly at: number; readonly items: readonly Node[] }
  | { readonly kind: 'name'; readonly at: number; readonly name: string }
  | { readonly kind: 'select'; readonly at: number; readonly base: Node; readonly name: string }
  | { readonly kind: 'index'; readonly at: number; readonly base: Node; readonly index: Node }
  | { readonly kind: 'not' | 'negate'; readonly at: number; readonly operand: Node }
  | Binary<'arithmetic', ArithmeticOperator>
  | Binary<'compare', CompareOperator>
  | Binary<'in', 'in'>
  | Binary<'implies', '->'>
  | {
      readonly kind: 'logic'
      readonly at: number
      readonly operator: LogicOperator
      readonly operands: readonly Node[]
    }
  | {
      readonly kind: 'choice'
      readonly at: number
      readonly condition: Node
      readonly yes: Node
      readonly no: Node
    }
  | CallNode

export interface Binary<K extends string, O extends string> {
  readonly kind: K
  readonly at: number
  readonly operator: O
  readonly left: Node
  readonly right: Node
}

export interface CallNode {
  readonly kind: 'call'
  readonly at: number
  readonly name: string
  /** The receiver before the dot; null for a plain call. */
  readonly target: Node | null
  readonly args: readonly Node[]
}

/** The parts of a node, from left to right. */
export function partsOf(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'literal':
    case 'name':
      return []
    case 'list':
      return node.items
    case 'select':
      return [node.base]
    case 'index':
      return [node.base, node.index]
    case 'not':
    case 'negate':
      return [node.operand]
    case 'arithmetic':
    case 'compare':
    case 'in':
    case 'implies':
      return [node.left, node.right]
    case 'logic':
      return node.operands
    case 'choice':
      return [node.condition, node.yes, node.no]
    case 'call':
      return node.target === null ? node.args : [node.target, ...node.args]
    default:
      return node satisfies never
  }
}

/** How many nodes a tree has; the parser bounds it. */
export function sizeOf(node: Node): number {
  let size = 0
  const open = [node]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    size++
    open.push(...partsOf(next))
  }
  return size
}
