/** The table of `writ schedule …`, in the order of help. Words only. */
import type { Command, OptionWords } from '../call/command.ts'
import { HOME, PASS_FD, STREAM } from '../call/command.ts'

const TERMS: readonly OptionWords[] = [
  { name: 'workspace', value: 'DIR', says: 'where the work is done; here without it' },
  {
    name: 'participants',
    value: 'FILE',
    says: 'who the agents of a plan are (participants_v1)',
  },
  { name: 'side', value: 'FILE', says: 'the side file of an edge table' },
  {
    name: 'zone',
    value: 'ZONE',
    says: 'the IANA time zone of the times; that of this machine without it',
  },
  {
    name: 'missed',
    value: 'POLICY',
    says: 'times that passed unseen: `once` runs one for all (usual), `skip` none',
  },
  {
    name: 'overlap',
    value: 'POLICY',
    says: 'while the last run is open: `skip` the time (usual), or `allow` another run',
  },
]

export const SCHEDULE_COMMANDS: readonly Command[] = [
  {
    name: 'schedule add',
    says: 'run a flow at set times',
    usage: 'writ schedule add NAME CRON FLOW [--participants FILE] [--zone ZONE] …',
    options: [...TERMS, STREAM, PASS_FD, HOME],
    examples: [
      'writ schedule add nightly "30 2 * * *" paper.yaml --zone Europe/Berlin',
      'writ schedule add weekly "0 9 * * 1" plan.json --participants participants.yaml',
    ],
    load: async () => ({ run: (await import('./schedule.ts')).add }),
  },
  {
    name: 'schedule update',
    says: 'pin the files of a schedule as they are now, or change its times',
    usage: 'writ schedule update NAME [--cron CRON] [--flow FILE] …',
    options: [
      { name: 'cron', value: 'CRON', says: 'five fields: minute, hour, day, month, weekday' },
      { name: 'flow', value: 'FILE', says: 'another flow, edge table or plan' },
      ...TERMS,
      STREAM,
      PASS_FD,
      HOME,
    ],
    examples: ['writ schedule update nightly', 'writ schedule update nightly --cron "0 3 * * *"'],
    load: async () => ({ run: (await import('./schedule.ts')).update }),
  },
  {
    name: 'schedule list',
    says: 'list the schedules with their next times',
    usage: 'writ schedule list',
    options: [STREAM, HOME],
    examples: ['writ schedule list', 'writ schedule list --json'],
    load: async () => ({ run: (await import('./schedule-view.ts')).list }),
  },
  {
    name: 'schedule show',
    says: 'show a schedule: what is pinned, its next times, its last runs',
    usage: 'writ schedule show NAME',
    options: [STREAM, HOME],
    examples: ['writ schedule show nightly'],
    load: async () => ({ run: (await import('./schedule-view.ts')).show }),
  },
  {
    name: 'schedule pause',
    says: 'start no run of a schedule until it is resumed',
    usage: 'writ schedule pause NAME',
    options: [STREAM, HOME],
    examples: ['writ schedule pause nightly'],
    load: async () => ({ run: (await import('./schedule.ts')).pause }),
  },
  {
    name: 'schedule resume',
    says: 'start the runs of a paused schedule again',
    usage: 'writ schedule resume NAME',
    options: [STREAM, PASS_FD, HOME],
    examples: ['writ schedule resume nightly'],
    load: async () => ({ run: (await import('./schedule.ts')).resume }),
  },
  {
    name: 'schedule remove',
    says: 'end a schedule; its runs stay',
    usage: 'writ schedule remove NAME',
    options: [STREAM, PASS_FD, HOME],
    examples: ['writ schedule remove nightly'],
    load: async () => ({ run: (await import('./schedule.ts')).remove }),
  },
  {
    name: 'schedule run',
    says: 'start the runs of schedules when their times come',
    usage: 'writ schedule run [--once | --attached] [--jsonl]',
    options: [
      {
        name: 'once',
        value: null,
        says: 'look once, and leave when these runs have ended or wait',
      },
      { name: 'attached', value: null, says: 'end when the standard input ends' },
      { name: 'jsonl', value: null, says: 'print what happens as JSON, one line each' },
      STREAM,
      HOME,
    ],
    examples: ['writ schedule run', 'writ schedule run --once   # from cron or a systemd timer'],
    load: async () => ({ run: (await import('./schedule-run.ts')).run }),
  },
]
