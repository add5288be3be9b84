/**
 * Text from documents, for a terminal: control, bidi, zero-width and line-separating characters are
 * escaped, so that what is shown is what is there.
 */
const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is escaped
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

export function plain(text: string): string {
  return text.replace(UNSAFE, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Of several lines that are our own, each. */
export function plainLines(text: string): string {
  return text.split('\n').map(plain).join('\n')
}
