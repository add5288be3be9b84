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

export const COMMANDS: readonly Command[] = [
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
    usage: 'writ rules eval --rules FILE… --inputs FILE [--at MS] [--jsonl]',
    options: [
      RULES,
      {
        name: 'inputs',
        value: 'FILE',
        says: '{ problem_state, uncertainty_envelope, permission_set }',
      },
      { name: 'at', value: 'MS', says: 'the time of the evaluation; it changes no verdict' },
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
    name: 'demo',
    says: 'a guided tour of writ on throw-away documents',
    usage: 'writ demo',
    options: [],
    examples: ['writ demo'],
    load: () => import('./commands/demo.ts'),
  },
]
