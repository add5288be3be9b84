/** Commands about people: principals, their tokens and their passkeys. */
import { type Command, HOME, PASS_FD, STREAM } from '../call/command.ts'

export const PEOPLE_COMMANDS: readonly Command[] = [
  {
    name: 'principal add',
    says: 'register a human, an AI, a script or a device',
    usage: 'writ principal add KIND:ID@NAMESPACE [--stream NAME]… [--pass-fd N]',
    options: [
      { ...STREAM, many: true, says: 'a stream it may know of; humans: every one without it' },
      PASS_FD,
      HOME,
    ],
    examples: ['writ principal add device:pump-3@north-farm --stream north'],
    load: async () => ({ run: (await import('./principal.ts')).add }),
  },
  {
    name: 'principal pass',
    says: 'set the passphrase that proves a person',
    usage: 'writ principal pass [--pass-fd N]',
    options: [PASS_FD, HOME],
    examples: ['WRIT_TOKEN=writ_… writ principal pass'],
    load: async () => ({ run: (await import('./principal.ts')).pass }),
  },
  {
    name: 'principal list',
    says: 'list who is registered',
    usage: 'writ principal list',
    options: [HOME],
    examples: ['writ principal list'],
    load: async () => ({ run: (await import('./principal.ts')).list }),
  },
  {
    name: 'token create',
    says: 'create a token for a principal; it is shown once',
    usage: 'writ token create KIND:ID@NAMESPACE [--scope NAME]… [--days N] [--pass-fd N]',
    options: [
      {
        name: 'scope',
        value: 'NAME',
        many: true,
        says: 'what it is for: read, propose, flows, tasks; all that its principal may do without it',
      },
      { name: 'days', value: 'N', says: 'how long it is taken' },
      PASS_FD,
      HOME,
    ],
    examples: [
      'writ token create device:pump-3@north-farm --days 90',
      'writ token create script:board@local --scope read',
    ],
    load: async () => ({ run: (await import('./token.ts')).create }),
  },
  {
    name: 'token revoke',
    says: 'revoke a token',
    usage: 'writ token revoke ID [--pass-fd N]',
    options: [PASS_FD, HOME],
    examples: ['writ token revoke tok-3f2a9c01d4e7'],
    load: async () => ({ run: (await import('./token.ts')).revoke }),
  },
  {
    name: 'token list',
    says: 'list tokens',
    usage: 'writ token list',
    options: [HOME],
    examples: ['writ token list'],
    load: async () => ({ run: (await import('./token.ts')).list }),
  },
  {
    name: 'passkey list',
    says: 'list the passkeys with which people answer in the console',
    usage: 'writ passkey list',
    options: [HOME],
    examples: ['writ passkey list'],
    load: async () => ({ run: (await import('./passkey.ts')).list }),
  },
  {
    name: 'passkey remove',
    says: 'remove a passkey of your own; what it signed stays valid',
    usage: 'writ passkey remove ID [--pass-fd N]',
    options: [PASS_FD, HOME],
    examples: ['writ passkey remove pk-3f2a9c01d4e75b60'],
    load: async () => ({ run: (await import('./passkey.ts')).remove }),
  },
  {
    name: 'passkey code',
    says: 'show a one-time code to register a first passkey with',
    usage: 'writ passkey code [human:ID@NAMESPACE] [--pass-fd N]',
    options: [PASS_FD, HOME],
    examples: ['writ passkey code', 'writ passkey code human:bea@local'],
    load: async () => ({ run: (await import('./passkey.ts')).code }),
  },
]
