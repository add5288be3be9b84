/**
 * `writ schedule add`, `update`, `pause`, `resume` and `remove`: what a human says about a schedule (X-3).
 * The flow is read and checked here, once, and pinned; runs walk what was pinned.
 */
import { resolve } from 'node:path'
import { faultError, showName } from '../../base/index.ts'
import type { ScheduleChange, ScheduleTerms } from '../../contracts/index.ts'
import {
  checkTiming,
  dueSlot,
  nextTimes,
  pinFlow,
  pinnedFile,
  readSchedules,
  recordChange,
  type Schedule,
  unknownSchedule,
} from '../../schedules/index.ts'
import { type CommandCall, type Exit, reply, usageError } from '../call/command.ts'
import { proveHuman, refuseOthers, type Session, streamToWrite, withHome } from '../call/home.ts'
import type { Paint } from '../call/terminal.ts'
import { readFlow } from '../flow/load.ts'
import { refuseFlow } from '../flow/problem.ts'
import { plain } from '../history/text.ts'
import { workspaceOf } from './flow-run.ts'

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const ADD = 'writ schedule add nightly "30 2 * * *" FLOW'

interface ScheduleSources {
  readonly cron: string
  readonly flow: string
  readonly workspace: string
  readonly participants: string | null
  readonly side: string | null
  readonly zone: string
  readonly missed: ScheduleTerms['missed']
  readonly overlap: ScheduleTerms['overlap']
}

export async function add(call: CommandCall): Promise<Exit> {
  const [name, cron, flow, ...others] = call.arguments
  if (name === undefined || cron === undefined || flow === undefined || others.length > 0)
    throw usageError('name the schedule, its times and one flow', ADD)
  if (!NAME.test(name))
    throw usageError(`${showName(name)} is no name: letters, digits, \`.\`, \`_\` and \`-\``, ADD)
  return withHome(call, async (session) => {
    refuseOthers(session.caller, 'adding a schedule')
    const { known } = await knownSchedules(session, call)
    if (known.some((one) => one.name === name)) {
      const hint = `writ schedule update ${name}, or another name`
      throw faultError('schedule.exists', name, `there is a schedule ${showName(name)}`, hint)
    }
    const usual = { missed: 'once', overlap: 'skip', zone: ownZone() } as const
    const given = { cron, flow: resolve(flow), workspace: workspaceOf(call), ...filesOf(call) }
    return set(session, call, name, { ...usual, ...given, ...policiesOf(call) })
  })
}

function ownZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

export async function update(call: CommandCall): Promise<Exit> {
  return withHome(call, async (session) => {
    refuseOthers(session.caller, 'changing a schedule')
    const { name, terms } = await namedSchedule(session, call)
    const pathOf = (role: string): string | null =>
      terms.files.find((one) => one.role === role)?.path ?? null
    const { cron, zone, missed, overlap, workspace } = terms
    const before = { cron, zone, missed, overlap, workspace, side: pathOf('side') }
    const flow = call.options.text('flow')
    return set(session, call, name, {
      ...before,
      participants: pathOf('participants'),
      flow: flow === null ? (pathOf('flow') ?? '') : resolve(flow),
      ...(call.options.text('workspace') === null ? {} : { workspace: workspaceOf(call) }),
      ...(call.options.text('cron') === null ? {} : { cron: call.options.text('cron') ?? cron }),
      ...givenFiles(call),
      ...policiesOf(call),
    })
  })
}

function filesOf(call: CommandCall) {
  return { participants: null, side: null, ...givenFiles(call) }
}

function givenFiles({ options }: CommandCall): Partial<ScheduleSources> {
  const [participants, side] = [options.text('participants'), options.text('side')]
  return {
    ...(participants === null ? {} : { participants: resolve(participants) }),
    ...(side === null ? {} : { side: resolve(side) }),
  }
}

function policiesOf({ options }: CommandCall): Partial<ScheduleSources> {
  const zone = options.text('zone')
  const missed = oneOf('missed', options.text('missed'), ['once', 'skip'] as const)
  const overlap = oneOf('overlap', options.text('overlap'), ['skip', 'allow'] as const)
  return {
    ...(zone === null ? {} : { zone }),
    ...(missed === null ? {} : { missed }),
    ...(overlap === null ? {} : { overlap }),
  }
}

