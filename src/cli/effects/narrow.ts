/** Texts for narrow terminals: paths shortened in the middle, sentences broken between words. */

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

/** Lines of at most so many columns, broken at spaces; a word that is longer is left whole. */
export function wrapped(text: string, columns: number, indent = ''): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    const isFull = line !== '' && line.length + 1 + word.length > columns
    if (isFull) lines.push(line)
    line = isFull ? `${indent}${word}` : line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].join('\n')
}
