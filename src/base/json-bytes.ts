/** The size of a text in bytes, without encoding it. */

/** UTF-8 bytes of a text, with lone halves as three bytes. */
export function utf8Length(text: string): number {
  let bytes = text.length
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) continue
    bytes += unit < 0x800 ? 1 : 2
    if (unit >= 0xd800 && unit < 0xdc00 && isLow(text.charCodeAt(index + 1))) {
      index++
    }
  }
  return bytes
}

const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000
