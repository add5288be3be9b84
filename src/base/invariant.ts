/**
 * A broken promise inside writ is a bug, not an answer: it throws, and nobody catches it to steer.
 */

export class BrokenInvariant extends Error {
  override readonly name = 'BrokenInvariant'
}

export function invariant(holds: unknown, promise: string): asserts holds {
  if (!holds) throw new BrokenInvariant(promise)
}
