/** Reads the action ids of a recorded proposal. */

/** Returns every action id of a recorded proposal. The ledger may hold marks for other parts. */
export function idsOf(payload: unknown): readonly string[] {
  const ids: string[] = []
  const open: unknown[] = [payload]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    // The store validated the proposal; the checks below skip parts that a mark replaced.
    const { descriptor, children } = next as {
      readonly descriptor?: { readonly action_id?: unknown }
      readonly children?: readonly unknown[]
    }
    if (typeof descriptor?.action_id === 'string') ids.push(descriptor.action_id.toLowerCase())
    if (Array.isArray(children)) open.push(...children)
  }
  return ids
}
