/** The commands of the gate, in the order of help: words only, as in the table they belong to. */
import type { Command, OptionWords } from '../call/command.ts'
import { ACCEPT_YES, HOME, PASS_FD, STREAM } from '../call/command.ts'
import { EXEC } from './exec-words.ts'

const REASON: OptionWords = { name: 'reason', value: 'TEXT', says: 'why; it is recorded' }

const LAWS_DIGEST: OptionWords = {
  name: 'digest',
  value: 'DIGEST',
  says: 'only the bytes with this digest, as `writ laws check --json` names it',
}

const ONE_STREAM: OptionWords = { ...STREAM, says: 'only this stream; every one without it' }

const DRY_RESTORE: OptionWords = {
  name: 'dry-run',
  value: null,
  says: 'say what would be restored, and change nothing',
}

const AS_IS: OptionWords = {
  name: 'as-is',
  value: null,
  says: 'also kept files that a program changed after the act, as they are now',
}

export const GATE_COMMANDS: readonly Command[] = [
  { ...EXEC, load: () => import('./exec.ts') },
  {
    name: 'propose',
    says: 'the whole way of a proposal: check, rehearse, compare, decide, promote',
    usage:
      'writ propose FILE|- [--wait] [--dry-run] | FILE|- --queue [--label NAME]… [--workspace DIR] [--wait] | --example KIND',
    options: [
      {
        name: 'example',
        value: 'KIND',
        says: 'print a whole proposal to begin with, such as FILE_WRITE',
      },
      { name: 'wait', value: null, says: 'stay until a human has answered, or time is up' },
      { name: 'dry-run', value: null, says: 'stop before promotion; write nothing down' },
      {
        name: 'queue',
        value: null,
        says: 'leave it to a worker (`writ worker`), and print the id of the action',
      },
      {
        name: 'label',
        value: 'NAME',
        many: true,
        says: 'with `--queue`: a label that the worker needs; may be given again',
      },
      {
        name: 'workspace',
        value: 'DIR',
        says: 'with `--queue`: the directory of the home on the machine that is to do it; that of this home without it',
      },
      STREAM,
      HOME,
    ],
    examples: [
      'writ propose --example COMMAND_EXECUTION > proposal.json',
      'writ propose proposal.json',
      'writ propose --dry-run proposal.json',
      'writ propose --queue --label gpu proposal.json',
      'WRIT_TOKEN=… writ propose --wait --json - < proposal.json',
    ],
    load: () => import('./propose.ts'),
  },
  {
    name: 'inbox',
    says: 'the questions that wait for a person: who asks what, and why',
    usage: 'writ inbox [ID [--all]]',
    options: [
      {
        name: 'all',
        value: null,
        says: 'of one question also names and contents of all that is new',
      },
      ONE_STREAM,
      HOME,
    ],
    examples: ['writ inbox', 'writ inbox --json', 'writ inbox 6ebf521571ba   # its effects'],
    load: () => import('./inbox.ts'),
  },
  {
    name: 'approve',
    says: 'approve one or more questions of the inbox; their effects are promoted. At a terminal, `always` also lets an agent change such files from now on',
    usage: 'writ approve ID… | ID --only PATH… | --like ID [--yes] [--pass-fd N]',
    options: [
      { name: 'like', value: 'ID', says: 'this one and all that wait and are of its shape' },
      {
        name: 'only',
        value: 'PATH',
        many: true,
        says: 'of a run without declaration: only this path or glob, with what belongs to it',
      },
      { name: 'yes', short: 'y', value: null, says: 'do not show the effects and ask again' },
      PASS_FD,
      ONE_STREAM,
      HOME,
    ],
    examples: [
      'writ approve 6ebf521571ba',
      'writ approve --like 6ebf521571ba',
      'writ approve 6ebf521571ba --only src --only README.md',
    ],
    load: async () => ({ run: (await import('./approve.ts')).approve }),
  },
  {
    name: 'deny',
    says: 'deny a question of the inbox; nothing of it is promoted',
    usage: 'writ deny ID [--reason TEXT]',
    options: [REASON, ONE_STREAM, HOME],
    examples: ['writ deny 6ebf521571ba --reason "not these files"'],
    load: async () => ({ run: (await import('./approve.ts')).deny }),
  },
  {
    name: 'rollback',
    says: 'restore what an action changed, or everything since a moment',
    usage: 'writ rollback ACTION_ID [--with-later] | --since MOMENT [--as-is] [--dry-run]',
    options: [
      { name: 'since', value: 'MOMENT', says: 'ISO 8601, a day, or `2h` ago' },
      {
        name: 'with-later',
        value: null,
        says: 'together with all newer acts that changed the same paths',
      },
      AS_IS,
      DRY_RESTORE,
      ONE_STREAM,
      HOME,
    ],
    examples: [
      'writ rollback 8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11',
      'writ rollback --with-later 8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11',
      'writ rollback --since 2h --dry-run',
    ],
    load: async () => ({ run: (await import('./rollback.ts')).rollback }),
  },
  {
    name: 'undo',
    here: 'takes back the last act of a home here; `writ rollback ACTION_ID` names one there',
    says: 'take back the last action that was promoted',
    usage: 'writ undo [--as-is] [--dry-run]',
    options: [AS_IS, DRY_RESTORE, STREAM, HOME],
    examples: ['writ undo'],
    load: async () => ({ run: (await import('./rollback.ts')).undo }),
  },
  {
    name: 'halt',
    says: 'stop everything now',
    usage: 'writ halt [--reason TEXT]',
    options: [REASON, HOME],
    examples: ['writ halt', 'writ halt --reason "something odd on the build machine"'],
    load: async () => ({ run: (await import('./halt.ts')).halt }),
  },
  {
    name: 'resume',
    says: 'end a halt',
    usage: 'writ resume [--reason TEXT] [--pass-fd N]',
    options: [REASON, PASS_FD, HOME],
    examples: ['writ resume'],
    load: async () => ({ run: (await import('./halt.ts')).resume }),
  },
  {
    name: 'grant list',
    says: 'what agents may do without a question because a human answered `always`',
    usage: 'writ grant list',
    options: [HOME],
    examples: ['writ grant list'],
    load: async () => ({ run: (await import('./grant.ts')).list }),
  },
  {
    name: 'grant revoke',
    says: 'take back what a human granted with `always`',
    usage: 'writ grant revoke ID',
    options: [HOME],
    examples: ['writ grant revoke 4f2a91c0'],
    load: async () => ({ run: (await import('./grant.ts')).revoke }),
  },
  {
    name: 'override',
    says: 'set a law aside for one intent or a time, lift a block, or release requests before a run',
    usage:
      'writ override --law ID (--action ACTION_ID | --for DURATION) [--uses N] --reason TEXT | --lift ID --reason TEXT | --release FILE --host H… --method M… --reason TEXT',
    options: [
      { name: 'law', value: 'ID', says: 'the law of tier 1 that is set aside' },
      { name: 'action', value: 'ACTION_ID', says: 'for the intent of this refused action' },
      { name: 'for', value: 'DURATION', says: 'for a time: 30m, 2h; a day with --action alone' },
      { name: 'uses', value: 'N', says: 'for so many acts; one without it' },
      {
        name: 'lift',
        value: 'ID',
        says: 'the block of this operation digest, or of this refused action',
      },
      {
        name: 'release',
        value: 'FILE',
        says: 'let the one run of this proposal send requests; they cannot be taken back',
      },
      { name: 'host', value: 'HOST', many: true, says: 'to this host of its scope' },
      {
        name: 'method',
        value: 'METHOD',
        many: true,
        says: 'by this method; CONNECT is everything inside TLS',
      },
      REASON,
      PASS_FD,
      { ...ONE_STREAM, says: 'where it holds; the stream of the action, else your own' },
      HOME,
    ],
    examples: [
      'writ override --lift 8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11 --reason "declared now"',
      'writ override --law NO_CRITICAL --for 30m --reason "migration"',
      'writ override --release proposal.json --host api.example.com --method CONNECT --reason "deploy"',
    ],
    load: () => import('./override.ts'),
  },
  {
    name: 'recover',
    says: 'end what was interrupted; choose where others changed a path meanwhile',
    usage: 'writ recover [ID --finish|--revert [--keep PATH]… [--old PATH]… [--new PATH]…]',
    options: [
      { name: 'finish', value: null, says: 'carry the rest out' },
      { name: 'revert', value: null, says: 'take the rest back' },
      { name: 'keep', value: 'PATH', many: true, says: 'leave what is there' },
      { name: 'old', value: 'PATH', many: true, says: 'put back what was there before' },
      { name: 'new', value: 'PATH', many: true, says: 'put there what was rehearsed' },
      PASS_FD,
      HOME,
    ],
    examples: [
      'writ recover',
      'writ recover 8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11 --revert --keep src/main.ts',
    ],
    load: () => import('./recover.ts'),
  },
  {
    name: 'purge',
    says: 'drop outputs, unredacted proposals and lists of changes; the facts stay',
    usage:
      'writ purge (--before MOMENT | --action ID) [--kind KIND]… [--reason TEXT] [--dry-run] [--pass-fd N]',
    options: [
      { name: 'before', value: 'MOMENT', says: 'what is older: ISO 8601, a day, or `90d` ago' },
      { name: 'action', value: 'ID', says: 'what is kept of this action' },
      {
        name: 'kind',
        value: 'KIND',
        many: true,
        says: 'output, proposal, manifest or evidence; all without it',
      },
      REASON,
      { name: 'dry-run', value: null, says: 'say what would go, and drop nothing' },
      PASS_FD,
      ONE_STREAM,
      HOME,
    ],
    examples: ['writ purge --before 90d --dry-run', 'writ purge --before 30d --kind output'],
    load: async () => ({ run: (await import('./upkeep.ts')).purge }),
  },
  {
    name: 'du',
    says: 'show what takes how much disk space in this home',
    usage: 'writ du [--home DIR]',
    options: [HOME],
    examples: ['writ du', 'writ du --json'],
    load: async () => ({ run: (await import('./upkeep.ts')).showUse }),
  },
  {
    name: 'gc',
    says: 'remove staged files, undo data and leftovers that are no longer needed',
    usage: 'writ gc [--dry-run] [--pass-fd N]',
    options: [
      { name: 'dry-run', value: null, says: 'say what would go, and remove nothing' },
      PASS_FD,
      HOME,
    ],
    examples: ['writ gc --dry-run', 'writ gc'],
    load: async () => ({ run: (await import('./upkeep.ts')).collectGarbage }),
  },
  {
    name: 'laws check',
    says: 'can the laws be read; if not, what is wrong and where',
    usage: 'writ laws check [FILE…|-] [--home DIR]',
    options: [HOME],
    examples: ['writ laws check', 'writ laws check --json .writ/laws.yaml'],
    load: async () => ({ run: (await import('./laws.ts')).check }),
  },
  {
    name: 'laws test',
    says: 'what would change over past proposals if a file were the law',
    usage: 'writ laws test [FILE] [--since MOMENT] [--stream NAME]',
    options: [
      { name: 'since', value: 'MOMENT', says: 'from then on: ISO 8601, a day, or `7d` ago' },
      ONE_STREAM,
      HOME,
    ],
    examples: ['writ laws test', 'writ laws test --since 7d --json team.yaml'],
    load: async () => ({ run: (await import('./laws.ts')).test }),
  },
  {
    name: 'laws learn',
    says: 'propose grants from what humans always answered alike; accepts nothing',
    usage: 'writ laws learn [--since MOMENT] [--out FILE]',
    options: [
      { name: 'since', value: 'MOMENT', says: 'from then on: ISO 8601, a day, or `7d` ago' },
      {
        name: 'out',
        value: 'FILE',
        says: 'the new law file; laws.learned.yaml without it, `-` prints it',
      },
      ONE_STREAM,
      HOME,
    ],
    examples: ['writ laws learn', 'writ laws learn --since 30d --out proposed.yaml'],
    load: async () => ({ run: (await import('./laws.ts')).learn }),
  },
  {
    name: 'laws explain',
    says: 'which law, which values decided about an action, and what a human can do',
    usage: 'writ laws explain ACTION_ID [--stream NAME]',
    options: [ONE_STREAM, HOME],
    examples: ['writ laws explain 8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11'],
    load: async () => ({ run: (await import('./laws.ts')).explain }),
  },
  {
    name: 'laws accept',
    says: 'a human accepts the laws as they are now',
    usage: 'writ laws accept [--yes] [--digest DIGEST] [--home DIR] [--pass-fd N]',
    options: [ACCEPT_YES, LAWS_DIGEST, HOME, PASS_FD],
    examples: ['writ laws accept', 'writ laws accept --yes'],
    load: () => import('./trust.ts'),
  },
]
