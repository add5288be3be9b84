/** The table of `writ worker …`, in the order of help. Words only. */
import { type Command, HOME, PASS_FD } from '../call/command.ts'

export const FLEET_COMMANDS: readonly Command[] = [
  {
    name: 'worker prepare',
    says: 'make the tables of jobs on the server of this home, once',
    usage: 'writ worker prepare [--store-owner ROLE] [--pass-fd N]',
    options: [
      {
        name: 'store-owner',
        value: 'ROLE',
        says: 'the role that owns the tables of the home; that of the store without it',
      },
      PASS_FD,
      HOME,
    ],
    examples: ['writ worker prepare --store-owner writ_owner'],
    load: async () => ({ run: (await import('./worker.ts')).prepare }),
  },
  {
    name: 'worker list',
    says: 'list the workers of this home, and jobs that wait or failed, with the reason',
    usage: 'writ worker list',
    options: [HOME],
    examples: ['writ worker list --json'],
    load: async () => ({ run: (await import('./worker.ts')).list }),
  },
  {
    name: 'worker retry',
    says: 'give a job that failed too often its tries back',
    usage: 'writ worker retry JOB [--pass-fd N]',
    options: [PASS_FD, HOME],
    examples: ['writ worker retry 42'],
    load: async () => ({ run: (await import('./worker.ts')).retry }),
  },
  {
    name: 'worker',
    says: 'take jobs of this home from its server: runs of flows, schedules, messages',
    usage: 'writ worker [--labels NAME,…] [--concurrency N] [--jsonl]',
    options: [
      {
        name: 'labels',
        value: 'NAMES',
        says: 'what this machine has, such as `linux,gpu,repo:shop`: it takes jobs that need no more',
      },
      { name: 'concurrency', value: 'N', says: 'how many jobs at once; 4 without it' },
      { name: 'jsonl', value: null, says: 'print one JSON object for each thing that happens' },
      HOME,
    ],
    examples: ['writ worker --labels linux,gpu,repo:shop'],
    load: async () => ({ run: (await import('./worker.ts')).run }),
  },
]
