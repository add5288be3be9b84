/**
 * The sequences that reset a terminal before effects are shown, so that nothing a command wrote can
 * colour, hide, move or forge them. Data: each row says what it undoes. The order matters where it says so.
 */

const ESC = '\u001b'
/** String terminator: ends an operating system command or a device control string. */
const ST = `${ESC}\\`

interface ResetRow {
  readonly sequence: string
  readonly undoes: string
  /** Written only if the command wrote something that can do this; without it always. */
  readonly after?: 'strings' | 'shapes'
}

function modeOff(number: number, undoes: string): ResetRow {
  return { sequence: `${ESC}[?${number}l`, undoes }
}

const SAVE = `${ESC}7`
const RESTORE = `${ESC}8`

export const RESET: readonly ResetRow[] = [
  // First: a sequence that was begun would swallow all that follows.
  { sequence: `\u0018${ST}`, undoes: 'a sequence or string left open' },
  modeOff(2026, 'synchronised output, which holds back all that is drawn'),
  { sequence: `${ESC}[4i`, undoes: 'output sent to a printer' },
  { sequence: `${ESC}[?4i`, undoes: 'lines copied to a printer' },
  { sequence: `${ESC}%G`, undoes: 'another encoding than UTF-8' },
  // Leaving the alternate screen restores a saved cursor, also when it was never entered.
  { sequence: SAVE, undoes: 'a cursor saved somewhere else' },
  modeOff(47, 'the alternate screen, oldest form'),
  modeOff(1047, 'the alternate screen, older form'),
  modeOff(1049, 'the alternate screen'),
  { sequence: `${ESC}[!p`, undoes: 'most modes (soft reset)' },
  // These two move the cursor, which is put back; margins that are gone make the first harmless.
  {
    sequence: `${SAVE}${ESC}[?6l${ESC}[?69l${ESC}[r${RESTORE}`,
    undoes: 'margins, a scrolling region, and addresses relative to them',
  },
  { sequence: '\u000f', undoes: 'the second character set' },
  { sequence: `${ESC}(B`, undoes: 'line drawing in place of letters' },
  { sequence: `${ESC})B`, undoes: 'line drawing in the second set' },
  modeOff(9, 'mouse reports, oldest form'),
  modeOff(1000, 'mouse reports'),
  modeOff(1001, 'mouse highlighting'),
  modeOff(1002, 'mouse reports while dragging'),
  modeOff(1003, 'mouse reports always'),
  modeOff(1004, 'reports of focus'),
  modeOff(1005, 'mouse coordinates in UTF-8'),
  modeOff(1006, 'mouse coordinates in decimal'),
  modeOff(1007, 'the wheel as arrow keys'),
  modeOff(1015, 'mouse coordinates, another form'),
  modeOff(1016, 'mouse coordinates in pixels'),
  modeOff(2004, 'marks around pasted text'),
  modeOff(2031, 'reports of the colour scheme'),
  modeOff(2048, 'reports of the size'),
  modeOff(1, 'arrow keys of applications'),
  { sequence: `${ESC}>`, undoes: 'number pad of applications' },
  { sequence: `${ESC}[>4;0m`, undoes: 'keys reported with their modifiers' },
  { sequence: `${ESC}[=0;1u`, undoes: 'keys reported in full' },
  modeOff(5, 'reverse video of the screen'),
  modeOff(45, 'going back over the left edge'),
  { sequence: `${ESC}[?7h`, undoes: 'no wrapping: the ends of lines would be lost' },
  { sequence: `${ESC}[4l`, undoes: 'insert mode' },
  { sequence: `${ESC}[20l`, undoes: 'line feeds that return' },
  { sequence: `${ESC}[12h`, undoes: 'local echo' },
  { sequence: `${ESC}[2l`, undoes: 'a locked keyboard' },
  { sequence: `${ESC}]8;;${ST}`, undoes: 'a link left open' },
  { sequence: `${ESC}]104${ST}`, undoes: 'colours of the palette', after: 'strings' },
  { sequence: `${ESC}]110${ST}`, undoes: 'the colour of text', after: 'strings' },
  { sequence: `${ESC}]111${ST}`, undoes: 'the colour of the background', after: 'strings' },
  { sequence: `${ESC}]112${ST}`, undoes: 'the colour of the cursor', after: 'strings' },
  { sequence: `${ESC}[0m`, undoes: 'colours, hidden and blinking text' },
  { sequence: `${ESC}["q`, undoes: 'protected characters' },
  { sequence: `${ESC}[0 q`, undoes: 'the shape of the cursor', after: 'shapes' },
  { sequence: `${ESC}[?25h`, undoes: 'a hidden cursor' },
  // Last: on a new line of ordinary height, with nothing below it.
  { sequence: '\r\n', undoes: 'a line that was begun' },
  { sequence: `${ESC}#5`, undoes: 'letters of double size' },
  { sequence: `${ESC}[J`, undoes: 'text below the cursor' },
]

export const RESET_TERMINAL = RESET.map(({ sequence }) => sequence).join('')

/** What a command wrote that lasts beyond it, watched as it is written. */
export class SeenOutput {
  /** An operating system command: colours of the palette are set by one. */
  strings = false
  /** A sequence that ends as the one for shapes of the cursor does. */
  shapes = false
  #last = ''

  /** Any bytes; what may be one of them is taken for one. */
  take(bytes: Uint8Array): void {
    if (this.strings && this.shapes) return
    const text = `${this.#last}${Buffer.from(bytes).toString('latin1')}`
    this.strings ||= text.includes('\u001b]') || text.includes('\u00c2\u009d')
    this.shapes ||= text.includes(' q')
    this.#last = text.slice(-1)
  }
}

/** Null: no command of ours wrote to this terminal. */
export function resetFor(seen: SeenOutput | null): string {
  const rows = RESET.filter(({ after }) => after === undefined || seen?.[after] === true)
  return rows.map(({ sequence }) => sequence).join('')
}

/** Said before the command runs and after it, so that its title is taken off again. */
export const KEEP_TITLE = `${ESC}[22;0t`
export const TITLE_BACK = `${ESC}[23;0t`

/** A terminal without sequences would show them, and obeys none that a command wrote. */
export function obeysSequences(term: string | undefined): boolean {
  return term !== undefined && term !== '' && term !== 'dumb'
}
