/**
 * What the files of the host say about the changes of a run, besides the changes themselves: which are
 * scripts, what points to them, what git tracks. Reading it can take as long as everything else.
 */
import type { Evaluation, Proposal } from '../../contracts/index.ts'
import { type Change, grantCase, type RawPath } from '../../gate/index.ts'
import { wholePath } from '../../home/index.ts'
import type { Layer } from '../../sandbox/index.ts'
import type { LawBook } from '../laws/law-book.ts'
import type { LedgerView } from '../records/ledger-view.ts'
import type { GateContext } from '../surface/context.ts'
import type { SessionBytes } from '../surface/session-surface.ts'
import { checkedGitPaths } from './git-check.ts'
import { withAccountHome } from './hidden-places.ts'
import { findPointed, type Pointed } from './pointed.ts'
import { pathDirectories, startingPlaces } from './readings.ts'
import { changedScripts } from './scripts.ts'
import { trackedPaths } from './tracked.ts'
import { TreeLinks } from './tree-links.ts'

/** For all acts of the process: a listing is compared with its directory before each use. */
const TREE_LINKS = new TreeLinks()

export interface HostReadings extends Pointed {
  readonly scripts: ReturnType<typeof changedScripts>
  readonly directories: readonly string[]
  readonly tracked: readonly RawPath[]
  readonly gitChecked: readonly RawPath[]
}

interface ReadingParts {
  readonly context: GateContext
  readonly book: LawBook
  readonly view: LedgerView
}

interface ReadingSubject {
  readonly proposal: Proposal
  readonly evaluation: Evaluation
  readonly changes: readonly Change[]
  readonly layers: readonly Layer[]
  readonly session?: SessionBytes
}

/** What points to changed paths when nothing but these changes is real. */
export function readPointed(
  { context, book }: Pick<ReadingParts, 'context' | 'book'>,
  { proposal, evaluation, changes, layers, session }: ReadingSubject,
): Pointed {
  const { host } = evaluation
  const { lists } = book
  const places = startingPlaces(proposal, host.workspace)
  const homes = ownHomes(evaluation)
  const path = wholePath(context.home.state, context.environment['PATH'], homes)
  const trees = [host.workspace, ...host.roots.map(({ real }) => real)] as const
  const scope = grantCase(evaluation) === null ? null : trees
  const links = session?.links ?? []
  const where = { path, places, homes, trees, scope }
  return findPointed({ changes, layers, lists, links, treeLinks: TREE_LINKS, ...where })
}

function ownHomes({ host }: Evaluation): readonly string[] {
  return withAccountHome(host.homes.filter(({ own }) => own).map((home) => home.path))
}

export async function readHost(
  parts: ReadingParts,
  subject: ReadingSubject,
): Promise<HostReadings> {
  const { context, book, view } = parts
  const { proposal, evaluation, changes, layers, session } = subject
  const places = startingPlaces(proposal, evaluation.host.workspace)
  const path = wholePath(context.home.state, context.environment['PATH'], ownHomes(evaluation))
  return {
    scripts: changedScripts(changes, layers),
    directories: pathDirectories(path, places),
    ...readPointed(parts, subject),
    tracked: await trackedPaths(changes, evaluation, book.lists, view, session),
    gitChecked: grantCase(evaluation) === null ? [] : checkedGitPaths(changes, layers),
  }
}
