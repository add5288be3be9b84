/** The table of `writ witness …`, in the order of help. Words only. */
import { type Command, HOME, type OptionWords, PASS_FD } from '../call/command.ts'
import { PROTECTION } from '../call/listening.ts'

const DIR: OptionWords = {
  name: 'dir',
  value: 'DIR',
  says: 'the directory of the witness; `writ-witness` without it',
}

export const WITNESS_COMMANDS: readonly Command[] = [
  {
    name: 'witness init',
    says: 'make a witness that cosigns ledgers of others, and print its key',
    usage: 'writ witness init NAME [--dir DIR]',
    options: [DIR],
    examples: ['writ witness init witness.example/w1 --dir /srv/witness'],
    load: async () => ({ run: (await import('./witness.ts')).init }),
  },
  {
    name: 'witness add-log',
    says: 'let a witness cosign a ledger, by its public keys',
    usage: 'writ witness add-log KEY… [--streams] [--dir DIR]',
    options: [
      { name: 'streams', value: null, says: 'also every stream below, with the same key' },
      DIR,
    ],
    examples: ['writ witness add-log "$(head -1 kept-keys.txt)" --streams'],
    load: async () => ({ run: (await import('./witness.ts')).addLog }),
  },
  {
    name: 'witness logs',
    says: 'list the ledgers that a witness cosigns, with their sizes',
    usage: 'writ witness logs [--dir DIR]',
    options: [DIR],
    examples: ['writ witness logs --json'],
    load: async () => ({ run: (await import('./witness.ts')).logs }),
  },
  {
    name: 'witness serve',
    says: 'answer ledgers that ask for cosignatures (C2SP tlog-witness)',
    usage: 'writ witness serve [--listen HOST:PORT] [--dir DIR] …',
    options: [
      {
        name: 'listen',
        value: 'HOST:PORT',
        says: 'where to listen; 127.0.0.1:4181 without it, port 0 takes a free one',
      },
      ...PROTECTION,
      DIR,
    ],
    examples: ['writ witness serve', 'writ witness serve --listen 0.0.0.0:4181 --behind-proxy'],
    load: async () => ({ run: (await import('./witness.ts')).serve }),
  },
  {
    name: 'witness pin',
    says: 'believe the cosignatures of a witness in this home',
    usage: 'writ witness pin URL KEY [--pass-fd N]',
    options: [PASS_FD, HOME],
    examples: ['writ witness pin https://witness.example/w1 witness.example/w1+…'],
    load: async () => ({ run: (await import('./witness.ts')).pin }),
  },
  {
    name: 'witness unpin',
    says: 'believe a witness no longer',
    usage: 'writ witness unpin NAME [--pass-fd N]',
    options: [PASS_FD, HOME],
    examples: ['writ witness unpin witness.example/w1'],
    load: async () => ({ run: (await import('./witness.ts')).unpin }),
  },
  {
    name: 'witness list',
    says: 'list the witnesses that this home believes',
    usage: 'writ witness list',
    options: [HOME],
    examples: ['writ witness list'],
    load: async () => ({ run: (await import('./witness.ts')).list }),
  },
]
