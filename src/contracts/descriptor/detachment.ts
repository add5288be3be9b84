/**
 * Commands that say in their own words that they outlive the run, or install something that does
 * (G-6). Only what is unmistakable in the document, a short list that is data: everything else that
 * stays alive is found by the rehearsal, which needs no list.
 */
import { elements, field } from '../kernel/contract.ts'
import { type ShellCommand, scanShell } from './shell-words.ts'

export interface Detachment {
  readonly kind: 'background' | 'persistence'
  /** JSON Pointer relative to the operation. */
  readonly place: string
  /** The words that give it away. */
  readonly words: string
}

interface Row {
  readonly program: string
  readonly kind: Detachment['kind']
  /** One of these arguments must be there; absent means that the program alone is enough. */
  readonly with?: readonly string[]
  /** With one of these arguments the program stays in the foreground, or only looks. */
  readonly without?: readonly string[]
}

export const DETACHERS: readonly Row[] = [
  { program: 'nohup', kind: 'background', without: ['--help', '--version'] },
  { program: 'setsid', kind: 'background', without: ['-w', '--wait', '--help', '--version'] },
  { program: 'daemonize', kind: 'background' },
  { program: 'start-stop-daemon', kind: 'background', with: ['--start', '-S'] },
  {
    program: 'systemd-run',
    kind: 'background',
    without: ['--wait', '--pty', '--help', '--version'],
  },
  { program: 'at', kind: 'background', without: ['-l', '-c', '-V'] },
  { program: 'batch', kind: 'background', without: ['-V'] },
  { program: 'disown', kind: 'background' },
  { program: 'crontab', kind: 'persistence', without: ['-l', '-V'] },
  { program: 'systemctl', kind: 'persistence', with: ['enable', 'reenable', 'link', 'preset'] },
  { program: 'loginctl', kind: 'persistence', with: ['enable-linger'] },
  { program: 'update-rc.d', kind: 'persistence' },
  { program: 'chkconfig', kind: 'persistence', with: ['on', '--add'] },
  { program: 'rc-update', kind: 'persistence', with: ['add'] },
  { program: 'launchctl', kind: 'persistence', with: ['load', 'bootstrap', 'enable', 'submit'] },
]

const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'ash', 'busybox'])

/** What one COMMAND_EXECUTION says about outliving its run, without compensations. */
export function findDetachments(operation: unknown): readonly Detachment[] {
  if (field(operation, 'type') !== 'COMMAND_EXECUTION') return []
  const argv = elements(field(operation, 'argv')).map((word) =>
    typeof word === 'string' ? word : '',
  )
  const found = judgeCommand(argv, '/argv/0')
  const script = shellScript(argv)
  return script === null ? found : [...found, ...judgeScript(argv[script] ?? '', script)]
}

/** Returns the index of a shell's `-c` argument; null when the command has none. */
function shellScript(argv: readonly string[]): number | null {
  if (!SHELLS.has(programName(argv[0] ?? ''))) return null
  for (let index = 1; index + 1 < argv.length; index++) {
    const word = argv[index] ?? ''
    if (/^-[a-z]*c[a-z]*$/.test(word)) return index + 1
    // `-o pipefail` takes a word of its own; `busybox sh` names the shell twice.
    if (/^[-+][a-z]*o$/.test(word)) index++
    else if (!/^[-+]/.test(word) && !SHELLS.has(word)) return null
  }
  return null
}

function judgeScript(script: string, index: number): readonly Detachment[] {
  const place = `/argv/${index}`
  const { commands, endsInBackground } = scanShell(script)
  const found = commands.flatMap((command: ShellCommand) => judgeCommand(command, place))
  return endsInBackground ? [...found, { kind: 'background', place, words: '&' }] : found
}

function judgeCommand(words: readonly string[], place: string): readonly Detachment[] {
  const program = programName(words[0] ?? '')
  const row = DETACHERS.find((candidate) => candidate.program === program)
  if (row === undefined) return []
  const rest = new Set(words.slice(1))
  if (row.with !== undefined && !row.with.some((word) => rest.has(word))) return []
  if (row.without?.some((word) => rest.has(word)) === true) return []
  return [{ kind: row.kind, place, words: program }]
}

function programName(word: string): string {
  return word.slice(word.lastIndexOf('/') + 1)
}
