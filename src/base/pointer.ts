/**
 * JSON Pointers (RFC 6901), and the order in which places are listed: by pointer as a string in
 * code-point order, which is not JavaScript's UTF-16 order once astral characters appear.
 */

/** The pointer one step further down: `at('/a', 'b/c')` is `/a/b~1c`. */
export function at(parent: string, step: string | number): string {
  if (typeof step === 'number') return `${parent}/${step}`
  return `${parent}/${escapeStep(step)}`
}

function escapeStep(step: string): string {
  if (!step.includes('~') && !step.includes('/')) return step
  return step.replaceAll('~', '~0').replaceAll('/', '~1')
}

export function pointerSteps(pointer: string): readonly string[] {
  if (pointer === '') return []
  return pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Reads the value a pointer names; own properties only. */
export function readPointer(value: unknown, pointer: string): unknown {
  let current = value
  for (const step of pointerSteps(pointer)) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, step))
      return undefined
    current = (current as Record<string, unknown>)[step] // `step` is an own key.
  }
  return current
}

export function compareCodePoints(left: string, right: string): number {
  const length = Math.min(left.length, right.length)
  for (let index = 0; index < length; index++) {
    const a = left.charCodeAt(index)
    const b = right.charCodeAt(index)
    if (a !== b) return codePointRank(a) - codePointRank(b)
  }
  return left.length - right.length
}

/** Surrogates stand for code points above every other UTF-16 unit. */
function codePointRank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
