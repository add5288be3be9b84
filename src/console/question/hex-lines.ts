/** Bytes in lines of 16: the place, the bytes, and what of them is a letter. */
const LINE_BYTES = 16

export function hexLines(hex: string): string {
  const bytes = hex.match(/../g) ?? []
  const lines: string[] = []
  for (let at = 0; at < bytes.length; at += LINE_BYTES) {
    const some = bytes.slice(at, at + LINE_BYTES)
    const place = at.toString(16).padStart(4, '0')
    const letters = some.map((byte) => {
      const code = Number.parseInt(byte, 16)
      return code > 0x20 && code < 0x7f ? String.fromCharCode(code) : '.'
    })
    lines.push(`${place}  ${some.join(' ').padEnd(3 * LINE_BYTES - 1)}  ${letters.join('')}`)
  }
  return lines.join('\n')
}
