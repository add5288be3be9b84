/** Text from documents, for a terminal: what is shown is what is there. */
import { visible } from '../effects/visible.ts'

export function plain(text: string): string {
  return visible(text)
}

/** Of several lines that are our own, each. */
export function plainLines(text: string): string {
  return text.split('\n').map(plain).join('\n')
}
