/** Texts and numbers of an SVG file. */

/** Width of a column and height of a line, in user units at 13 px. */
export const COLUMN = 7.4
export const LINE = 17
/** Texts come from outside: nothing in them may end a text, an attribute or an element. */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** At most one digit behind the point, so that no machine writes it differently. */
export function number(value: number): string {
  return String(Math.round(value * 10) / 10)
}
