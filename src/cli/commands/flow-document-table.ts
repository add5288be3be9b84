/** The part of `writ flow …` that is about documents: check, import, export. Words only. */
import type { Command, OptionWords } from '../call/command.ts'
import { HOME, STREAM } from '../call/command.ts'

const PARTICIPANTS: OptionWords = {
  name: 'participants',
  value: 'FILE',
  says: 'who the agents of a plan are (participants_v1)',
}

export const SIDE: OptionWords = {
  name: 'side',
  value: 'FILE',
  says: 'state, policies and guards next to an edge table (flow_side_v1)',
}

export const FORCE: OptionWords = {
  name: 'force',
  value: null,
  says: 'replace the file if there is one',
}

export const FLOW_DOCUMENT_COMMANDS: readonly Command[] = [
  {
    name: 'flow check',
    says: 'can a flow, a plan or an edge table be walked, and what is odd about it',
    usage: 'writ flow check FILE… [--participants FILE] [--side FILE] [--workspace DIR] [--strict]',
    options: [
      PARTICIPANTS,
      SIDE,
      {
        name: 'workspace',
        value: 'DIR',
        says: 'where the programs of participants are looked for',
      },
      { name: 'strict', value: null, says: 'warnings refuse too' },
    ],
    examples: [
      'writ flow check flow.yaml',
      'writ flow check plan.json --participants participants.yaml',
      'writ flow check edges.csv --side side.json --json',
    ],
    load: () => import('./flow-check.ts'),
  },
  {
    name: 'flow test',
    says: 'walk a flow as a test file says, and compare; nothing is run or written',
    usage: 'writ flow test FILE… [--case NAME] [--trace] [--strict] [--junit FILE]',
    options: [
      { name: 'case', value: 'NAME', says: 'only the case of this name' },
      { name: 'trace', value: null, says: 'show each step of the walks, with what guards read' },
      { name: 'strict', value: null, says: 'nodes and edges that no case came to refuse too' },
      { name: 'junit', value: 'FILE', says: 'write the results as JUnit XML too' },
    ],
    examples: [
      'writ flow test flow.test.yaml',
      'writ flow test flow.test.yaml --case "rejected once" --trace',
      'writ flow test tests/*.yaml --junit results.xml',
    ],
    load: () => import('./flow-test.ts'),
  },
  {
    name: 'flow reference',
    says: 'print what every field and word of the flow language means, in Markdown',
    usage: 'writ flow reference',
    options: [],
    examples: ['writ flow reference'],
    load: () => import('./flow-reference.ts'),
  },
  {
    name: 'flow import',
    says: 'turn an edge table into a flow document',
    usage:
      'writ flow import (--edges FILE.csv | FILE.csv) [--side FILE] [--out FILE.yaml] [--propose FILE.yaml] [--force] [--id ID] [--title TEXT]',
    options: [
      { name: 'edges', value: 'FILE', says: 'the table of edges, CSV' },
      SIDE,
      { name: 'out', value: 'FILE', says: 'where the flow goes; standard output without it' },
      FORCE,
      {
        name: 'id',
        value: 'ID',
        says: 'the flow’s id; the side file’s, or the file’s name, without it',
      },
      { name: 'title', value: 'TEXT', says: 'the flow’s title' },
      {
        name: 'propose',
        value: 'FILE',
        says: 'write a side file with what the shape of the table shows: calls, REJECT, Rollback',
      },
    ],
    examples: [
      'writ flow import --edges edges.csv --side side.json --out flow.yaml',
      'writ flow import edges.csv --propose side.yaml --out flow.yaml',
    ],
    load: () => import('./flow-import.ts'),
  },
  {
    name: 'flow export',
    says: 'draw a flow or a run, or write it as a table',
    usage:
      'writ flow export FILE|RUN [--format mermaid|dot|svg|csv|json|yaml] [--at NODE]… [--out FILE] [--force]',
    options: [
      {
        name: 'format',
        value: 'FORM',
        says: 'mermaid, dot, svg, csv, json or yaml; by FILE without it',
      },
      { name: 'at', value: 'NODE', many: true, says: 'mark this node; may be given again' },
      { name: 'out', value: 'FILE', says: 'where it goes; standard output without it' },
      FORCE,
      { name: 'all-columns', value: null, says: 'csv: also columns that the table did not have' },
      { name: 'no-findings', value: null, says: 'draw without what is wrong or odd' },
      PARTICIPANTS,
      SIDE,
      STREAM,
      HOME,
    ],
    examples: [
      'writ flow export flow.yaml --format svg --out flow.svg',
      'writ flow export flow.yaml --format mermaid --at review',
      'writ flow export imported.yaml --format csv --out edges.csv',
    ],
    load: () => import('./flow-export.ts'),
  },
]
