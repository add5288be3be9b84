/**
 * The table of commands, in the order of help. Words only: nothing here imports a command's work.
 */
import type { Command, OptionWords } from '../call/command.ts'
import { ACCEPT_YES, HOME, PASS_FD, STREAM } from '../call/command.ts'
import { FIELD_COMMANDS } from './field-table.ts'
import { FLEET_COMMANDS } from './fleet-table.ts'
import { FLOW_COMMANDS } from './flow-table.ts'
import { GATE_COMMANDS } from './gate-table.ts'
import { HOOK_COMMANDS } from './hook-table.ts'
import { LEDGER_COMMANDS } from './ledger-table.ts'
import { MACHINE_COMMANDS } from './machine-table.ts'
import { PEOPLE_COMMANDS } from './people-table.ts'
import { SCHEDULE_COMMANDS } from './schedule-table.ts'
import { NOTIFY_COMMANDS, REMOTE_COMMANDS, SERVER_COMMANDS } from './server-table.ts'
import { SESSION_COMMANDS } from './session-table.ts'
import { WITNESS_COMMANDS } from './witness-table.ts'

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

export const COMMANDS: readonly Command[] = [
  {
    name: 'init',
    says: 'set up writ in this directory',
    usage: 'writ init [--no-pass | --pass-fd N] [--name ID] [--namespace NAME] [--store URL] …',
    options: [
      { name: 'no-pass', value: null, says: 'no human credential yet' },
      { name: 'new', value: null, says: 'a history of its own, where another one could go on' },
      {
        ...PASS_FD,
        says: 'read the passphrase (with `--new` also the one of the history before) from this file descriptor',
      },
      { name: 'name', value: 'ID', says: 'the id of the local human; the user name without it' },
      { name: 'namespace', value: 'NAME', says: 'its namespace; `local` without it' },
      { name: 'store', value: 'URL', says: 'a PostgreSQL server for the facts; a file without it' },
      { name: 'store-owner', value: 'ROLE', says: 'who makes the tables there, and owns them' },
      HOME,
    ],
    examples: [
      'writ init',
      'writ init --no-pass',
      'writ init --name ann --namespace north-farm',
      'writ init --store postgresql://writ@db.example/writ --store-owner writ_owner',
    ],
    load: () => import('./init.ts'),
  },
  {
    name: 'trust',
    says: 'trust this directory and its laws again, after a move or a copy',
    usage: 'writ trust [--yes] [--home DIR] [--pass-fd N]',
    options: [ACCEPT_YES, HOME, PASS_FD],
    examples: ['writ trust'],
    load: () => import('./trust.ts'),
  },
  {
    name: 'home list',
    says: 'list the homes of this user on this machine',
    usage: 'writ home list',
    options: [],
    examples: ['writ home list', 'writ home list --json'],
    load: async () => ({ run: (await import('./home.ts')).list }),
  },
  {
    name: 'home remove',
    says: 'remove a home for good: its ledger, keys and undo data; the workspace stays',
    usage: 'writ home remove [PATH|ID] [--export DIR] [--yes] [--pass-fd N]',
    options: [
      {
        name: 'export',
        value: 'DIR',
        says: 'first write a bundle of each stream to this new directory',
      },
      { name: 'yes', short: 'y', value: null, says: 'show what is lost and do not ask' },
      PASS_FD,
      HOME,
    ],
    examples: [
      'writ home remove',
      'writ home remove --export old-ledger 8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11',
    ],
    load: async () => ({ run: (await import('./home.ts')).remove }),
  },
  ...SESSION_COMMANDS,
  ...GATE_COMMANDS,
  ...HOOK_COMMANDS,
  ...SERVER_COMMANDS,
  ...NOTIFY_COMMANDS,
  ...REMOTE_COMMANDS,
  ...FIELD_COMMANDS,
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
    load: async () => ({ run: (await import('./check.ts')).check }),
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
    load: async () => ({ run: (await import('./check.ts')).normalize }),
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
    load: () => import('./schema.ts'),
  },
  {
    name: 'rules check',
    says: 'check rule files and report mistakes, overlaps and gaps',
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
    load: async () => ({ run: (await import('./rules-check.ts')).checkRules }),
  },
  {
    name: 'rules eval',
    says: 'evaluate rules on inputs and print the verdicts',
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
    load: async () => ({ run: (await import('./rules-eval.ts')).evaluate }),
  },
  {
    name: 'rules test',
    says: 'run the test cases of a rule suite and report what they miss',
    usage: 'writ rules test [DIR] [--rules FILE…] [--cases DIR]',
    options: [RULES, { name: 'cases', value: 'DIR', says: 'the cases; DIR/cases without it' }],
    examples: ['writ rules test examples/constitution'],
    load: async () => ({ run: (await import('./rules-eval.ts')).test }),
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
    load: async () => ({ run: (await import('./rules-check.ts')).proveClaim }),
  },
  {
    name: 'rules diff',
    says: 'compare two versions of rules and show each kind of change',
    usage: 'writ rules diff OLD NEW',
    options: [],
    examples: ['writ rules diff old.yaml new.yaml'],
    load: async () => ({ run: (await import('./rules-check.ts')).diffRules }),
  },
  {
    name: 'rules import',
    says: 'turn a template file into a ruleset',
    usage: 'writ rules import FILE [--to yaml|json]',
    options: [{ name: 'to', value: 'FORM', says: 'yaml (text guards) or json (trees)' }],
    examples: ['writ rules import control.json > apply.yaml'],
    load: async () => ({ run: (await import('./rules-fmt.ts')).importFile }),
  },
  {
    name: 'rules fmt',
    says: 'format a rule file',
    usage: 'writ rules fmt FILE [--guards text|tree] [--to yaml|json] [--write]',
    options: [
      { name: 'guards', value: 'FORM', says: 'text or tree' },
      { name: 'to', value: 'FORM', says: 'yaml or json; the file’s own without it' },
      { name: 'write', value: null, says: 'change the file instead of printing' },
    ],
    examples: ['writ rules fmt apply.yaml', 'writ rules fmt --guards tree --to json apply.yaml'],
    load: async () => ({ run: (await import('./rules-fmt.ts')).formatFile }),
  },
  ...FLOW_COMMANDS,
  ...SCHEDULE_COMMANDS,
  {
    name: 'task issue',
    says: 'issue a task for a device or a person in the field',
    usage: 'writ task issue FILE|- [--key KEY] [--stream NAME] [--pass-fd N]',
    options: [
      {
        name: 'key',
        value: 'KEY',
        says: 'idempotency key: a repeated call makes no second task',
      },
      STREAM,
      PASS_FD,
      HOME,
    ],
    examples: ['writ task issue task.json', 'writ task issue --stream north --json - < task.json'],
    load: async () => ({ run: (await import('./task.ts')).issue }),
  },
  {
    name: 'task list',
    says: 'list tasks and what their receipts report',
    usage: 'writ task list [--open] [--device ID] [--oldest] [--limit N] [--after SEQ]',
    options: [
      {
        name: 'open',
        value: null,
        says: 'only tasks without a receipt; a page looks at 1000 tasks',
      },
      {
        name: 'device',
        value: 'ID',
        says: 'only tasks with a receipt of this device (id@namespace)',
      },
      { name: 'oldest', value: null, says: 'oldest first; newest first without it' },
      { name: 'limit', value: 'N', says: 'at most so many; 1000 without it' },
      { name: 'after', value: 'SEQ', says: 'go on behind this one; a page’s `next`' },
      STREAM,
      HOME,
    ],
    examples: [
      'writ task list',
      'writ task list --open --limit 20',
      'writ task list --device pump-3@farm',
    ],
    load: () => import('./task-list.ts'),
  },
  {
    name: 'task show',
    says: 'show one task with its receipts and their proofs',
    usage: 'writ task show ID [--stream NAME]',
    options: [STREAM, HOME],
    examples: ['writ task show act-0197f2a4-7c11-7d3e-8a55-0c4e2b9d6f01'],
    load: async () => ({ run: (await import('./task.ts')).show }),
  },
  {
    name: 'receipt submit',
    says: 'record the receipt of a task',
    usage: 'writ receipt submit FILE|- [--stream NAME]',
    options: [STREAM, HOME],
    examples: ['WRIT_TOKEN=… writ receipt submit receipt.json'],
    load: async () => ({ run: (await import('./task.ts')).submitReceipt }),
  },
  {
    name: 'log',
    says: 'list what was done: time, who, outcome, effects, command; or the facts',
    usage: 'writ log [--since MOMENT] [--facts] [--type T] [--task ID] [--follow] …',
    options: [
      { name: 'facts', value: null, says: 'the facts instead of the acts' },
      { name: 'type', value: 'TYPE', says: 'only records of this type' },
      STREAM,
      { name: 'since', value: 'MOMENT', says: 'from then on: ISO 8601, a day, or `2h` ago' },
      { name: 'until', value: 'MOMENT', says: 'before then' },
      { name: 'principal', value: 'WHO', says: 'only by this one, as kind:id@namespace' },
      { name: 'task', value: 'ID', says: 'only about this task' },
      { name: 'action', value: 'ID', says: 'only about this action' },
      { name: 'limit', value: 'N', says: 'at most so many; 30 acts or 1000 facts without it' },
      { name: 'after', value: 'SEQ', says: 'go on behind this one; a page’s `next`' },
      { name: 'newest', value: null, says: 'newest first' },
      { name: 'follow', short: 'f', value: null, says: 'wait for more, until interrupted' },
      { name: 'jsonl', value: null, says: 'one fact a line' },
      HOME,
    ],
    examples: [
      'writ log',
      'writ log --since 2h',
      'writ log --facts',
      'writ log --type ao_act_receipt_v0 --since 2h --json',
      'writ log --follow --principal device:pump-3@north-farm',
    ],
    load: () => import('./log.ts'),
  },
  {
    name: 'show',
    says: 'show everything about an action, a task, a run or one fact',
    usage: 'writ show ID|STREAM/SEQ [--stream NAME]',
    options: [STREAM, HOME],
    examples: [
      'writ show 01a1e365-832b   # a beginning of an id is enough',
      'writ show act-0197f2a4-7c11-7d3e-8a55-0c4e2b9d6f01',
      'writ show main/12',
    ],
    load: () => import('./show.ts'),
  },
  ...LEDGER_COMMANDS,
  ...WITNESS_COMMANDS,
  ...MACHINE_COMMANDS,
  ...FLEET_COMMANDS,
  {
    name: 'export',
    says: 'print what happened in the form of another system, without contents',
    usage: 'writ export --format jsonl|cloudevents|ocsf|otlp|intoto [--since TIME] [--follow] …',
    options: [
      {
        name: 'format',
        value: 'FORMAT',
        says: 'jsonl, cloudevents, ocsf, otlp or intoto (promotions, signed); one a line',
      },
      { name: 'since', value: 'TIME', says: 'facts from then on: a moment, a day, or `2h` ago' },
      { name: 'after', value: 'SEQ', says: 'facts behind this number' },
      { name: 'limit', value: 'N', says: 'look at so many facts at most' },
      { name: 'follow', value: null, says: 'go on with facts as they come' },
      {
        name: 'cursor',
        value: 'FILE',
        says: 'go on where the last export with this file ended; written after each delivery',
      },
      STREAM,
      HOME,
    ],
    examples: [
      'writ export --format cloudevents --since 1d',
      'writ export --format ocsf --follow --cursor ocsf.cursor >> events.jsonl',
    ],
    load: () => import('./export.ts'),
  },
  {
    name: 'replay',
    says: 'compute every recorded decision again and compare',
    usage: 'writ replay [--stream NAME]',
    options: [STREAM, HOME],
    examples: ['writ replay'],
    load: () => import('./replay.ts'),
  },
  ...PEOPLE_COMMANDS,
  {
    name: 'doctor',
    says: 'check this machine and say how to get what is missing',
    usage: 'writ doctor [--home DIR]',
    options: [HOME],
    examples: ['writ doctor', 'writ doctor --json'],
    load: () => import('./doctor.ts'),
  },
  {
    name: 'demo',
    says: 'a guided tour of writ on throw-away documents',
    usage: 'writ demo [--serve]',
    options: [
      {
        name: 'serve',
        value: null,
        says: 'then serve a throw-away home with a question that waits, until Ctrl-C',
      },
    ],
    examples: ['writ demo', 'writ demo --serve'],
    load: () => import('./demo.ts'),
  },
  {
    name: 'config show',
    says: 'show every setting in force',
    usage: 'writ config show [--origin] [--home DIR]',
    options: [{ name: 'origin', value: null, says: 'show where each value comes from' }, HOME],
    examples: ['writ config show --origin'],
    load: async () => ({ run: (await import('./config.ts')).show }),
  },
  {
    name: 'config reference',
    says: 'print what every setting and variable means, in Markdown',
    usage: 'writ config reference',
    options: [],
    examples: ['writ config reference'],
    load: async () => ({ run: (await import('./config.ts')).reference }),
  },
  {
    name: 'completion',
    says: 'print a completion script for bash, zsh or fish',
    usage: 'writ completion bash|zsh|fish | --ids questions|acts',
    options: [
      { name: 'ids', value: 'KIND', says: 'print the ids that the scripts offer, one a line' },
      HOME,
    ],
    examples: ['source <(writ completion bash)', 'writ completion fish | source'],
    load: () => import('./completion.ts'),
  },
  {
    name: 'man',
    says: 'print a manual page, or write all of them to a folder',
    usage: 'writ man [COMMAND] [--out DIR]',
    options: [{ name: 'out', value: 'DIR', says: 'write every page to DIR' }],
    examples: ['writ man exec | man -l -', 'writ man --out man'],
    load: () => import('./man.ts'),
  },
]
