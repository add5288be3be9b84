/** The table of `writ machine …`, in the order of help. Words only. */
import { type Command, HOME, PASS_FD } from '../call/command.ts'

export const MACHINE_COMMANDS: readonly Command[] = [
  {
    name: 'machine join',
    says: 'use a home that lies on a PostgreSQL server from this machine',
    usage: 'writ machine join URL [--id ID]',
    options: [
      { name: 'id', value: 'ID', says: 'which home, where the server has several' },
      { name: 'again', value: null, says: 'make a new key for a machine that was removed' },
      HOME,
    ],
    examples: ['writ machine join postgresql://writ@db.example/writ'],
    load: async () => ({ run: (await import('./machine.ts')).joinIn }),
  },
  {
    name: 'machine key',
    says: 'print the public key of this machine',
    usage: 'writ machine key',
    options: [HOME],
    examples: ['writ machine key'],
    load: async () => ({ run: (await import('./machine.ts')).key }),
  },
  {
    name: 'machine admit',
    says: 'let a machine record facts in this home',
    usage: 'writ machine admit NAME KEY [--pass-fd N]',
    options: [PASS_FD, HOME],
    examples: ['writ machine admit builder-2 writ/…+…+…'],
    load: async () => ({ run: (await import('./machine.ts')).admit }),
  },
  {
    name: 'machine remove',
    says: 'let a machine record no more',
    usage: 'writ machine remove NAME [--pass-fd N]',
    options: [PASS_FD, HOME],
    examples: ['writ machine remove builder-2'],
    load: async () => ({ run: (await import('./machine.ts')).remove }),
  },
  {
    name: 'machine list',
    says: 'list the machines of this home',
    usage: 'writ machine list',
    options: [HOME],
    examples: ['writ machine list --json'],
    load: async () => ({ run: (await import('./machine.ts')).list }),
  },
]