function oneOf<T extends string>(name: string, given: string | null, words: readonly T[]) {
  if (given === null) return null
  const found = words.find((word) => word === given)
  if (found !== undefined) return found
  throw usageError(`\`--${name}\` is ${words.map((word) => `\`${word}\``).join(' or ')}`)
}

/** Reads and checks the flow, pins it and its files, and records the terms. */
async function set(
  session: Session,
  call: CommandCall,
  name: string,
  sources: ScheduleSources,
): Promise<Exit> {
  const { cron, zone, workspace, missed, overlap, flow: file, participants, side } = sources
  checkTiming({ cron, zone }, Date.now())
  const source = await readFlow(file, participants, side)
  if (!source.ok) return refuseFlow(call, file, { participants, side }, source.violations)
  const { flow, participantsDigest, subflows } = source
  const files = [
    pinnedFile('flow', file),
    ...(participants === null ? [] : [pinnedFile('participants', participants)]),
    ...(side === null ? [] : [pinnedFile('side', side)]),
    ...subflows.map((path) => pinnedFile('subflow', path)),
  ]
  const { flow_id, title } = flow.document
  const digests = { flow_digest: flow.digest, participants_digest: participantsDigest }
  const named = { workspace, flow_id, title, ...digests, files }
  const terms: ScheduleTerms = { cron: cron.trim(), zone, ...named, missed, overlap }
  await proveHuman(session, call, 'setting a schedule')
  await pinFlow(session.ledger, flow)
  await record(session, call, { name, change: 'set', at: nowText(), terms })
  const next = nextTimes(terms, Date.now(), 1).map((at) => new Date(at).toISOString())[0] ?? null
  const answer = { ok: true, name, ...terms, next }
  return reply(call, answer, (paint) => setText(name, terms, next, paint))
}

function setText(name: string, terms: ScheduleTerms, next: string | null, paint: Paint): string {
  const { cron, zone, title, flow_id, workspace, missed, overlap } = terms
  return [
    `${paint.good('set')}  ${paint.strong(name)}  ${plain(title || flow_id)} at ${plain(cron)} (${plain(zone)}), in ${plain(workspace)}`,
    `next  ${next ?? 'never'}`,
    MISSED_WORDS[missed],
    OVERLAP_WORDS[overlap],
    'the flow and its files are pinned as they are now; after an edit: writ schedule update',
    `its runs are started by: writ schedule run\n`,
  ].join('\n')
}

export const MISSED_WORDS = {
  once: 'times that pass while no process looks: one run begins for all of them',
  skip: 'times that pass while no process looks are skipped',
} as const

export const OVERLAP_WORDS = {
  skip: 'a time that comes while the last run is open is skipped',
  allow: 'a time that comes while the last run is open begins another run',
} as const

export async function pause(call: CommandCall): Promise<Exit> {
  return change(call, 'paused', 'pausing a schedule', async () => 'paused')
}

export async function resume(call: CommandCall): Promise<Exit> {
  return change(call, 'resumed', 'resuming a schedule', async ({ terms, setAt, last }) => {
    const sinceMs = Math.max(Date.parse(setAt), last === null ? 0 : Date.parse(last.slot))
    const due = dueSlot(terms, sinceMs, Date.now())
    if (due === null) return 'resumed'
    const count = due.missed + 1
    const follows = terms.missed === 'once' ? 'one run begins for all of them' : 'skipped'
    return `resumed; ${count} ${count === 1 ? 'time' : 'times'} passed meanwhile: ${follows} at the next look`
  })
}

export async function remove(call: CommandCall): Promise<Exit> {
  return change(call, 'removed', 'removing a schedule', async () => 'removed; its runs stay')
}

async function change(
  call: CommandCall,
  kind: 'paused' | 'resumed' | 'removed',
  what: string,
  words: (schedule: Schedule) => Promise<string>,
): Promise<Exit> {
  return withHome(call, async (session) => {
    refuseOthers(session.caller, what)
    const schedule = await namedSchedule(session, call)
    // Stopping is always allowed to a human, as `halt` is.
    if (kind !== 'paused') await proveHuman(session, call, what)
    const says = await words(schedule)
    await record(session, call, { name: schedule.name, change: kind, at: nowText() })
    return reply(call, { ok: true, name: schedule.name, change: kind }, () => `${says}\n`)
  })
}

function nowText(): string {
  return new Date().toISOString()
}

async function record(session: Session, call: CommandCall, to: ScheduleChange): Promise<void> {
  const { ledger, caller } = session
  const stream = streamToWrite(session, call)
  await recordChange({ ledger, stream, principal: caller.principal }, to)
}

async function knownSchedules(session: Session, call: CommandCall) {
  const stream = streamToWrite(session, call)
  return { known: await readSchedules({ ledger: session.ledger, stream }) }
}

async function namedSchedule(session: Session, call: CommandCall): Promise<Schedule> {
  const [name, ...others] = call.arguments
  if (name === undefined || others.length > 0)
    throw usageError('name one schedule', 'writ schedule list')
  const { known } = await knownSchedules(session, call)
  const found = known.find((one) => one.name === name)
  if (found === undefined) throw unknownSchedule(name, known)
  return found
}
