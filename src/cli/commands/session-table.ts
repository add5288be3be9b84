/** The commands for sessions of coding agents, in the order of help. */
import type { Command, OptionWords } from '../call/command.ts'
import { HOME, PASS_FD, STREAM } from '../call/command.ts'

const SESSION_ID = '[ID]'
const ID_WORDS = 'the newest session without an id'

const BUDGET: readonly OptionWords[] = [
  {
    name: 'requests',
    value: 'N',
    says: 'requests it may send to its model; settings.session_budget of the laws without it',
  },
  { name: 'tokens', value: 'N', says: 'tokens it may use, in and out; likewise' },
  {
    name: 'cost',
    value: 'AMOUNT',
    says: 'what its tokens may cost, by settings.model_prices of the laws; likewise',
  },
]

const DISCARD_ALL: OptionWords = { name: 'all', value: null, says: 'everything that is pending' }

export const SESSION_COMMANDS: readonly Command[] = [
  {
    name: 'run',
    here: 'runs an agent at this terminal',
    says: 'run a coding agent in a session: every change goes through the gate',
    usage:
      'writ run [--as NAME] [--net HOST]… [--publish PORT]… [--scope DIR]… [--write GLOB]… [--delete GLOB]… [--env NAME[=VALUE]]… [--model-url URL] [--settle auto|tool|end|never] [--memory MB] [--disk MB] [--time TIME] [--requests N] [--tokens N] [--cost AMOUNT] [--accept-state] [--resume ID] -- AGENT ARGS…',
    options: [
      { name: 'as', value: 'NAME', says: 'the name of the agent; that of the program without it' },
      { name: 'net', value: 'HOST', many: true, says: 'a host that the agent may reach' },
      {
        name: 'publish',
        value: '[PORT:]PORT',
        many: true,
        says: 'open a port of the session at 127.0.0.1 of this machine while the agent runs; the port outside comes first: 8080:3000 shows port 3000 of the session at 8080',
      },
      {
        name: 'scope',
        value: 'DIR',
        many: true,
        says: 'where it may act; the git working tree without it, else the current directory',
      },
      {
        name: 'write',
        value: 'GLOB',
        many: true,
        says: 'what it may create and modify; what the grants of the laws say without it',
      },
      { name: 'delete', value: 'GLOB', many: true, says: 'what it may delete, with `--write`' },
      { name: 'env', value: 'NAME[=VALUE]', many: true, says: 'a variable that the agent sees' },
      {
        name: 'model-url',
        value: 'URL',
        says: 'where its model is; the usual host of the agent without it',
      },
      {
        name: 'settle',
        value: 'WHEN',
        says: 'when changes become real: auto (whenever the agent pauses), tool (after each tool call that hooks report), end, or never (only on command)',
      },
      { name: 'memory', value: 'MB', says: 'memory it may use; 8192 without it' },
      { name: 'disk', value: 'MB', says: 'bytes that its view may hold; 20480 without it' },
      {
        name: 'time',
        value: 'TIME',
        says: 'how long it may run: seconds, or 30m, 2h; 24h without it',
      },
      ...BUDGET,
      {
        name: 'accept-state',
        value: null,
        says: 'use what an earlier session changed in the settings of the agent',
      },
      { name: 'resume', value: 'ID', says: 'go on with the view of an interrupted session' },
      PASS_FD,
      STREAM,
      HOME,
    ],
    examples: [
      'writ run -- claude',
      'writ run -- codex',
      'writ run -- bash',
      'writ run --publish 3000 -- claude',
      'writ run --net api.example.org --settle end -- my-agent --task fix',
      'writ run --resume 4f2a91c0 -- claude --continue',
    ],
    isRunner: true,
    load: () => import('./run.ts'),
  },
  {
    name: 'session list',
    says: 'sessions that run, or have changes that are pending',
    usage: 'writ session list',
    options: [HOME],
    examples: ['writ session list'],
    load: async () => ({ run: (await import('./session.ts')).list }),
  },
  {
    name: 'session show',
    says: `what is pending in a session, and why; ${ID_WORDS}`,
    usage: `writ session show ${SESSION_ID}`,
    options: [HOME],
    examples: ['writ session show', 'writ session show 4f2a91c0'],
    load: async () => ({ run: (await import('./session.ts')).show }),
  },
  {
    name: 'session diff',
    says: `pending changes line by line; ${ID_WORDS}`,
    usage: `writ session diff ${SESSION_ID}`,
    options: [HOME],
    examples: ['writ session diff'],
    load: async () => ({ run: (await import('./session.ts')).diff }),
  },
  {
    name: 'session settle',
    says: `judge what is pending now; ${ID_WORDS}`,
    usage: `writ session settle ${SESSION_ID} [--take PATH]… [--yes]`,
    options: [
      {
        name: 'take',
        value: 'PATH',
        many: true,
        says: 'a file in conflict: take the side of the session; shows the difference and asks first',
      },
      { name: 'yes', value: null, says: 'take it without being asked' },
      HOME,
    ],
    examples: ['writ session settle', 'writ session settle 4f2a91c0 --take src/a.ts'],
    load: async () => ({ run: (await import('./session.ts')).settle }),
  },
  {
    name: 'session discard',
    says: 'take changes out of the view of a session; the real tree stays as it is',
    usage: 'writ session discard ID PATH… | ID --all',
    options: [DISCARD_ALL, HOME],
    examples: ['writ session discard 4f2a91c0 src/old.ts', 'writ session discard 4f2a91c0 --all'],
    load: async () => ({ run: (await import('./session.ts')).discard }),
  },
  {
    name: 'session extend',
    says: `give a session more time, or more of its model; ${ID_WORDS}`,
    usage: `writ session extend ${SESSION_ID} [--time TIME] [--requests N] [--tokens N] [--cost AMOUNT]`,
    options: [
      { name: 'time', value: 'TIME', says: 'how much longer it may run: 30m, 2h' },
      { name: 'requests', value: 'N', says: 'how many more requests it may send to its model' },
      { name: 'tokens', value: 'N', says: 'how many more tokens it may use' },
      { name: 'cost', value: 'AMOUNT', says: 'how much more its tokens may cost' },
      HOME,
    ],
    examples: ['writ session extend --time 2h', 'writ session extend 4f2a91c0 --tokens 200000'],
    load: async () => ({ run: (await import('./session.ts')).extend }),
  },
  {
    name: 'session stop',
    says: `end the agent of a session; what is pending stays; ${ID_WORDS}`,
    usage: `writ session stop ${SESSION_ID}`,
    options: [HOME],
    examples: ['writ session stop 4f2a91c0'],
    load: async () => ({ run: (await import('./session.ts')).stop }),
  },
  {
    name: 'secret set',
    says: 'keep a key for the models of agents; it stays outside of sessions',
    usage: 'writ secret set NAME',
    options: [],
    examples: ['writ secret set ANTHROPIC_API_KEY', 'writ secret set OPENAI_API_KEY < key.txt'],
    load: async () => ({ run: (await import('./secret.ts')).set }),
  },
  {
    name: 'secret list',
    says: 'the names of the keys that are kept',
    usage: 'writ secret list',
    options: [],
    examples: ['writ secret list'],
    load: async () => ({ run: (await import('./secret.ts')).list }),
  },
  {
    name: 'secret remove',
    says: 'keep a key no longer',
    usage: 'writ secret remove NAME',
    options: [],
    examples: ['writ secret remove ANTHROPIC_API_KEY'],
    load: async () => ({ run: (await import('./secret.ts')).remove }),
  },
]
