/** One violation of a document as text: its place, its code, the message and the hint. */
import type { Violation } from '../../contracts/index.ts'
import type { Paint } from './terminal.ts'

export function violationText({ code, path, message, hint }: Violation, paint: Paint): string {
  const place = path === '' ? '(the document)' : path
  const line = `  ${paint.accent(place)}  ${paint.dim(code)}\n    ${message}`
  return hint === undefined ? line : `${line}\n    ${paint.dim('hint:')} ${hint}`
}
