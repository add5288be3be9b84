/**
 * Where a proposal reaches: its parts in the order they run, the paths that the host has to resolve,
 * and declared paths as real ones. A declared path may lead through symbolic links. A rehearsal reports
 * real paths, so declarations are translated before they are compared.
 */
import {
  EFFECT_KINDS,
  type HostFacts,
  operationChain,
  operationPaths,
  type Proposal,
} from '../../contracts/index.ts'
import { PathTree } from './path-set.ts'

/** A proposal of the tree with its JSON Pointer. */
export interface PlacedProposal {
  readonly proposal: Proposal
  readonly place: string
}

/** The proposal and all its children, outermost first. */
export function allProposals(proposal: Proposal, place = ''): readonly PlacedProposal[] {
  return [
    { proposal, place },
    ...(proposal.children ?? []).flatMap((child, index) =>
      allProposals(child, `${place}/children/${index}`),
    ),
  ]
}

/** What is really run, in order: the proposal itself, or the leaves of a composite. */
export function leavesOf(proposal: Proposal): readonly PlacedProposal[] {
  return allProposals(proposal).filter(({ proposal: { children } }) => children === undefined)
}

/** In lower case: UUIDs are compared without case. */
export function actionIdsOf(proposal: Proposal): readonly string[] {
  return allProposals(proposal).map(({ proposal: { descriptor } }) =>
    descriptor.action_id.toLowerCase(),
  )
}

/**
 * Returns the paths that a proposal names as its inputs: those that have to exist beforehand. A
 * directory counts for everything in it.
 */
export function declaredInputs(proposal: Proposal): readonly string[] {
  return allProposals(proposal).flatMap(
    ({ proposal: { descriptor } }) => descriptor.preconditions.paths_exist,
  )
}

/** A glob up to its first name with a wildcard. */
export function literalPart(glob: string): string {
  const star = glob.indexOf('*')
  if (star < 0) return glob
  const end = glob.lastIndexOf('/', star)
  return end <= 0 ? '/' : glob.slice(0, end)
}

/** What the host resolves before a proposal is admitted. */
export interface PathsToResolve {
  /** The literal parts of the scope's paths: the host finds out all of `RootFacts`. */
  readonly roots: readonly string[]
  /** Directories that hold or are named by effects, operations and preconditions: only real paths. */
  readonly others: readonly string[]
}

export function pathsToResolve(proposal: Proposal): PathsToResolve {
  const roots = new Set<string>()
  const others = new Set<string>()
  for (const { proposal: one } of allProposals(proposal)) {
    const { scope, effects, preconditions } = one.descriptor
    for (const path of scope.filesystem.paths) roots.add(literalPart(path))
    for (const kind of EFFECT_KINDS) {
      for (const path of effects.filesystem[kind]) others.add(directoryPart(path))
    }
    for (const path of preconditions.paths_exist) others.add(path).add(directoryPart(path))
    for (const { operation } of operationChain(one.operation)) {
      for (const { text } of operationPaths(operation)) others.add(text).add(directoryPart(text))
    }
  }
  for (const root of roots) others.delete(root)
  return { roots: [...roots].sort(), others: [...others].sort() }
}

/** The directory whose entries a glob speaks of: symbolic links up to here are followed. */
function directoryPart(glob: string): string {
  if (glob.includes('*')) return literalPart(glob)
  const end = glob.lastIndexOf('/')
  return end <= 0 ? '/' : glob.slice(0, end)
}

/** Turns declared paths into real ones by what the host resolved. */
export class RealPaths {
  readonly #real = new PathTree<string>()

  constructor({ roots, real_paths }: Pick<HostFacts, 'roots' | 'real_paths'>) {
    for (const { declared, real } of [...roots, ...real_paths]) this.#real.add(declared, real)
  }

  /**
   * The entries that a glob speaks of. The directory is followed, the last name is not: to delete a
   * symbolic link is about the link.
   */
  translate(glob: string): string {
    return this.#replace(glob, directoryPart(glob))
  }

  /** Where a path leads, its last name followed too. */
  follow(path: string): string {
    return this.#replace(path, literalPart(path))
  }

  /** Replaces the longest resolved part of the glob's head. */
  #replace(glob: string, head: string): string {
    const deepest = this.#real.innermost(head)
    if (deepest === null) return glob
    const { value: real, length } = deepest
    const rest = glob.slice(length === 1 ? 0 : length)
    return rest === '' || rest === '/' ? real : `${real === '/' ? '' : real}${rest}`
  }
}
