/**
 * The table of commands, in the order of help. Words only: nothing here imports a command's work.
 */
import type { Command, OptionWords } from './command.ts'

const JSONL: OptionWords = {
  name: 'jsonl',
  value: null,
  says: 'read one envelope a line, print one answer a line',
}
const CONTEXT: OptionWords = {
  name: 'context',
  value: 'FILE',
  says: 'a JSON or YAML object the contract may ask for, such as { "task": … }',
}

const RULES: OptionWords = {
  name: 'rules',
  value: 'FILE',
  many: true,
  says: 'a rule file, or a folder of them; may be given again',
}

const HOME: OptionWords = {
  name: 'home',
  value: 'DIR',
  says: 'the home to use; else WRIT_HOME, else the nearest `.writ` upwards',
}

const STREAM: OptionWords = {
  name: 'stream',
  value: 'NAME',
  says: 'the stream of facts; `main` without it',
}

const PASS_FD: OptionWords = {
  name: 'pass-fd',
  value: 'N',
  says: 'read the passphrase from this file descriptor',
}

export const COMMANDS: readonly Command[] = [
  {
    name: 'init',
    says: 'make a home here: laws, rules, a key and a ledger',
    usage: 'writ init [--no-pass | --pass-fd N] [--name ID] [--namespace NAME] [--home DIR]',
    options: [
      { name: 'no-pass', value: null, says: 'no human credential yet' },
      { ...PASS_FD, says: 'read the new passphrase from this file descriptor' },
      { name: 'name', value: 'ID', says: 'the id of the local human; the user name without it' },
      { name: 'namespace', value: 'NAME', says: 'its namespace; `local` without it' },
      HOME,
    ],
    examples: ['writ init', 'writ init --no-pass', 'writ init --name ann --namespace north-farm'],
    load: () => import('./commands/init.ts'),
  },
  {
    name: 'trust',
    says: 'register this home again, with the laws it has now',
    usage: 'writ trust [--home DIR] [--pass-fd N]',
    options: [HOME, PASS_FD],
    examples: ['writ trust'],
    load: () => import('./commands/trust.ts'),
  },
  {
    name: 'check',
    says: 'validate documents of any contract',
    usage: 'writ check [--as NAME] [--context FILE] [--jsonl] FILE…|-',
    options: [
      { name: 'as', value: 'NAME', says: 'contract or scope; without it the document says' },
      CONTEXT,
      JSONL,
    ],
    examples: [
      'writ check task.json',
      'writ check --as ao_act_receipt_v0 --context context.json receipt.json',
      'writ check --jsonl < envelopes.jsonl   # lines {"as"?, "context"?, "document"}',
    ],
    load: () => import('./commands/check.ts'),
  },
  {
    name: 'normalize',
    says: 'repair an agent’s document, list the repairs, validate it',
    usage: 'writ normalize --as SCOPE [--context FILE] [--jsonl] FILE|-',
    options: [
      {
        name: 'as',
        value: 'SCOPE',
        says: 'scope or contract, such as TASK_ACTION or plan_json_v1',
      },
      CONTEXT,
      JSONL,
    ],
    examples: [
      'writ normalize --as PLAN_GEN plan.json',
      'writ normalize --as TASK_ACTION - < answer.json',
    ],
    load: () => import('./commands/normalize.ts'),
  },
  {
    name: 'schema',
    says: 'print or write the JSON Schemas of the contracts',
    usage: 'writ schema [CONTRACT] [--out DIR] [--summary]',
    options: [
      { name: 'out', value: 'DIR', says: 'write every schema to DIR/<contract>.json' },
      { name: 'summary', value: null, says: 'print the summary of the agent contracts' },
    ],
    examples: ['writ schema ao_act_task_v0', 'writ schema --out schemas', 'writ schema --summary'],
    load: () => import('./commands/schema.ts'),
  },
  {
    name: 'rules check',
    says: 'is a ruleset admissible, and what is odd about it',
    usage: 'writ rules check [--strict] [--no-analysis] [--jsonl] FILE|DIR…',
    options: [
      { name: 'strict', value: null, says: 'warnings refuse too' },
      { name: 'no-analysis', value: null, says: 'admission only' },
      JSONL,
    ],
    examples: [
      'writ rules check rules/',
      'writ rules check --jsonl < lines.jsonl   # lines {"ruleset"} or {"rulesets"}',
    ],
    load: () => import('./commands/rules-check.ts'),
  },
  {
    name: 'rules eval',
    says: 'the verdicts of rulesets on inputs',
    usage: 'writ rules eval --rules FILE… --inputs FILE [--at MS] [--record] [--jsonl]',
    options: [
      RULES,
      {
        name: 'inputs',
        value: 'FILE',
        says: '{ problem_state, uncertainty_envelope, permission_set }',
      },
      { name: 'at', value: 'MS', says: 'the time of the evaluation; it changes no verdict' },
      { name: 'record', value: null, says: 'write the evaluation to the ledger' },
      STREAM,
      HOME,
      JSONL,
    ],
    examples: [
      'writ rules eval --rules apply.yaml --inputs in.json',
      'writ rules eval --jsonl < lines.jsonl   # lines {"rulesets", "inputs", "at"?}',
    ],
    load: () => import('./commands/rules-eval.ts'),
  },
  {
    name: 'rules test',
    says: 'run the cases of a rule suite, and say what they do not reach',
    usage: 'writ rules test [DIR] [--rules FILE…] [--cases DIR]',
    options: [RULES, { name: 'cases', value: 'DIR', says: 'the cases; DIR/cases without it' }],
    examples: ['writ rules test examples/constitution'],
    load: () => import('./commands/rules-test.ts'),
  },
  {
    name: 'rules prove',
    says: 'prove what rules never or always say',
    usage:
      'writ rules prove --rules FILE… (--never|--always VERDICT) [--when GUARD] [--action CODE]',
    options: [
      RULES,
      { name: 'never', value: 'VERDICT', says: 'the word that is never said' },
      { name: 'always', value: 'VERDICT', says: 'the word that is always said' },
      { name: 'when', value: 'GUARD', says: 'the inputs the claim is about, as a guard text' },
      { name: 'action', value: 'CODE', says: 'only this action code' },
    ],
    examples: [
      `writ rules prove --rules rules/ --never ALLOW --when 'EQ(problem_state.confidence, "LOW")'`,
    ],
    load: () => import('./commands/rules-prove.ts'),
  },
  {
    name: 'rules diff',
    says: 'exactly which inputs change their verdict',
    usage: 'writ rules diff OLD NEW',
    options: [],
    examples: ['writ rules diff old.yaml new.yaml'],
    load: () => import('./commands/rules-diff.ts'),
  },
  {
    name: 'rules import',
    says: 'turn a template file into a ruleset',
    usage: 'writ rules import FILE [--to yaml|json]',
    options: [{ name: 'to', value: 'FORM', says: 'yaml (text guards) or json (trees)' }],
    examples: ['writ rules import control.json > apply.yaml'],
    load: () => import('./commands/rules-import.ts'),
  },
  {
    name: 'rules fmt',
    says: 'write a ruleset in one way',
    usage: 'writ rules fmt FILE [--guards text|tree] [--to yaml|json] [--write]',
    options: [
      { name: 'guards', value: 'FORM', says: 'text or tree' },
      { name: 'to', value: 'FORM', says: 'yaml or json; the file’s own without it' },
      { name: 'write', value: null, says: 'change the file instead of printing' },
    ],
    examples: ['writ rules fmt apply.yaml', 'writ rules fmt --guards tree --to json apply.yaml'],
    load: () => import('./commands/rules-fmt.ts'),
  },
  {
    name: 'task issue',
    says: 'a human issues a task',
    usage: 'writ task issue FILE|- [--stream NAME] [--pass-fd N]',
    options: [STREAM, PASS_FD, HOME],
    examples: ['writ task issue task.json', 'writ task issue --stream north --json - < task.json'],
    load: () => import('./commands/task-issue.ts'),
  },
  {
    name: 'task list',
    says: 'tasks, and what their receipts say',
    usage: 'writ task list [--stream NAME]',
    options: [STREAM, HOME],
    examples: ['writ task list'],
    load: () => import('./commands/task-list.ts'),
  },
  {
    name: 'task show',
    says: 'a task, its receipts, and whether the facts hold together',
    usage: 'writ task show ID [--stream NAME]',
    options: [STREAM, HOME],
    examples: ['writ task show act-0197f2a4-7c11-7d3e-8a55-0c4e2b9d6f01'],
    load: () => import('./commands/task-show.ts'),
  },
  {
    name: 'receipt submit',
    says: 'an executor says what it did',
    usage: 'writ receipt submit FILE|- [--stream NAME]',
    options: [STREAM, HOME],
    examples: ['WRIT_TOKEN=… writ receipt submit receipt.json'],
    load: () => import('./commands/receipt-submit.ts'),
  },
  {
    name: 'log',
    says: 'the facts of a stream, filtered or followed',
    usage: 'writ log [--type T] [--task ID] [--since MOMENT] [--follow] …',
    options: [
      { name: 'type', value: 'TYPE', says: 'only records of this type' },
      STREAM,
      { name: 'since', value: 'MOMENT', says: 'from then on: ISO 8601, a day, or `2h` ago' },
      { name: 'until', value: 'MOMENT', says: 'before then' },
      { name: 'principal', value: 'WHO', says: 'only by this one, as kind:id@namespace' },
      { name: 'task', value: 'ID', says: 'only about this task' },
      { name: 'action', value: 'ID', says: 'only about this action' },
      { name: 'limit', value: 'N', says: 'at most so many; 1000 without it' },
      { name: 'after', value: 'SEQ', says: 'go on behind this one; a page’s `next`' },
      { name: 'newest', value: null, says: 'newest first' },
      { name: 'follow', short: 'f', value: null, says: 'wait for more, until interrupted' },
      { name: 'jsonl', value: null, says: 'one fact a line' },
      HOME,
    ],
    examples: [
      'writ log',
      'writ log --type ao_act_receipt_v0 --since 2h --json',
      'writ log --follow --principal device:pump-3@north-farm',
    ],
    load: () => import('./commands/log.ts'),
  },
  {
    name: 'show',
    says: 'everything about a task, an action, a run or one fact',
    usage: 'writ show ID|STREAM/SEQ [--stream NAME]',
    options: [STREAM, HOME],
    examples: ['writ show act-0197f2a4-7c11-7d3e-8a55-0c4e2b9d6f01', 'writ show main/12'],
    load: () => import('./commands/show.ts'),
  },
  {
    name: 'ledger verify',
    says: 'has the history been changed',
    usage: 'writ ledger verify [--stream NAME] [--from FILE]… [--key KEY]… [--no-contracts]',
    options: [
      STREAM,
      { name: 'from', value: 'FILE', many: true, says: 'a checkpoint kept elsewhere' },
      { name: 'key', value: 'KEY', many: true, says: 'a pinned public key, name+id+base64' },
      { name: 'no-contracts', value: null, says: 'tree, chain and signatures only' },
      HOME,
    ],
    examples: ['writ ledger verify', 'writ ledger verify --from kept-checkpoint.txt --json'],
    load: () => import('./commands/ledger-verify.ts'),
  },
  {
    name: 'ledger prove',
    says: 'the proof that a fact is in the history',
    usage: 'writ ledger prove SEQ [--stream NAME]',
    options: [STREAM, HOME],
    examples: ['writ ledger prove 12 --json'],
    load: () => import('./commands/ledger-prove.ts'),
  },
  {
    name: 'ledger checkpoint',
    says: 'the newest signed checkpoint, to be kept elsewhere',
    usage: 'writ ledger checkpoint [--stream NAME]',
    options: [STREAM, HOME],
    examples: ['writ ledger checkpoint > kept-checkpoint.txt'],
    load: () => import('./commands/ledger-checkpoint.ts'),
  },
  {
    name: 'ledger compare',
    says: 'what two checkpoints say of each other',
    usage: 'writ ledger compare FILE FILE [--key KEY]…',
    options: [{ name: 'key', value: 'KEY', many: true, says: 'a public key, name+id+base64' }],
    examples: ['writ ledger compare ours.txt theirs.txt'],
    load: () => import('./commands/ledger-compare.ts'),
  },
  {
    name: 'ledger rotate',
    says: 'a new key signs from now on',
    usage: 'writ ledger rotate [--pass-fd N]',
    options: [PASS_FD, HOME],
    examples: ['writ ledger rotate'],
    load: () => import('./commands/ledger-rotate.ts'),
  },
  {
    name: 'replay',
    says: 'compute every recorded verdict again and compare',
    usage: 'writ replay [--stream NAME]',
    options: [STREAM, HOME],
    examples: ['writ replay'],
    load: () => import('./commands/replay.ts'),
  },
  {
    name: 'principal add',
    says: 'make a human, ai, script or device known',
    usage: 'writ principal add KIND:ID@NAMESPACE [--stream NAME]… [--pass-fd N]',
    options: [
      { ...STREAM, many: true, says: 'a stream it may know of; humans: every one without it' },
      PASS_FD,
      HOME,
    ],
    examples: ['writ principal add device:pump-3@north-farm --stream north'],
    load: () => import('./commands/principal-add.ts'),
  },
  {
    name: 'principal list',
    says: 'who is known here',
    usage: 'writ principal list',
    options: [HOME],
    examples: ['writ principal list'],
    load: () => import('./commands/principal-list.ts'),
  },
  {
    name: 'token create',
    says: 'a token for a principal, shown once',
    usage: 'writ token create KIND:ID@NAMESPACE [--days N] [--pass-fd N]',
    options: [{ name: 'days', value: 'N', says: 'how long it is taken' }, PASS_FD, HOME],
    examples: ['writ token create device:pump-3@north-farm --days 90'],
    load: () => import('./commands/token-create.ts'),
  },
  {
    name: 'token revoke',
    says: 'a token is no longer taken',
    usage: 'writ token revoke ID [--pass-fd N]',
    options: [PASS_FD, HOME],
    examples: ['writ token revoke tok-3f2a9c01d4e7'],
    load: () => import('./commands/token-revoke.ts'),
  },
  {
    name: 'token list',
    says: 'the tokens of this home',
    usage: 'writ token list',
    options: [HOME],
    examples: ['writ token list'],
    load: () => import('./commands/token-list.ts'),
  },
  {
    name: 'demo',
    says: 'a guided tour of writ on throw-away documents',
    usage: 'writ demo',
    options: [],
    examples: ['writ demo'],
    load: () => import('./commands/demo.ts'),
  },
]
