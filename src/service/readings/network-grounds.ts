/** What is known of a proposal's network before it runs: by which rules, and what a human released. */
import { digestDocument } from '../../base/index.ts'
import type { NetworkGrounds, Proposal } from '../../contracts/index.ts'
import { networkGrounds, type StandingFold } from '../../gate/index.ts'
import type { LawBook } from '../laws/law-book.ts'

interface NetworkQuestion {
  readonly proposal: Proposal | null
  readonly standing: StandingFold
  readonly book: LawBook
  readonly nowMs: number
  readonly dryRun: boolean
}

/** Null when nothing of it runs with a network; a dry run sends nothing that was released. */
export function networkFor(question: NetworkQuestion): NetworkGrounds | null {
  const { proposal, standing, book, nowMs, dryRun } = question
  if (proposal === null) return null
  const { action_id } = proposal.descriptor
  const release = dryRun ? null : standing.releaseFor(action_id, digestDocument(proposal), nowMs)
  return networkGrounds(proposal, book.settings.readOnlyHosts, release)
}

/** A rehearsal that was refused does not count against the run that a human released (G-16). */
export function isReleasedRun(
  proposal: Proposal | null,
  network: NetworkGrounds | null,
  standing: StandingFold,
): boolean {
  if (proposal === null || network?.release == null) return false
  return standing.onlyRefused(proposal.descriptor.action_id, digestDocument(proposal))
}
