/** `writ schedule list` and `writ schedule show`: when runs begin, what is pinned, what became of it. */
import type { ScheduleSlot } from '../../contracts/index.ts'
import { SYSTEM_CLOCK } from '../../machine/index.ts'
import {
  nextTimes,
  readSchedules,
  type Schedule,
  type ScheduleTrouble,
  slotsOf,
  troublesOf,
  unknownSchedule,
} from '../../schedules/index.ts'
import { type CommandCall, EXIT, type Exit, reply, usageError } from '../call/command.ts'
import { streamToRead, withHistory } from '../call/home.ts'
import type { Paint } from '../call/terminal.ts'
import { troublesText } from '../flow/schedule-trouble.ts'
import { plain, table } from '../history/text.ts'
import { MISSED_WORDS, OVERLAP_WORDS } from './schedule.ts'

const NEXT_SHOWN = 5
const SLOTS_SHOWN = 10

export async function list(call: CommandCall): Promise<Exit> {
  return withHistory(call, async (session) => {
    const { home, ledger } = session
    const place = { home, ledger, stream: await streamToRead(session, call), clock: SYSTEM_CLOCK }
    const rows = await Promise.all(
      (await readSchedules(place)).map(async (one) => ({
        ...rowOf(one),
        troubles: await troublesOf(place, one),
      })),
    )
    const { terminal, options } = call
    if (options.isOn('json')) await terminal.out(`${JSON.stringify({ schedules: rows })}\n`)
    else if (rows.length === 0)
      await terminal.out('no schedules: writ schedule add NAME CRON FLOW\n')
    else {
      const heads = ['schedule', 'flow', 'times', 'zone', 'next', 'last']
      const cells = rows.map(({ name, title, cron, zone, paused, next, last }) => [
        name,
        plain(title),
        plain(cron),
        plain(zone),
        paused ? 'paused' : (next ?? 'never'),
        last === null ? '' : plain(slotWords(last)),
      ])
      const troubles = rows.flatMap((one) => one.troubles)
      const text = table(terminal, heads, cells)
      await terminal.out(`${text}${troublesText(troubles, terminal.paint)}`)
    }
    return EXIT.yes
  })
}

function rowOf({ name, terms, isPaused, last }: Schedule) {
  const { cron, zone, title, flow_id, workspace, missed, overlap } = terms
  const next = isPaused ? null : (moments({ cron, zone }, 1)[0] ?? null)
  const about = { title: title || flow_id, flow_id, workspace, missed, overlap }
  return { name, ...about, cron, zone, paused: isPaused, next, last }
}

function moments(timing: { readonly cron: string; readonly zone: string }, count: number) {
  return nextTimes(timing, Date.now(), count).map((at) => new Date(at).toISOString())
}

/** What became of a time, in a few words. */
function slotWords({ slot, kind, why, code, missed }: ScheduleSlot): string {
  const more =
    missed === undefined ? '' : `, for ${missed} earlier ${missed === 1 ? 'time' : 'times'} too`
  if (kind === 'claimed') return `${slot} run${more}`
  if (kind === 'skipped') return `${slot} skipped (${why ?? ''})${more}`
  return `${slot} failed (${code ?? ''})`
}

export async function show(call: CommandCall): Promise<Exit> {
  const [name, ...others] = call.arguments
  if (name === undefined || others.length > 0)
    throw usageError('name one schedule', 'writ schedule list')
  return withHistory(call, async (session) => {
    const { home, ledger } = session
    const place = { home, ledger, stream: await streamToRead(session, call), clock: SYSTEM_CLOCK }
    const known = await readSchedules(place)
    const found = known.find((one) => one.name === name)
    if (found === undefined) throw unknownSchedule(name, known)
    const { terms, by, setAt, isPaused } = found
    const next = isPaused ? [] : moments(terms, NEXT_SHOWN)
    const slots = await slotsOf(place, name, SLOTS_SHOWN)
    const troubles = await troublesOf(place, found)
    const answer = { name, ...terms, by, set_at: setAt, paused: isPaused, next, slots, troubles }
    return reply(call, answer, (paint) => showText(found, next, slots, troubles, paint))
  })
}

function showText(
  { name, terms, setAt, by, isPaused }: Schedule,
  next: readonly string[],
  slots: readonly ScheduleSlot[],
  troubles: readonly ScheduleTrouble[],
  paint: Paint,
): string {
  const { cron, zone, title, flow_id, workspace, missed, overlap, files } = terms
  return [
    `${paint.strong(name)}  ${plain(title || flow_id)} at ${plain(cron)} (${plain(zone)})\n`,
    `in ${plain(workspace)}, set by ${plain(`${by.kind}:${by.id}`)} at ${setAt}\n`,
    `${MISSED_WORDS[missed]}\n${OVERLAP_WORDS[overlap]}\n`,
    ...files.map(({ role, path, digest }) => `${role}  ${plain(path)}  ${paint.dim(digest)}\n`),
    isPaused ? 'paused: writ schedule resume\n' : `next  ${next.join(', ')}\n`,
    ...slots.map((one) => `  ${plain(slotWords(one))}  ${paint.dim(plain(one.run_id ?? ''))}\n`),
    troublesText(troubles, paint),
  ].join('')
}
