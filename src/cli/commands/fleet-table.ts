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
    name: 'worker drop',
    says: 'remove a job that no worker has: it is not done any more',
    usage: 'writ worker drop JOB [--pass-fd N]',
    options: [PASS_FD, HOME],
    examples: ['writ worker drop 42'],
    load: async () => ({ run: (await import('./worker.ts')).drop }),
  },
  {
    name: 'worker',
    says: 'take jobs of this home from its server: proposals, runs of flows, schedules, messages',
    usage: 'writ worker [--labels NAME,…] [--concurrency N] [--dispatch] [--jsonl]',
    options: [
      {
        name: 'labels',
        value: 'NAMES',
        says: 'what this machine has, such as `linux,gpu,repo:shop`: it takes jobs that need no more',
      },
      { name: 'concurrency', value: 'N', says: 'how many jobs at once; 4 without it' },
      {
        name: 'dispatch',
        value: null,
        says: 'also bring tasks to devices, one such worker at a time: for machines that have the secrets of the ways',
      },
      { name: 'jsonl', value: null, says: 'print one JSON object for each thing that happens' },
      HOME,
    ],
    examples: ['writ worker --labels linux,gpu,repo:shop'],
    load: async () => ({ run: (await import('./worker.ts')).run }),
  },
]
