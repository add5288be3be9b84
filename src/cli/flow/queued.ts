/** Runs and proposals that are queued for a worker: no fact tells of them yet. */
import { faultCode, faultError, showName } from '../../base/index.ts'
import { dropJob, findingOf, type SeenJob, seenIfPrepared, serverOf } from '../../fleet/index.ts'
import { mayKnow } from '../../ledger/index.ts'
import { hasBegun } from '../../runs/index.ts'
import { pinnedFlow } from '../../schedules/index.ts'
import { machineNamer } from '../../store/index.ts'
import { type CommandCall, EXIT, type Exit, reply } from '../call/command.ts'
import { isOfWholeHost, type ReadSession, type Session } from '../call/home.ts'
import { plain } from '../history/text.ts'

type Place = Pick<ReadSession, 'ledger' | 'caller'>

interface QueuedWork {
  /** The whole id of the run or the action. */
  readonly id: string
  readonly job: SeenJob
  readonly why: string
}

/** Returns what is queued in a stream, or in every one that the caller may know of. */
export async function queuedWork(
  { ledger, caller }: Place,
  kind: 'run' | 'action',
  stream: string | null,
): Promise<readonly QueuedWork[]> {
  if (ledger.server === null) return []
  const { jobs, workers } = await seenIfPrepared(ledger.server)
  const nameOf = await machineNamer(ledger)
  return jobs.flatMap((job) => {
    const id = kind === 'run' ? (job.begins === null ? null : job.run) : job.action
    const of = job.stream ?? ''
    if (id === null || !mayKnow(caller, of) || (stream !== null && of !== stream)) return []
    const isTaken = job.state === 'taken'
    const usual = isTaken ? 'a worker has it' : 'a worker takes it next'
    return [{ id, job, why: findingOf(job, workers, { nameOf }) ?? usual }]
  })
}

const SHORT_ID_MIN = 4

/** Returns the one that is named by its id or a part of it; null if none is, or several are. */
export function namedWork(all: readonly QueuedWork[], given: string): QueuedWork | null {
  const isNamed = ({ id }: QueuedWork): boolean =>
    id === given || (given.length >= SHORT_ID_MIN && id.includes(given))
  const [only, ...others] = all.filter(isNamed)
  return only === undefined || others.some(({ id }) => id !== only.id) ? null : only
}

/** Returns the run that a command names, where it is queued; fails with `error` otherwise. */
export async function queuedRun(
  place: Place,
  stream: string | null,
  given: string | undefined,
  error: unknown,
): Promise<QueuedWork> {
  if (given === undefined || faultCode(error) !== 'flow.unknown_run') throw error
  const found = namedWork(await queuedWork(place, 'run', stream), given)
  if (found === null) throw error
  return found
}

/** Says what is queued and why it waits, with the commands that this caller may run. */
export async function tellQueued(
  call: CommandCall,
  { caller }: Place,
  { id, job, why }: QueuedWork,
): Promise<Exit> {
  const of = job.begins === null ? { action_id: id } : { run_id: id }
  const answer = { ...of, status: 'QUEUED', job: job.id, state: job.state, finding: why }
  const next = isOfWholeHost(caller)
    ? [
        'writ worker list',
        job.begins === null ? `writ worker drop ${job.id}` : `writ flow cancel ${id}`,
      ]
    : []
  await reply(call, answer, ({ accent }) => {
    const lines = [
      `${accent('QUEUED')}  ${plain(id)}: ${plain(why)}`,
      ...next.map((one) => `  ${one}`),
    ]
    return `${lines.join('\n')}\n`
  })
  return EXIT.waiting
}

/** Removes the job of a run that has not begun, so that a copy of it begins none either. */
export async function removeQueued(
  call: CommandCall,
  { ledger, caller }: Pick<Session, 'ledger' | 'caller'>,
  { id, job }: QueuedWork,
): Promise<Exit> {
  if (!(await dropJob(serverOf(ledger), ledger, job.id, caller.principal))) {
    const message = `a worker begins the run ${showName(id)} at this moment`
    throw faultError('flow.taken', id, message, `type it again: writ flow cancel ${id}`)
  }
  return reply(
    call,
    { run_id: id, status: 'CANCELLED', queued: true, acts: [] },
    ({ bad }) => `${bad('removed')}  ${plain(id)} from the queue: it had not begun\n`,
  )
}

interface QueuedRow {
  readonly run_id: string
  readonly title: string
  readonly flow_id: string
  readonly finding: string
}

/** Returns the queued runs of a stream that have not begun, with their flows. */
export async function queuedRows(place: Place, stream: string): Promise<readonly QueuedRow[]> {
  const { ledger } = place
  const rows = await Promise.all(
    (await queuedWork(place, 'run', stream)).map(async ({ id, job, why }) => {
      // The job stays while a worker walks its run.
      if (await hasBegun({ ledger, stream }, id)) return []
      const document = (await pinnedFlow(ledger, job.begins ?? ''))?.document
      const flow_id = document?.flow_id ?? ''
      return [{ run_id: id, title: document?.title || flow_id, flow_id, finding: why }]
    }),
  )
  return rows.flat()
}
