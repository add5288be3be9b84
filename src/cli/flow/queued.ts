/** Runs and proposals that are queued for a worker: no fact tells of them yet. */
import { faultCode, faultError, showName } from '../../base/index.ts'
import {
  dropJob,
  findingOf,
  jobsIfPrepared,
  type SeenJob,
  serverOf,
  workersIfPrepared,
} from '../../fleet/index.ts'
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

/** Which jobs of runs or of proposals are looked for: by a part of an id, or those that begin runs. */
interface WorkAsked {
  readonly kind: 'run' | 'action'
  /** Null for every stream that the caller may know of. */
  readonly stream: string | null
  readonly about?: string
  readonly beginsIn?: string
}

interface FoundWork {
  readonly found: readonly QueuedWork[]
  /** How many jobs were not looked at. */
  readonly more: number
}

async function queuedWork(
  { ledger, caller }: Place,
  { kind, stream, ...asked }: WorkAsked,
): Promise<FoundWork> {
  const { server } = ledger
  if (server === null) return { found: [], more: 0 }
  const { jobs, more } = await jobsIfPrepared(server, asked)
  const workers = jobs.length === 0 ? [] : await workersIfPrepared(server)
  const nameOf = await machineNamer(ledger)
  const found = jobs.flatMap((job) => {
    const id = kind === 'run' ? (job.begins === null ? null : job.run) : job.action
    const of = job.stream ?? ''
    if (id === null || !mayKnow(caller, of) || (stream !== null && of !== stream)) return []
    const isTaken = job.state === 'taken'
    const usual = isTaken ? 'a worker has it' : 'a worker takes it next'
    return [{ id, job, why: findingOf(job, workers, { nameOf }) ?? usual }]
  })
  return { found, more }
}

const SHORT_ID_MIN = 4

/**
 * Returns what a caller names by its id or a part of it, in a stream or in every one that they may know of;
 * null if there is none, or there are several.
 */
export async function namedWork(
  place: Place,
  kinds: readonly WorkAsked['kind'][],
  stream: string | null,
  given: string,
): Promise<QueuedWork | null> {
  if (given.length < SHORT_ID_MIN) return null
  const lists = kinds.map((kind) => queuedWork(place, { kind, stream, about: given }))
  const all = (await Promise.all(lists)).flatMap(({ found }) => found)
  const exact = all.find(({ id }) => id === given)
  const [only, ...others] = all
  if (exact !== undefined) return exact
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
  const found = await namedWork(place, ['run'], stream, given)
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
  const terms = { principal: caller.principal, keepsBegun: true }
  if (!(await dropJob(serverOf(ledger), ledger, job.id, terms))) {
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

interface QueuedRuns {
  readonly rows: readonly QueuedRow[]
  /** How many more jobs are queued, besides those that were looked at. */
  readonly more: number
}

/** Returns the queued runs of a stream that have not begun, with their flows. */
export async function queuedRuns(place: Place, stream: string): Promise<QueuedRuns> {
  const { ledger } = place
  const { found, more } = await queuedWork(place, { kind: 'run', stream, beginsIn: stream })
  const rows = await Promise.all(
    found.map(async ({ id, job, why }) => {
      // The job stays while a worker walks its run.
      if (await hasBegun({ ledger, stream }, id)) return []
      const document = (await pinnedFlow(ledger, job.begins ?? ''))?.document
      const flow_id = document?.flow_id ?? ''
      return [{ run_id: id, title: document?.title || flow_id, flow_id, finding: why }]
    }),
  )
  return { rows: rows.flat(), more }
}

/** Of an answer as a document: what is queued, where anything is. */
export function queuedAnswer({ rows, more }: QueuedRuns): object {
  return {
    ...(rows.length === 0 ? {} : { queued: rows }),
    ...(more === 0 ? {} : { queued_more: more }),
  }
}

export function moreText(more: number): string {
  return more === 0 ? '' : `and ${more} more jobs are queued\n`
}
