/** The table of `writ ledger …`, in the order of help. Words only. */
import type { Command } from '../call/command.ts'
import { HOME, PASS_FD, STREAM } from '../call/command.ts'

export const LEDGER_COMMANDS: readonly Command[] = [
  {
    name: 'ledger verify',
    says: 'verify that the history was not changed',
    usage: 'writ ledger verify [--stream NAME] [--from FILE]… [--key KEY]… [--witness KEY]… …',
    options: [
      STREAM,
      { name: 'from', value: 'FILE', many: true, says: 'a checkpoint kept elsewhere' },
      {
        name: 'key',
        value: 'KEY',
        many: true,
        says: 'pinned public keys, as `writ ledger key` prints them',
      },
      {
        name: 'witness',
        value: 'KEY',
        many: true,
        says: 'count cosignatures of these witnesses only, not of those pinned in the home',
      },
      { name: 'no-contracts', value: null, says: 'tree, chain and signatures only' },
      HOME,
    ],
    examples: ['writ ledger verify', 'writ ledger verify --from kept-checkpoint.txt --json'],
    load: async () => ({ run: (await import('./ledger-verify.ts')).verify }),
  },
  {
    name: 'ledger prove',
    says: 'print the proof that a fact is in the history',
    usage: 'writ ledger prove SEQ [--stream NAME] [--out FILE]',
    options: [
      STREAM,
      {
        name: 'out',
        value: 'FILE',
        says: 'write it as a C2SP proof (FILE.tlog-proof), with cosignatures where there are some',
      },
      { name: 'force', value: null, says: 'replace the file of `--out`' },
      HOME,
    ],
    examples: ['writ ledger prove 12 --json', 'writ ledger prove 12 --out fact-12.tlog-proof'],
    load: async () => ({ run: (await import('./ledger.ts')).prove }),
  },
  {
    name: 'ledger checkpoint',
    says: 'print a signed checkpoint of the whole history, to keep elsewhere',
    usage: 'writ ledger checkpoint [--stream NAME]',
    options: [
      { name: 'stream', value: 'NAME', says: 'the newest checkpoint of this stream alone' },
      HOME,
    ],
    examples: [
      'writ ledger checkpoint > kept-checkpoint.txt',
      'writ ledger checkpoint --stream main',
    ],
    load: async () => ({ run: (await import('./ledger.ts')).checkpoint }),
  },
  {
    name: 'ledger key',
    says: 'print the public keys that verify the history',
    usage: 'writ ledger key [--all]',
    options: [{ name: 'all', value: null, says: 'also the keys that rotations retired' }, HOME],
    examples: [
      'writ ledger key > kept-keys.txt',
      'writ ledger verify --key "$(cat kept-keys.txt)"',
    ],
    load: async () => ({ run: (await import('./ledger.ts')).key }),
  },
  {
    name: 'ledger export',
    says: 'write a bundle that anyone can verify without writ',
    usage: 'writ ledger export DIR [--stream NAME] [--bodies | --proof [--fact SEQ]…]',
    options: [
      { name: 'bodies', value: null, says: 'also outputs and contents, with their secrets' },
      {
        name: 'proof',
        value: null,
        says: 'instead of a bundle one C2SP proof a fact (SEQ.tlog-proof), and the fact (SEQ.json)',
      },
      { name: 'fact', value: 'SEQ', many: true, says: 'with `--proof`: only of these facts' },
      STREAM,
      HOME,
    ],
    examples: ['writ ledger export bundle', 'writ ledger export proofs --proof --fact 12'],
    load: async () => ({ run: (await import('./ledger.ts')).exportTo }),
  },
  {
    name: 'ledger anchor',
    says: 'have the history cosigned by pinned witnesses',
    usage: 'writ ledger anchor [--witness URL]…',
    options: [
      {
        name: 'witness',
        value: 'URL',
        many: true,
        says: 'the address or name of a pinned witness; all without it',
      },
      HOME,
    ],
    examples: ['writ ledger anchor', 'writ ledger anchor --witness https://witness.example/w1'],
    load: async () => ({ run: (await import('./ledger-anchor.ts')).anchor }),
  },
  {
    name: 'ledger compare',
    says: 'compare two checkpoints',
    usage: 'writ ledger compare FILE FILE [--key KEY]…',
    options: [
      {
        name: 'key',
        value: 'KEY',
        many: true,
        says: 'public keys, as `writ ledger key` prints them',
      },
    ],
    examples: [
      'writ ledger compare ours.txt theirs.txt',
      'writ ledger compare ours.txt theirs.txt --key "$(writ ledger key --all)"',
    ],
    load: async () => ({ run: (await import('./ledger-verify.ts')).compare }),
  },
  {
    name: 'ledger reindex',
    says: 'make the query index again from the facts',
    usage: 'writ ledger reindex',
    options: [HOME],
    examples: ['writ ledger reindex'],
    load: async () => ({ run: (await import('./ledger.ts')).reindex }),
  },
  {
    name: 'ledger rotate',
    says: 'sign with a new key from now on',
    usage: 'writ ledger rotate [--pass-fd N]',
    options: [PASS_FD, HOME],
    examples: ['writ ledger rotate'],
    load: async () => ({ run: (await import('./ledger.ts')).rotate }),
  },
]
