/** Reads the action ids of a recorded proposal, whatever else of it was replaced by marks. */

/** Every action id of a recorded proposal; the view on the ledger keeps ids. */
export function idsOf(payload: unknown): readonly string[] {
  const ids: string[] = []
  const open: unknown[] = [payload]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { descriptor, children } = next as {
      readonly descriptor?: { readonly action_id?: unknown }
      readonly children?: readonly unknown[]
    }
    if (typeof descriptor?.action_id === 'string') ids.push(descriptor.action_id.toLowerCase())
    if (Array.isArray(children)) open.push(...children)
  }
  return ids
}
