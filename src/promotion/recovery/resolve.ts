/**
 * Carries out what a person chose for the paths at which recovery stopped. Keeps the entries that a
 * choice displaces among the pre-images; destroys nothing. Then finishes the rest of the exchange or
 * puts it back as a whole, as the person said, and records it.
 */
import { mkdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { FaultError, fault, faultError, showName } from '../../base/index.ts'
import { isBelow, type RawPath, rawOfText } from '../../gate/index.ts'
import { lookAt } from '../entries/entry.ts'
import { Collision, displayed, listed } from '../entries/failure.ts'
import { existsAt, Ground } from '../entries/ground.ts'
import type { ExchangeStep } from '../entries/plan.ts'
import { applyStep, hasBegun, undoStep, type Work } from '../exchange/apply.ts'
import { recoveryConflict } from '../exchange/exchange-ends.ts'
import { type Exchange, type ExchangeKind, readPlan } from '../journal/exchange.ts'
import { Journal, openJournals } from '../journal/journal.ts'
import { strangePaths } from './look.ts'
import { endExchange, goBack, goForwards, type RecoveryRequest, recordEnd } from './recover.ts'

/** `keep` leaves what is there; `old` and `new` put that in its place and keep what was there. */
export type Choice = 'keep' | 'old' | 'new'

/** So many digits of an id name an exchange. */
const ID_MIN = 4

interface ResolveRequest extends RecoveryRequest {
  readonly id: string
  readonly direction: 'APPLIED' | 'REVERTED'
  readonly choices: ReadonlyMap<RawPath, Choice>
}

interface Resolved {
  readonly id: string
  readonly kind: ExchangeKind
  /** How many paths were put in place, or put back. */
  readonly paths: number
  /** How many paths a person chose for. */
  readonly chosen: number
}

/** Fails with `recovery.conflict` for the paths that have no choice, before anything is changed. */
export async function resolveRecovery(request: ResolveRequest): Promise<Resolved> {
  const { state, direction } = request
  const { open, plan } = findOpen(request)
  const { id } = open
  const ground = new Ground()
  const work: Work = {
    ground,
    identities: new Map(),
    seen: new Map(),
    onPoint: request.onPoint ?? (() => {}),
  }
  const journal = Journal.resume(state, id)
  try {
    const { exchange, digest } = plan
    const marks = direction === 'REVERTED' ? [...open.marks, 'reverting' as const] : open.marks
    const strange = await strangePaths(exchange, marks, ground)
    const unchosen = strange.filter((path) => choiceFor(path, request.choices) === null)
    if (unchosen.length > 0) throw recoveryConflict(id, unchosen)
    refuseSpent(exchange, id, strange, request.choices)
    const settled = settleChosen(work, exchange, strange, request.choices)
    const rest = without(exchange, settled)
    const steps = stepsOf(rest).filter((step) => direction === 'APPLIED' || hasBegun(step))
    const go = direction === 'REVERTED' ? goBack : goForwards
    const stopped = await go(work, rest, journal, open.marks)
    if (stopped.length > 0) throw recoveryConflict(id, stopped)
    await recordEnd(request, rest, digest, request.direction)
    await endExchange(work, exchange, journal, request.direction)
    const paths = steps.reduce((sum, { changes }) => sum + changes.length, 0)
    return { id, kind: exchange.kind, paths, chosen: settled.size }
  } finally {
    ground.close()
  }
}

/** Finds the exchange by its id, or by a beginning of the id that names one alone. */
function findOpen({ id: named, state, lock }: ResolveRequest) {
  const wanted = named.toLowerCase()
  const workspace = rawOfText(lock.root)
  const found = openJournals(state).filter(
    ({ id, intent }) =>
      wanted.length >= ID_MIN && id.startsWith(wanted) && intent?.workspace === workspace,
  )
  const [open, ...others] = found
  const plan = open?.intent == null ? null : readPlan(open.intent.keep)
  const isNamed = open !== undefined && others.length === 0
  if (isNamed && plan !== null && plan.digest === open.intent?.plan) return { open, plan }
  throw faultError('recovery.unknown', named, `nothing interrupted has the id ${showName(named)}`)
}

function stepsOf({ parts }: Exchange): readonly ExchangeStep[] {
  return parts.flatMap(({ steps }) => steps)
}

/**
 * Fails if the new version is chosen for a path where it was put before and changed since: it was moved
 * there, not copied, so there is no other.
 */
function refuseSpent(
  exchange: Exchange,
  id: string,
  strange: readonly RawPath[],
  choices: ReadonlyMap<RawPath, Choice>,
): void {
  const spent = stepsOf(exchange)
    .filter(({ path, put }) => {
      const found = strange.find((one) => isBelow(one, path))
      const isChosen = found !== undefined && choiceFor(found, choices) === 'new'
      return isChosen && put !== null && !existsAt(put)
    })
    .map(({ path }) => path)
  if (spent.length === 0) return
  const paths = displayed(spent)
  const message = `the new version was put in place before and changed there, so there is no copy of it: ${listed(paths)}`
  const hint = `choose \`--keep\` or \`--old\` for it; ${RERUN}`
  const words = { message, hint }
  throw new FaultError(fault('recovery.conflict', paths[0] ?? '', { id, paths }, words))
}

const RERUN = 'to get the new version again, run the command once more afterwards'

/** A choice for a path counts for everything below it. */
function choiceFor(path: RawPath, choices: ReadonlyMap<RawPath, Choice>): Choice | null {
  for (const [chosen, choice] of choices) if (isBelow(path, chosen)) return choice
  return null
}

/** The steps that were settled by a choice; the rest goes its way without them. */
function settleChosen(
  work: Work,
  exchange: Exchange,
  strange: readonly RawPath[],
  choices: ReadonlyMap<RawPath, Choice>,
): ReadonlySet<ExchangeStep> {
  const settled = new Set<ExchangeStep>()
  for (const step of stepsOf(exchange)) {
    const found = strange.find((path) => isBelow(path, step.path))
    if (found === undefined) continue
    settled.add(step)
    const choice = choiceFor(found, choices)
    if (choice === 'keep' || choice === null) continue
    setAside(work, exchange, step, settled.size)
    if (choice === 'new') applyStep(work, { ...step, take: null })
    else putOldBack(work, step)
  }
  return settled
}

/** Moves the entry at the path into the directory of pre-images, under a name of its own. */
function setAside(
  { ground }: Work,
  { keep }: Exchange,
  { path }: ExchangeStep,
  number: number,
): void {
  const address = ground.at(path)
  if (lookAt(address) === null) return
  const aside = join(keep, 'aside')
  mkdirSync(aside, { recursive: true, mode: 0o700 })
  renameSync(address, join(aside, `${number}-${Date.now()}`))
}

function putOldBack(work: Work, step: ExchangeStep): void {
  if (step.take === null) return
  if (lookAt(step.take) === null) {
    throw faultError('recovery.unknown', step.take, 'the old entry was never taken away')
  }
  const { others, left } = undoStep(work, { ...step, put: null })
  if (others.length + left.length > 0) throw new Collision([...others, ...left])
}

function without(exchange: Exchange, settled: ReadonlySet<ExchangeStep>): Exchange {
  const parts = exchange.parts.map(({ actionId, steps }) => ({
    actionId,
    steps: steps.filter((step) => !settled.has(step)),
  }))
  return { ...exchange, parts }
}
