/** The part of `writ flow …` by which people steer a run: signal, skip, migrate, cancel. Words only. */
import type { Command } from '../call/command.ts'
import { HOME, PASS_FD, STREAM } from '../call/command.ts'

export const FLOW_CONTROL_COMMANDS: readonly Command[] = [
  {
    name: 'flow signal',
    says: 'tell a run that something has happened outside',
    usage: 'writ flow signal RUN NAME [--data JSON]',
    options: [
      { name: 'data', value: 'JSON', says: 'what comes with it; the node that waits gets it' },
      STREAM,
      PASS_FD,
      HOME,
    ],
    examples: [
      'writ flow signal run-0197f2a4-7c11-7d3e-8a55-0c4e2b9d6f01 deployed --data \'{"version": 3}\'',
    ],
    load: () => import('./flow-signal.ts'),
  },
  {
    name: 'flow skip',
    says: 'let a run pass a node without its work',
    usage: 'writ flow skip RUN NODE --comment TEXT',
    options: [
      { name: 'comment', value: 'TEXT', says: 'why; it is recorded and in the report' },
      STREAM,
      PASS_FD,
      HOME,
    ],
    examples: [
      'writ flow skip run-0197f2a4-7c11-7d3e-8a55-0c4e2b9d6f01 figures --comment "no figures needed"',
    ],
    load: () => import('./flow-skip.ts'),
  },
  {
    name: 'flow migrate',
    says: 'move a run to another version of its flow, after showing what changes',
    usage: 'writ flow migrate RUN FLOW [--all] [--yes --digest DIGEST] [--comment TEXT]',
    options: [
      { name: 'participants', value: 'FILE', says: 'who the agents of a plan are' },
      { name: 'side', value: 'FILE', says: 'the side file of a table' },
      { name: 'all', value: null, says: 'show every line and value, however long' },
      { name: 'yes', value: null, says: 'do not ask; needs `--digest`' },
      {
        name: 'digest',
        value: 'DIGEST',
        says: 'what was shown, as the call without `--yes` prints it',
      },
      { name: 'comment', value: 'TEXT', says: 'why; it is recorded and in the report' },
      STREAM,
      PASS_FD,
      HOME,
    ],
    examples: [
      'writ flow migrate run-0197f2a4-7c11-7d3e-8a55-0c4e2b9d6f01 book.yaml',
      'writ flow migrate run-0197f2a4-7c11-7d3e-8a55-0c4e2b9d6f01 book.yaml --all',
    ],
    load: () => import('./flow-migrate.ts'),
  },
  {
    name: 'flow cancel',
    says: 'end a run where it is; what it promoted stays, or is taken back',
    usage: 'writ flow cancel RUN [--undo] [--comment TEXT]',
    options: [
      {
        name: 'undo',
        value: null,
        says: 'take back what it promoted, the last act first; also of a run that has ended',
      },
      { name: 'comment', value: 'TEXT', says: 'why; it is recorded' },
      STREAM,
      PASS_FD,
      HOME,
    ],
    examples: ['writ flow cancel run-0197f2a4-7c11-7d3e-8a55-0c4e2b9d6f01 --comment "wrong input"'],
    load: () => import('./flow-cancel.ts'),
  },
]
