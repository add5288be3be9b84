/** JSON that a terminal shows as it is: characters that it would obey or not show are written `\\u…`. */
import type { Terminal } from './terminal.ts'

const OBEYED =
  /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g

/** Outside of strings JSON has none of these characters, so the value is the same. */
function escapedJson(text: string): string {
  return text.replace(OBEYED, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** For a command that answers with JSON. */
export function jsonTerminal(terminal: Terminal): Terminal {
  return { ...terminal, out: (text) => terminal.out(escapedJson(text)) }
}
