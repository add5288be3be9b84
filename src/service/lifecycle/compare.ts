/**
 * Compare: what the run did, against what was declared. Reads what the comparison needs to know of the
 * host (scripts, PATH, what points where, what git tracks), keeps the list of changes and the evidence
 * as bodies, and writes the result.
 */
import { type Digest, digestDocument } from '../../base/index.ts'
import type { Evaluation, Proposal } from '../../contracts/index.ts'
import {
  type Change,
  type Comparison,
  compareEffects,
  compareSteps,
  grantCase,
  heldRequests,
  isAmended,
  keepsHome,
  leavesHomeOut,
  namedPaths,
  needsNoDeclaration,
  undoUse,
} from '../../gate/index.ts'
import { keepEvidence } from '../acts/evidence.ts'
import { type HostReadings, readHost } from '../readings/host-readings.ts'
import type { Pointed } from '../readings/pointed.ts'
import { isOnDeviceOf } from '../readings/readings.ts'
import { KeptBodies } from '../records/kept-bodies.ts'
import type { Rehearsal } from '../rehearsal/rehearsal.ts'
import { buildResult } from '../rehearsal/result.ts'
import type { Admitted, Compared, GateParts, Rehearsed, Seen } from './act.ts'

/** Compares, with what lies in the person's home if they want to keep it. */
export async function compare(gate: GateParts, rehearsed: Rehearsed): Promise<Compared> {
  const { admitted, rehearsal } = rehearsed
  const { proposal } = admitted
  if (rehearsal === null || proposal === null) return { ...admitted, seen: null }
  const { evaluation } = admitted
  if (rehearsal.changes.length === 0) closeEarly(rehearsal)
  const read = await readRun(gate, evaluation, proposal, rehearsal)
  if (!(await wantsHome(admitted, rehearsal, read.comparison))) {
    return comparedBy(gate, admitted, { proposal, rehearsal, read })
  }
  const withHome: Admitted = { ...admitted, evaluation: { ...evaluation, home_kept: true } }
  const whole = await readRun(gate, withHome.evaluation, proposal, rehearsal)
  return comparedBy(gate, withHome, { proposal, rehearsal, read: whole })
}

/** Compares what lies in the scope alone. */
export async function compareScope(gate: GateParts, rehearsed: Rehearsed): Promise<Compared> {
  const { admitted, rehearsal } = rehearsed
  const { proposal, evaluation } = admitted
  if (rehearsal === null || proposal === null) return { ...admitted, seen: null }
  const read = await readRun(gate, evaluation, proposal, rehearsal)
  return comparedBy(gate, admitted, { proposal, rehearsal, read })
}

/** Closes the sandbox when nothing is read from its layers any more; the driver waits for its end. */
export function closeEarly({ sandbox }: Rehearsal): void {
  sandbox.close().catch(() => undefined)
}

async function wantsHome(
  { terms }: Admitted,
  { place }: Rehearsal,
  { findings, discarded }: Comparison,
): Promise<boolean> {
  const choose = terms.live?.chooseHome
  const left = findings.filter(({ code }) => code === 'effect.left_out')
  if (left.length === 0 || choose === undefined || terms.dryRun) return false
  if (!isOnDeviceOf(place, discarded)) return false
  const choice = await choose(left)
  // Nothing may be lost while a question waits.
  return choice === 'all' || choice === 'later'
}

interface ComparedRun {
  readonly comparison: Comparison
  readonly readings: HostReadings
  /** What the record keeps of it, so that the comparison can be computed again. */
  readonly noted: Omit<NonNullable<Evaluation['comparison']>, 'steps' | 'undo'>
}

