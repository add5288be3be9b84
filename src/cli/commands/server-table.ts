/** Commands of the service. */
import { type Command, HOME, type OptionWords } from '../call/command.ts'
import { PROTECTION } from '../call/listening.ts'

const CONSOLE: OptionWords = {
  name: 'console',
  value: 'URL',
  says: 'where people answer questions; MCP clients that can open addresses lead there',
}

export const SERVER_COMMANDS: readonly Command[] = [
  {
    name: 'serve',
    says: 'serve this home over HTTP, on this machine only without further options',
    usage: 'writ serve [--listen HOST:PORT] [--tls-cert FILE --tls-key FILE | --behind-proxy] …',
    options: [
      {
        name: 'listen',
        value: 'HOST:PORT',
        says: 'where to listen; 127.0.0.1:4180 without it, port 0 takes a free one',
      },
      ...PROTECTION,
      {
        name: 'name',
        value: 'HOST',
        many: true,
        says: 'a further name under which it answers; may be given again',
      },
      {
        name: 'anchor-facts',
        value: 'N',
        says: 'ask pinned witnesses for cosignatures after so many facts; 1000 without it',
      },
      {
        name: 'anchor-minutes',
        value: 'N',
        says: 'and after so many minutes with new facts; 10 without it',
      },
      CONSOLE,
      HOME,
    ],
    examples: [
      'writ serve',
      'writ serve --listen 127.0.0.1:0',
      'writ serve --listen 0.0.0.0:4180 --tls-cert cert.pem --tls-key key.pem --name writ.example',
    ],
    load: () => import('./serve.ts'),
  },
  {
    name: 'mcp',
    says: 'offer this home to an MCP client over standard input and output',
    usage: 'writ mcp [--console URL]',
    options: [CONSOLE, HOME],
    examples: ['WRIT_TOKEN=… writ mcp', 'claude mcp add writ -e WRIT_TOKEN=… -- writ mcp'],
    load: () => import('./mcp.ts'),
  },
]

/** Messages to people. */
export const NOTIFY_COMMANDS: readonly Command[] = [
  {
    name: 'notify run',
    says: 'tell people of questions that wait, by the ways that the settings name',
    usage: 'writ notify run [--once] [--jsonl]',
    options: [
      { name: 'once', value: null, says: 'send what is due and end; 1 if something failed' },
      { name: 'jsonl', value: null, says: 'print one JSON document a try' },
      { name: 'attached', value: null, says: 'end when standard input ends' },
      {
        name: 'console',
        value: 'URL',
        says: 'where links lead, unless the settings have `notify_link`',
      },
      HOME,
    ],
    examples: ['writ notify run', 'writ notify run --once'],
    load: () => import('./notify.ts'),
  },
  {
    name: 'notify test',
    says: 'send a test message by each way, or by those that are named',
    usage: 'writ notify test [NAME…]',
    options: [HOME],
    examples: ['writ notify test', 'writ notify test phone'],
    load: async () => ({ run: (await import('./notify.ts')).test }),
  },
]

/** Services elsewhere. */
export const REMOTE_COMMANDS: readonly Command[] = [
  {
    name: 'remote add',
    says: 'register a service by its key, to speak to it with WRIT_URL',
    usage: 'writ remote add NAME URL [--key KEY]',
    options: [
      {
        name: 'key',
        value: 'KEY',
        says: 'the key of its home, as `writ ledger key` prints it there; a person compares without it',
      },
    ],
    examples: ['WRIT_TOKEN=writ_… writ remote add farm https://farm.example:4180'],
    load: async () => ({ run: (await import('./remote.ts')).add }),
  },
  {
    name: 'remote list',
    says: 'list the registered services',
    usage: 'writ remote list',
    options: [],
    examples: ['writ remote list'],
    load: async () => ({ run: (await import('./remote.ts')).list }),
  },
  {
    name: 'remote remove',
    says: 'speak to a service no longer',
    usage: 'writ remote remove NAME',
    options: [],
    examples: ['writ remote remove farm'],
    load: async () => ({ run: (await import('./remote.ts')).remove }),
  },
]
