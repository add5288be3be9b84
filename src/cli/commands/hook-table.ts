/** The commands on hooks of coding agents, in the order of help: words only. */
import type { Command, OptionWords } from '../call/command.ts'

const LEVELS: readonly OptionWords[] = [
  { name: 'user', value: null, says: 'in the configuration of this user; the default' },
  { name: 'project', value: null, says: 'in the configuration of this project' },
  { name: 'managed', value: null, says: 'in the configuration of the machine, as root' },
]

const YES: OptionWords = {
  name: 'yes',
  short: 'y',
  value: null,
  says: 'show the change and do not ask',
}

const HERE = 'is about programs of this user'

/** What hooks start, for each tool call of an agent: a script of its own, which holds nothing else. */
export const HOOK_EVENT: Command = {
  name: 'hook event',
  says: 'answer one event of a coding agent; its hooks call this',
  usage: 'writ hook event [--wrap] HOST [EVENT] < event.json',
  options: [{ name: 'wrap', value: null, says: 'rewrite shell commands to `writ exec --ticket`' }],
  examples: ['writ hook event claude-code < event.json'],
  load: async () => ({ run: (await import('./hook-event.ts')).run }),
}

export const HOOK_COMMANDS: readonly Command[] = [
  {
    name: 'hook install',
    here: HERE,
    says: 'add the hooks of writ to the configuration of a coding agent',
    usage: 'writ hook install HOST [--user | --project | --managed] [--mode session|wrap] [--yes]',
    options: [
      ...LEVELS,
      {
        name: 'mode',
        value: 'MODE',
        says: '`session` reports to `writ run`; `wrap` sends every shell command through `writ exec`',
      },
      YES,
    ],
    examples: ['writ hook install claude-code', 'writ hook install codex --mode wrap'],
    load: async () => ({ run: (await import('./hook.ts')).installHooks }),
  },
  {
    name: 'hook uninstall',
    here: HERE,
    says: 'remove the hooks of writ from the configuration of a coding agent',
    usage: 'writ hook uninstall HOST [--user | --project | --managed] [--yes]',
    options: [...LEVELS, YES],
    examples: ['writ hook uninstall claude-code'],
    load: async () => ({ run: (await import('./hook.ts')).uninstallHooks }),
  },
  {
    name: 'hook list',
    here: HERE,
    says: 'list coding agents, what writ knows of each, and where its hooks are installed',
    usage: 'writ hook list [HOST]',
    options: [],
    examples: ['writ hook list', 'writ hook list codex --json'],
    load: async () => ({ run: (await import('./hook.ts')).list }),
  },
  {
    name: 'hook doctor',
    here: HERE,
    says: 'try what happens when the hooks of an installed coding agent fail',
    usage: 'writ hook doctor HOST [--program PATH]',
    options: [
      { name: 'program', value: 'PATH', says: 'the program of the host; found on PATH without it' },
    ],
    examples: ['writ hook doctor claude-code', 'writ hook doctor codex --json'],
    load: () => import('./hook-doctor.ts'),
  },
  HOOK_EVENT,
]
