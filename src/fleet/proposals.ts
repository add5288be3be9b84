/**
 * Proposals as jobs: a worker proposes the document through its own gate, in the name of the one
 * who queued it.
 *
 * INVARIANT (who): the machine that adds the job signs the document and whose proposal it is; the worker
 *   asks the register again, so a token that was revoked meanwhile proposes nothing.
 * INVARIANT (one outcome): each take of a job is a fact, in the commit of the first fact that its gate
 *   records, under a key that the next take does not have. A job that was taken before, or copied, finds
 *   it: nothing is rehearsed again about which something was decided.
 */
import { randomUUID } from 'node:crypto'
import type { Job, Task } from 'graphile-worker'
import {
  canonicalJson,
  type Digest,
  DOCUMENT_LIMITS,
  digestBytes,
  FaultError,
  faultError,
  readJson,
  showName,
} from '../base/index.ts'
import type { RequestKey } from '../contracts/index.ts'
import { type ActHistory, halfDone, openFact, readAct } from '../history/index.ts'
import type { Home } from '../home/index.ts'
import {
  bearerBy,
  type Caller,
  mayKnow,
  principalText,
  type Register,
  scopeFault,
  scopeOfCommand,
  unknownStream,
} from '../ledger/index.ts'
import type { AccompanyingRecord, GateAnswer, GateSurface } from '../service/index.ts'
import type { HomeServer, Ledger } from '../store/index.ts'
import {
  addJob,
  areTexts,
  JOB_FORMAT,
  type RunJob,
  requireSealed,
  taskOf,
  workspaceLabel,
} from './jobs.ts'
import { refuseRemoved } from './removed-job.ts'
import type { RollCall } from './roll-call.ts'
import { withSealOfNow } from './seal-of-now.ts'
import { addPatiently, type MachineStanding, takeTurn, type WorkerNews } from './turn.ts'

/** Whose proposal it is. */
interface Proposer {
  /** As text: `kind:id@namespace`. */
  readonly principal: string
  /** The digest of the token that was shown; null for the home's human, who has none. */
  readonly token: Digest | null
  /** The coding agent that queued it, where one was found above the command. */
  readonly agent: string | null
}

interface QueuedProposal {
  readonly action: string
  readonly stream: string
  /** The directory of the home on the machine that is to do it. */
  readonly workspace: string
  /** Labels that a worker needs. */
  readonly labels: readonly string[]
  readonly by: Proposer
  /** A text and no value: the server reads the rest of the job, and not every string of a document. */
  readonly document: string
}

export interface ProposalJob extends QueuedProposal {
  /** Makes two orders of one document two jobs, and a copy of a job the same one. */
  readonly nonce: string
  readonly seal?: RunJob['seal']
}

/** What a worker opens for a proposal. */
export interface ProposalHost {
  register(): Promise<Register>
  /** Opens a gate in the name of the caller, below the agent; `take` goes with its first fact. */
  withGate<T>(terms: GateTerms, work: (gate: GateSurface) => Promise<T>): Promise<T>
}

interface GateTerms {
  readonly caller: Caller
  readonly stream: string
  readonly agent: string | null
  readonly take?: AccompanyingRecord
}

interface ProposalPlace {
  readonly home: Home
  readonly ledger: Ledger
  readonly server: HomeServer
  readonly proposals: ProposalHost
  readonly tell: (news: WorkerNews) => void
  readonly machine: string
  readonly flags: { isForeign(flags: readonly string[]): boolean }
  readonly standing: MachineStanding
  readonly roll: RollCall
  readonly stop: AbortSignal
}

/** Another process has the act, or was faster to record it. */
const RESTS_MS = {
  'api.in_progress': 2_000,
  'descriptor.action_id_reused': 2_000,
  'workspace.busy': 2_000,
}
/** The gate ends a decision that was not carried out after a quarter of an hour. */
const UNFINISHED_MS = 20 * 60_000
const TASK = 'propose'

/** Adds a proposal; this machine signs it. */
export async function addProposal(server: HomeServer, given: QueuedProposal): Promise<void> {
  const job: ProposalJob = { ...given, nonce: randomUUID() }
  await putProposal(server, { ...job, seal: await server.seal(sealedProposal(server, job)) })
}

