/**
 * The side shell: a shell that waits next to a command with a channel. These are the lines around the
 * command's own script.
 *
 * The shells write `D` when the command has ended, `S` when the streams of the side shell's next script
 * are open, and `O` with the exit status when that script has ended.
 */
import { join } from 'node:path'
import type { Pipes } from '../pipes/pipe-ends.ts'
import { FD } from './bubble.ts'

/** Where the pipes lie inside. */
export const TOOLS = '/run/writ'
/** The side shell itself, and the shell that becomes what it runs. */
export const SIDE_SHELL_TASKS = 2

export function toolPipes(directory: string): Pipes {
  const at = (name: string): string => join(directory, name)
  return { stdin: at('stdin'), stdout: at('stdout'), stderr: at('stderr') }
}

/** Returns the lines before the script of a command: they start the side shell in the background. */
export function sideShellLines(): readonly string[] {
  const { stdin, stdout, stderr } = toolPipes(TOOLS)
  const others = `${FD.own}<&- ${FD.around}<&- ${FD.stderr}>&- ${FD.channel}<&-`
  return [
    '( script=',
    `while IFS= read -r line <&${FD.inner}; do case $line in`,
    '+*) script="$script',
    `\${line#+}" ;;`,
    `.) ( echo S >&${FD.inner}; exec ${FD.inner}>&-; eval "$script" ) <${stdin} >${stdout} 2>${stderr}`,
    `echo "O$?" >&${FD.inner}; script= ;;`,
    'end) exit ;;',
    'esac; done',
    `) >/dev/null 2>&1 ${others} &`,
    'side_shell=$!',
  ]
}

/** The lines after the script of a command. They exit with the command's status. */
export const SIDE_SHELL_END: readonly string[] = [
  'status=$?',
  `echo D >&${FD.inner}`,
  'wait $side_shell 2>/dev/null',
  '( exit $status )',
]
