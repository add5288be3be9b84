/** A progress bar on standard error, shown only on a terminal and only when work takes over a second. */
import type { Terminal } from './terminal.ts'

const SHOW_AFTER_MS = 1_000
const REDRAW_MS = 100
const WIDTH = 30

interface ProgressBar {
  readonly tick: (done: number, total: number) => void
  readonly end: () => void
}

export function progressBar(terminal: Terminal, what: string): ProgressBar {
  const started = performance.now()
  let drawnAt = 0
  return {
    tick(done, total) {
      const now = performance.now()
      if (!terminal.isErrorTty || now - started < SHOW_AFTER_MS || now - drawnAt < REDRAW_MS) return
      drawnAt = now
      const filled = Math.round((WIDTH * done) / Math.max(1, total))
      terminal.err(`\r${what} [${'#'.repeat(filled).padEnd(WIDTH, '.')}] ${done}/${total}`)
    },
    end() {
      if (drawnAt > 0) terminal.err('\r\u001b[K')
    },
  }
}