/** Adds it as it was signed. Without a key, because a copy has no effect. */
async function putProposal(
  server: HomeServer,
  job: ProposalJob,
  {
    machine = null,
    restMs = 0,
  }: { readonly machine?: string | null; readonly restMs?: number } = {},
): Promise<void> {
  const at = restMs === 0 ? null : new Date(Date.now() + restMs)
  const payload = { ...job, v: JOB_FORMAT }
  await addJob(server, taskOf(TASK, machine), payload, { key: null, flags: neededBy(job), at })
}

function neededBy({ labels, workspace }: QueuedProposal): readonly string[] {
  return [...new Set([...labels, workspaceLabel(workspace)])]
}

/** Returns whether a job is a proposal, and holds texts where a machine signs texts. */
export function isProposalJob(job: Partial<ProposalJob>): job is ProposalJob {
  const { action, stream, workspace, labels, by, document, nonce } = job
  const texts = [action, stream, workspace, document, nonce, by?.principal]
  return areTexts([...texts, by?.token ?? '', by?.agent ?? '', ...[labels].flat()])
}

export function sealedProposal({ schema }: Pick<HomeServer, 'schema'>, job: ProposalJob): string {
  const { action, stream, workspace, labels, by, nonce } = job
  const document = digestBytes(job.document)
  const terms = { schema, action, stream, workspace, labels, by, document, nonce }
  return `writ-proposal-v1\n${canonicalJson(terms)}\n`
}

/** One time that a worker took a job, by its fact. */
interface Take {
  readonly number: number
  readonly machine: string
  /** The fact with which it was recorded is the proposal itself, first of its id, without a release. */
  readonly hasProposed: boolean
}

interface TakenProposal {
  readonly job: ProposalJob
  /** Of its row. */
  readonly jobId: string
  /** Of what was signed. */
  readonly id: Digest
}

export class ProposalJobs {
  readonly #place: ProposalPlace

  constructor(place: ProposalPlace) {
    this.#place = place
  }

  tasks(): Readonly<Record<string, Task>> {
    const task: Task = (payload, { job }) => this.#told(payload, job)
    const own = this.#place.ledger.machineNames().map((name) => [taskOf(TASK, name), task])
    return { [TASK]: task, ...Object.fromEntries(own) }
  }

