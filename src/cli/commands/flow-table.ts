/** The table of `writ flow …`, in the order of help. Words only. */
import type { Command, OptionWords } from '../call/command.ts'
import { HOME, PASS_FD, STREAM } from '../call/command.ts'
import { FLOW_CONTROL_COMMANDS } from './flow-control-table.ts'
import { FLOW_DOCUMENT_COMMANDS, FORCE, SIDE } from './flow-document-table.ts'

const PARTICIPANTS: OptionWords = {
  name: 'participants',
  value: 'FILE',
  says: 'who the agents of a plan are (participants_v1)',
}

const WAIT: OptionWords = {
  name: 'wait',
  value: null,
  says: 'wait for people instead of leaving when only they are missing',
}

const PARALLEL: OptionWords = {
  name: 'parallel',
  value: 'N',
  says: 'how many participants may work at once; by the flow or the cores without it',
}

const VERSION: OptionWords = {
  name: 'digest',
  value: 'DIGEST',
  says: 'the version that was looked at; another one is refused',
}

const JSONL: OptionWords = { name: 'jsonl', value: null, says: 'print each fact as it happens' }

const YES: OptionWords = {
  name: 'yes',
  value: null,
  says: 'answer the plain yes, where a plain yes is enough',
}

export const FLOW_COMMANDS: readonly Command[] = [
  ...FLOW_DOCUMENT_COMMANDS,
  {
    name: 'flow plan',
    says: 'let a planner write a plan that a reviewer approves',
    usage:
      'writ flow plan (--goal TEXT --participants FILE --out FILE [--workspace DIR] [--force] | --resume [PLANNING])',
    options: [
      { name: 'goal', value: 'TEXT', says: 'the goal of the plan' },
      PARTICIPANTS,
      { name: 'out', value: 'FILE', says: 'where an approved plan is written' },
      FORCE,
      { name: 'workspace', value: 'DIR', says: 'what planner and reviewer see; here without it' },
      { name: 'resume', value: null, says: 'go on with a planning that was interrupted' },
      STREAM,
      PASS_FD,
      HOME,
    ],
    examples: [
      'writ flow plan --goal "a word counter" --participants participants.yaml --out plan.json',
      'writ flow plan --resume',
    ],
    load: () => import('./flow-plan.ts'),
  },
  {
    name: 'flow run',
    says: 'run a flow, an edge table or a plan with its participants',
    usage: 'writ flow run FILE [--workspace DIR] [--participants FILE] [--side FILE] [--wait] …',
    options: [
      { name: 'workspace', value: 'DIR', says: 'where the work is done; here without it' },
      PARTICIPANTS,
      SIDE,
      WAIT,
      PARALLEL,
      {
        name: 'queue',
        value: null,
        says: 'leave the run to a worker (`writ worker`), and print its id',
      },
      {
        name: 'label',
        value: 'NAME',
        many: true,
        says: 'with `--queue`: a label that the worker needs; may be given again',
      },
      YES,
      JSONL,
      STREAM,
      HOME,
    ],
    examples: [
      'writ flow run paper.yaml --workspace paper',
      'writ flow run plan.json --participants participants.yaml --json',
    ],
    load: () => import('./flow-run.ts'),
  },
  {
    name: 'flow resume',
    says: 'continue a run after a crash, a stop or an answer',
    usage: 'writ flow resume [RUN] [--wait] [--jsonl]',
    options: [WAIT, PARALLEL, YES, JSONL, STREAM, PASS_FD, HOME],
    examples: ['writ flow resume run-0197f2a4-7c11-7d3e-8a55-0c4e2b9d6f01'],
    load: () => import('./flow-resume.ts'),
  },
  {
    name: 'flow status',
    says: 'show the state of a run: phases, attempts, time, budget',
    usage: 'writ flow status [RUN]',
    options: [STREAM, HOME],
    examples: ['writ flow status', 'writ flow status run-0197f2a4-7c11-7d3e-8a55-0c4e2b9d6f01'],
    load: () => import('./flow-status.ts'),
  },
  {
    name: 'flow list',
    says: 'list the runs by state, flow and time',
    usage: 'writ flow list [--status STATUS] [--flow ID] [--since WHEN] [--limit N]',
    options: [
      { name: 'status', value: 'LIST', says: 'only these states, such as WAITING,BLOCKED' },
      { name: 'flow', value: 'ID', says: 'only runs of the flow with this id' },
      { name: 'since', value: 'WHEN', says: 'only runs that began since: a moment, or 2h, 7d' },
      { name: 'limit', value: 'N', says: 'at most so many; 50 without it' },
      STREAM,
      HOME,
    ],
    examples: ['writ flow list --status WAITING,BLOCKED', 'writ flow list --since 7d --json'],
    load: () => import('./flow-list.ts'),
  },
  {
    name: 'flow answer',
    says: 'answer a run that waits for a person',
    usage: 'writ flow answer RUN NODE (retry|abandon|provided|unblock | --file ANSWER.json)',
    options: [
      { name: 'file', value: 'FILE', says: 'the answer of a human who is the participant' },
      { name: 'force', value: null, says: 'what was asked for lies elsewhere than suggested' },
      STREAM,
      PASS_FD,
      HOME,
    ],
    examples: [
      'writ flow answer run-0197f2a4-7c11-7d3e-8a55-0c4e2b9d6f01 draft provided',
      'writ flow answer run-0197f2a4-7c11-7d3e-8a55-0c4e2b9d6f01 review --file review.json',
    ],
    load: () => import('./flow-answer.ts'),
  },
  {
    name: 'flow budget',
    says: 'set the budgets of a run, so that it can go on',
    usage: 'writ flow budget RUN [--seconds N] [--attempts N] [--tokens N]',
    options: [
      { name: 'seconds', value: 'N', says: 'the time of all attempts together' },
      { name: 'attempts', value: 'N', says: 'the attempts of all nodes together' },
      { name: 'tokens', value: 'N', says: 'the tokens of all models together' },
      STREAM,
      PASS_FD,
      HOME,
    ],
    examples: ['writ flow budget run-0197f2a4-7c11-7d3e-8a55-0c4e2b9d6f01 --seconds 3600'],
    load: () => import('./flow-budget.ts'),
  },
  {
    name: 'flow show',
    says: 'show a node of a run: what it made, what it would change, what is asked',
    usage: 'writ flow show RUN NODE [--all]',
    options: [
      { name: 'all', value: null, says: 'show everything, however long it is' },
      STREAM,
      HOME,
    ],
    examples: ['writ flow show run-0197f2a4-7c11-7d3e-8a55-0c4e2b9d6f01 review'],
    load: () => import('./flow-show.ts'),
  },
  {
    name: 'flow approve',
    says: 'say yes to work that a run asks you to judge',
    usage: 'writ flow approve RUN NODE [--comment TEXT] [--digest DIGEST]',
    options: [
      { name: 'comment', value: 'TEXT', says: 'what to say with it; it is on the record' },
      VERSION,
      STREAM,
      PASS_FD,
      HOME,
    ],
    examples: [
      'writ flow approve run-0197f2a4-7c11-7d3e-8a55-0c4e2b9d6f01 review --comment "reads well"',
    ],
    load: () => import('./flow-approve.ts'),
  },
  {
    name: 'flow reject',
    says: 'say no to work that a run asks you to judge, and why',
    usage: 'writ flow reject RUN NODE --comment TEXT [--digest DIGEST]',
    options: [
      { name: 'comment', value: 'TEXT', says: 'what has to change; the next attempt gets it' },
      VERSION,
      STREAM,
      PASS_FD,
      HOME,
    ],
    examples: [
      'writ flow reject run-0197f2a4-7c11-7d3e-8a55-0c4e2b9d6f01 review --comment "name the sources"',
    ],
    load: () => import('./flow-reject.ts'),
  },
  ...FLOW_CONTROL_COMMANDS,
  {
    name: 'flow evidence',
    says: 'add evidence for or against a claim of a run',
    usage: 'writ flow evidence RUN CLAIM --id ID (--file FILE | --digest DIGEST) [--against]',
    options: [
      { name: 'id', value: 'ID', says: 'the id of the evidence' },
      { name: 'file', value: 'FILE', says: 'the evidence itself; its digest is recorded' },
      { name: 'digest', value: 'DIGEST', says: 'the digest of evidence that lies elsewhere' },
      { name: 'against', value: null, says: 'it speaks against the claim' },
      STREAM,
      PASS_FD,
      HOME,
    ],
    examples: [
      'writ flow evidence run-0197f2a4-7c11-7d3e-8a55-0c4e2b9d6f01 C-EXT-023 --id EVID-112 --file measured.csv',
    ],
    load: () => import('./flow-evidence.ts'),
  },
  {
    name: 'flow report',
    says: 'write the audit report of a run',
    usage: 'writ flow report [RUN] [--html FILE] [--deliverables DIR] [--force]',
    options: [
      { name: 'html', value: 'FILE', says: 'write it as one page for people' },
      FORCE,
      {
        name: 'deliverables',
        value: 'DIR',
        says: 'write what was approved, with a manifest of digests',
      },
      STREAM,
      HOME,
    ],
    examples: ['writ flow report --html report.html', 'writ flow report --json'],
    load: () => import('./flow-report.ts'),
  },
]
