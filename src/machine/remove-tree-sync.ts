/**
 * Removing directories of writ's own with everything in them. What was displaced or staged keeps its
 * modes, and some forbid even the owner to remove what is inside; those are opened up first.
 */
import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs'

/** Nothing happens when there is nothing. Symbolic links are removed, never followed. */
export function removeTreeSync(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return
  if (process.getuid?.() !== 0) openUp(Buffer.from(path))
  rmSync(path, { recursive: true, force: true })
}

function openUp(root: Buffer): void {
  const open = [root]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const stats = lstatSync(next)
    if (!stats.isDirectory()) continue
    if ((stats.mode & 0o700) !== 0o700) chmodSync(next, (stats.mode & 0o7777) | 0o700)
    for (const entry of readdirSync(next, { encoding: 'buffer', withFileTypes: true })) {
      // The type is known without a further look, so that files cost nothing.
      if (!entry.isDirectory()) continue
      open.push(Buffer.concat([next, Buffer.from('/'), entry.name as unknown as Buffer]))
    }
  }
}