  #told(payload: unknown, job: Job): Promise<void> {
    const given = (payload ?? {}) as ProposalJob // Jobs of this task are made by `addProposal`.
    return takeTurn(this.#place, {
      words: { task: TASK, action: given.action },
      payload,
      job,
      work: (labels) => this.#carryOut(given, labels, job.id),
      again: (restMs) => this.#again(given, job, restMs),
      restsMs: RESTS_MS,
    })
  }

  #again(given: ProposalJob, { id }: Job, restMs: number): Promise<boolean> {
    const { server, stop } = this.#place
    return addPatiently(stop, async () =>
      putProposal(server, await withSealOfNow(server, given, id), { restMs }),
    )
  }

  async #carryOut(
    job: ProposalJob,
    labels: readonly string[],
    jobId: string,
  ): Promise<string | null> {
    const { server, flags, roll } = this.#place
    if (!isProposalJob(job)) throw noProposal()
    const text = sealedProposal(server, job)
    await requireSealed(server, { text, seal: job.seal, about: job.action })
    await refuseRemoved(this.#place.ledger, text, job.action)
    if (flags.isForeign([...labels, ...neededBy(job)])) {
      await putProposal(server, await withSealOfNow(server, job, jobId))
      return null
    }
    const name = `action/${job.stream}/${job.action.toLowerCase()}`
    const done = await roll.alone(name, () => this.#propose({ job, jobId, id: digestBytes(text) }))
    if (done !== null) return done.value
    throw faultError('flow.taken', job.action, 'another worker has this proposal')
  }

  /** Under the lock of the action. */
  async #propose({ job, jobId, id }: TakenProposal): Promise<string | null> {
    const { proposals, machine, stop } = this.#place
    const { action, stream, by } = job
    const caller = await this.#callerOf(job)
    const before = await this.#lastTake(job, id)
    if (before !== null) {
      const found = await this.#find({ job, jobId }, caller, before)
      if (found !== AGAIN) return found
    }
    const document = readJson(job.document, DOCUMENT_LIMITS)
    if (!document.ok) {
      const { code, path, message } = document.refusal
      throw faultError(code, path, message)
    }
    const number = (before?.number ?? -1) + 1
    const payload: RequestKey = {
      request_digest: id,
      body_digest: digestBytes(job.document),
      method: 'JOB',
      path: machine,
      subject: action,
    }
    const take = { type: 'request_key_v1', payload, key: takeKey(id, number) }
    const answer = await proposals.withGate({ caller, stream, agent: by.agent, take }, (gate) =>
      gate.propose(document.value, {
        door: 'propose',
        declaredByApproval: false,
        dryRun: false,
        confirm: async () => ({ kind: 'wait' }),
        abort: stop,
        job: number === 0 ? 'first' : 'again',
      }),
    )
    return statusOf(answer)
  }

  /** Fails unless who queued it may propose this now. */
  async #callerOf({ by, stream }: ProposalJob): Promise<Caller> {
    const register = await this.#place.proposals.register()
    const caller = by.token === null ? ownerOf(register) : bearer(register, by.token)
    if (principalText(caller.principal) !== by.principal) throw unknownProposer(by.principal)
    const refused = scopeFault(caller, scopeOfCommand('propose'))
    if (refused !== null) throw new FaultError(refused)
    if (!mayKnow(caller, stream)) throw new FaultError(unknownStream(stream))
    return caller
  }

  async #lastTake({ stream, action }: ProposalJob, id: Digest): Promise<Take | null> {
    const { ledger } = this.#place
    let last: Take | null = null
    let isFirst = true
    for (let number = 0; ; number++) {
      const key = takeKey(id, number)
      const query = { stream, idempotencyKey: key, limit: 1, order: 'oldest_first' } as const
      const [fact] = (await ledger.store.find(query)).facts
      if (fact === undefined) return last
      const { payload } = await openFact(ledger, fact.text)
      // The store judged the record by its contract before it was written.
      const { path: machine } = payload as RequestKey
      if (number === 0) isFirst = await this.#isOfProposal(stream, fact.seq - 1, action)
      last = { number, machine, hasProposed: isFirst }
    }
  }

  /** Of the first take: whether the fact before it in its commit is the proposal. */
  async #isOfProposal(stream: string, seq: number, action: string): Promise<boolean> {
    const { ledger } = this.#place
    const [fact] = seq < 0 ? [] : await ledger.store.read(stream, seq, 1)
    if (fact === undefined) return false
    const { record } = await openFact(ledger, fact.text)
    return record.type === 'proposal_v1' && record.idempotency_key === `proposal/${action}`
  }

  /** What became of a job that was taken before; `AGAIN` where nothing was decided about it. */
  async #find(
    { job, jobId }: Omit<TakenProposal, 'id'>,
    caller: Caller,
    take: Take,
  ): Promise<string | null> {
    const { proposals, ledger, home, server } = this.#place
    const { stream, action, by } = job
    await proposals.withGate({ caller, stream, agent: by.agent }, (gate) => gate.finish())
    const act = await readAct(ledger, stream, action, new Map())
    if (act === null) return 'unknown'
    if (act.outcome === 'unknown' && take.hasProposed) return AGAIN
    if (act.outcome !== 'unfinished' || isOld(act)) return act.outcome
    if ((await halfDone(home)).has(action.toLowerCase())) return 'interrupted'
    if (ledger.machineNames().includes(take.machine))
      throw faultError('flow.taken', action, 'the promotion of this act is not recorded yet')
    // Its rehearsed files lie there.
    const signed = await withSealOfNow(server, job, jobId)
    await putProposal(server, signed, { machine: take.machine })
    return null
  }
}

function noProposal(): Error {
  const hint = 'look who has the role of the server, and remove the job: `writ worker drop JOB`'
  return faultError('machine.job', '', 'the job holds no proposal as writ writes one', hint)
}

const AGAIN = 'again'

function takeKey(id: Digest, number: number): string {
  return `job/${id}/${number}`
}

function isOld({ decision }: ActHistory): boolean {
  return decision === null || Date.now() - Date.parse(decision.at) > UNFINISHED_MS
}

function statusOf({ promoted, pending }: GateAnswer): string {
  if (promoted) return 'promoted'
  return pending === undefined ? 'blocked' : 'waiting'
}

function ownerOf({ owner }: Register): Caller {
  if (owner === null) throw faultError('principal.unknown', '', 'the home has no human')
  return { principal: owner, streams: null, proof: 'none' }
}

function bearer(register: Register, digest: Digest): Caller {
  const answer = bearerBy(register, digest, Date.now())
  if (!answer.ok) throw new FaultError(answer.fault)
  return answer.caller
}

function unknownProposer(name: string): Error {
  const message = `the job is a proposal of ${showName(name)}, and its token is of another principal`
  return faultError('principal.unknown', name, message, 'queue the proposal again')
}
