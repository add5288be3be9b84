/**
 * Shows a long text with the person's pager (`$PAGER`, else `less`), or writes it to the terminal where
 * there is none. The pager is a program of the machine, never one that a project put into the PATH, and
 * `less` may neither start programs nor write files.
 */
import { once } from 'node:events'
import { findNamed, type ProgramPath, startProgram } from '../../machine/index.ts'
import type { Terminal } from '../call/terminal.ts'

export async function page(pieces: AsyncIterable<string>, terminal: Terminal): Promise<void> {
  const pager = terminal.isErrorTty ? pagerOf(process.env['PAGER']) : null
  if (pager === null) {
    for await (const piece of pieces) terminal.err(piece)
    return
  }
  const [program, ...words] = pager
  // Standard output may be a pipe to another program; standard error is the terminal.
  const stdio = ['pipe', 2, 2] as const
  const child = startProgram(program, words, {
    stdio: [...stdio],
    variables: pagerVariables(),
    // It reads keys from the terminal of this session.
    detached: false,
  })
  const { stdin } = child
  if (stdin === null) return
  const ended = once(child, 'close')
  // A person who leaves the pager early has seen enough.
  stdin.on('error', () => {})
  for await (const piece of pieces) {
    if (child.exitCode !== null || stdin.destroyed) break
    if (!stdin.write(piece)) await Promise.race([once(stdin, 'drain'), ended])
  }
  stdin.end()
  await ended
}

/** Null when there is none. Of a path only the name counts, and only a system directory is looked at. */
function pagerOf(wish: string | undefined): readonly [ProgramPath, ...string[]] | null {
  const [name = '', ...words] = (wish ?? '').split(/\s+/).filter((word) => word !== '')
  const wanted = name === '' ? null : findNamed(name.slice(name.lastIndexOf('/') + 1))
  if (wanted !== null) return [wanted, ...words]
  const less = findNamed('less')
  // What fits on the screen is left there at once.
  return less === null ? null : [less, '-R', '-F']
}

function pagerVariables(): Readonly<Record<string, string>> {
  const { TERM = 'dumb', HOME = '/' } = process.env
  return { TERM, HOME, LESSSECURE: '1', LESSCHARSET: 'utf-8' }
}
