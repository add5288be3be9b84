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
    name: 'demo',
    says: 'a guided tour of writ on throw-away documents',
    usage: 'writ demo',
    options: [],
    examples: ['writ demo'],
    load: () => import('./commands/demo.ts'),
  },
]
