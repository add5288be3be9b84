/** Texts for narrow terminals: paths shortened in the middle. */

const ELLIPSIS = '…'
/** Of a path at least so much is left. */
const LEAST = 16

/** Keeps the beginning and, longer, the end, where the name is. */
export function shortened(path: string, columns: number): string {
  const width = Math.max(columns, LEAST)
  if (path.length <= width) return path
  const head = Math.floor((width - 1) / 3)
  return `${path.slice(0, head)}${ELLIPSIS}${path.slice(path.length - (width - 1 - head))}`
}
