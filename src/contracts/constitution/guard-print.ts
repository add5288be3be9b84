/**
 * Writes a guard as text, on one line and in one way: chains infix, a chain of one as a call, sets
 * in square brackets, strings as JSON, `WINDOW_MATCH()` with its parentheses. A chain inside another
 * operator is put in parentheses. Parsing the text gives an equal tree.
 */
import type { Guard, GuardSide } from './guard.ts'

export function printGuard(guard: Guard): string {
  switch (guard.op) {
    case 'AND':
    case 'OR':
      return isInfix(guard)
        ? guard.args.map(printOperand).join(` ${guard.op} `)
        : `${guard.op}(${guard.args.map(printGuard).join(', ')})`
    case 'NOT':
      return `NOT ${printOperand(guard.arg)}`
    case 'EQ':
      return `EQ(${guard.field}, ${JSON.stringify(guard.value)})`
    case 'IN':
      return `IN(${guard.field}, ${printSide(guard.set)})`
    case 'EXISTS':
      return `EXISTS(${guard.field})`
    case 'INTERSECTS':
      return `INTERSECTS(${printSide(guard.left)}, ${printSide(guard.right)})`
    case 'WINDOW_MATCH':
      return 'WINDOW_MATCH()'
    default:
      return guard satisfies never
  }
}

function isInfix(guard: Guard): boolean {
  return (guard.op === 'AND' || guard.op === 'OR') && guard.args.length > 1
}

function printOperand(guard: Guard): string {
  return isInfix(guard) ? `(${printGuard(guard)})` : printGuard(guard)
}

function printSide(side: GuardSide): string {
  return typeof side === 'string'
    ? side
    : `[${side.map((word) => JSON.stringify(word)).join(', ')}]`
}
