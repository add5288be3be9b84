/** A broken invariant is a bug in writ, not an answer. It throws, and no caller recovers from it. */

export class BrokenInvariant extends Error {
  override readonly name = 'BrokenInvariant'
}

export function invariant(holds: unknown, promise: string): asserts holds {
  if (!holds) throw new BrokenInvariant(promise)
}