async function readRun(
  gate: GateParts,
  evaluation: Evaluation,
  proposal: Proposal,
  rehearsal: Rehearsal,
): Promise<ComparedRun> {
  const { book } = gate
  const { changes, sandbox, session } = rehearsal
  const { layers } = sandbox
  const subject = { proposal, evaluation, changes, layers }
  const readings =
    rehearsal.readings ??
    (await readHost(gate, session === undefined ? subject : { ...subject, session }))
  const { scripts, directories, pointed, brought, tracked, gitChecked } = readings
  const made = changes.flatMap(({ path }) => (rehearsal.made?.has(path) === true ? [path] : []))
  const input = {
    descriptor: proposal.descriptor,
    changes,
    lists: book.lists,
    host: evaluation.host,
    isAmended: isAmended(evaluation),
    declaredByApproval: needsNoDeclaration(evaluation),
    ...namedPaths(evaluation),
    leavesHomeOut: leavesHomeOut(evaluation),
    keepsHome: keepsHome(evaluation),
    scriptsChanged: scripts,
    pathDirectories: directories,
    pointed,
    brought,
    grants: grantCase(evaluation, {
      tracked: new Set(tracked),
      gitChecked: new Set(gitChecked),
      made: new Set(made),
    }),
    network: { connections: rehearsal.network ?? [], grounds: evaluation.network ?? null },
  }
  const comparison =
    proposal.children === undefined ? compareEffects(input) : compareSteps(rehearsal.steps, input)
  const noted = {
    scripts_changed: [...scripts],
    path_directories: [...directories],
    ...(pointed.size === 0 ? {} : { pointed: pointedRows(pointed, brought) }),
    ...(tracked.length === 0 ? {} : { tracked: [...tracked] }),
    ...(gitChecked.length === 0 ? {} : { git_checked: [...gitChecked] }),
    ...(made.length === 0 ? {} : { made }),
    ...(comparison.givenUsed.length === 0 ? {} : { given_used: [...comparison.givenUsed] }),
  }
  return { comparison, noted, readings }
}

/** What the record keeps of what points to changed paths. */
export function pointedRows(pointed: Pointed['pointed'], brought: Pointed['brought']) {
  return [...pointed].map(([path, by]) => {
    const names = brought.get(path)
    return { path, by, ...(names === undefined ? {} : { names: [...names] }) }
  })
}

async function comparedBy(
  gate: GateParts,
  admitted: Admitted,
  {
    proposal,
    rehearsal,
    read,
  }: Pick<Seen, 'proposal' | 'rehearsal'> & { readonly read: ComparedRun },
): Promise<Compared> {
  const { evaluation, terms } = admitted
  const { comparison, noted, readings } = read
  const { objects } = gate.context.ledger
  const bodies = new KeptBodies(objects, terms.dryRun)
  const { changes, sandbox } = rehearsal
  const discarded = new Set(comparison.discarded.map(({ path }) => path))
  const digest = await bodies.manifest(changes, discarded)
  const result = buildResult({
    actionId: evaluation.action_id,
    // The digest of a document, made when the evaluation was begun.
    proposalDigest: evaluation.proposal_digest as Digest,
    rehearsal,
    comparison,
    manifest: digest,
    held: heldRequests(proposal),
  })
  if (!terms.dryRun) await keepEvidence(proposal, changes, sandbox.layers, objects)
  if (comparison.promoted.length === 0) closeEarly(rehearsal)
  const undo = await undoRoom(gate, evaluation, comparison.promoted)
  const steps = await keepSteps(bodies, proposal, rehearsal)
  const compared = { ...noted, ...undo, steps }
  const known = { ...evaluation, result_digest: digestDocument(result), comparison: compared }
  const manifest = { digest, changes, discarded }
  const seen = { proposal, rehearsal, result, comparison, readings, manifest, bodies }
  return { ...admitted, evaluation: known, seen }
}

/** An actor's act that no human approves must not use up what takes its other acts back. */
async function undoRoom(
  { view, book }: GateParts,
  evaluation: Evaluation,
  changes: readonly Change[],
): Promise<Pick<NonNullable<Evaluation['comparison']>, 'undo'>> {
  const { basis, held } = evaluation
  // What a flow's participants do is no person's own work either, though a person started the flow.
  const isOfFlow = held !== undefined && isAmended(evaluation)
  const isCounted = grantCase(evaluation) !== null || isOfFlow
  if (!isCounted || basis === undefined) return {}
  const kept_bytes = await view.ask((standing) =>
    undoUse(standing, basis.actor, evaluation.host.now_ms),
  )
  const needed_bytes = changes.reduce((sum, { before }) => sum + (before?.size ?? 0), 0)
  const quota_bytes = book.settings.retention.actorQuotaMb * 1024 ** 2
  return { undo: { needed_bytes, kept_bytes, quota_bytes } }
}

/** A composite's children, each with what it did beyond those before it. */
async function keepSteps(bodies: KeptBodies, proposal: Proposal, { steps }: Rehearsal) {
  if (proposal.children === undefined) return []
  const kept = []
  for (const { descriptor, changes } of steps) {
    const manifest = await bodies.manifest(changes, new Set())
    kept.push({ action_id: descriptor.action_id, manifest })
  }
  return kept
}
