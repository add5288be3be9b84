/**
 * The command line's view of its surroundings: where answers and errors go, and whether colours may
 * be used (only on a terminal, never with NO_COLOR). `main.ts` hands one object down to the commands.
 */

export interface Terminal {
  /** Writes to standard output; resolves when the reader can take more. */
  out(text: string): Promise<void>
  err(text: string): void
  readonly isTty: boolean
  readonly isErrorTty: boolean
  readonly columns: number
  readonly paint: Paint
  /** Colours for standard error. */
  readonly paintError: Paint
}

export interface Paint {
  good(text: string): string
  bad(text: string): string
  dim(text: string): string
  strong(text: string): string
  accent(text: string): string
}

export function processTerminal(): Terminal {
  const { stdout, stderr, env } = process
  return {
    out: (text) => writeOut(stdout, text),
    err: (text) => {
      stderr.write(text)
    },
    isTty: stdout.isTTY === true,
    isErrorTty: stderr.isTTY === true,
    // A terminal that does not know its width says 0.
    columns: stdout.columns || stderr.columns || 80,
    paint: paint(usesColour(stdout, env)),
    paintError: paint(usesColour(stderr, env)),
  }
}

/** A reader that went away (`| head`) is no failure of ours. */
function writeOut(stdout: NodeJS.WriteStream, text: string): Promise<void> {
  if (stdout.write(text)) return Promise.resolve()
  return new Promise((resolve) => {
    const end = (): void => {
      stdout.off('drain', end).off('error', end)
      resolve()
    }
    stdout.on('drain', end).on('error', end)
  })
}

function usesColour(stream: NodeJS.WriteStream, env: NodeJS.ProcessEnv): boolean {
  return stream.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb'
}

export function paint(colours: boolean): Paint {
  const wrap = (code: number) => (text: string) =>
    colours ? `\u001b[${code}m${text}\u001b[0m` : text
  return { good: wrap(32), bad: wrap(31), dim: wrap(2), strong: wrap(1), accent: wrap(36) }
}
