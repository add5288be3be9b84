/**
 * What one descriptor declared, with real paths: the area of its scope, and its effects per kind. It
 * answers questions about raw paths and remembers which declared effects happened.
 */
import {
  type ActionDescriptor,
  createArea,
  EFFECT_KINDS,
  type EffectKind,
  type HostFacts,
  parseGlob,
} from '../../contracts/index.ts'
import { PathSet, PathTree, type TryingEffort } from '../paths/path-set.ts'
import { literalPart, RealPaths } from '../paths/places.ts'
import { displayOfRaw, parentOfRaw, type RawPath, rawOfText } from '../paths/raw-path.ts'

/** How a path was declared: by its name, by a pattern, or not at all. */
export type Declared = 'exact' | 'pattern' | null

interface UnseenEffect {
  readonly kind: EffectKind
  readonly text: string
}

interface KindDeclaration {
  /** As the descriptor has them. */
  readonly texts: readonly string[]
  readonly exact: ReadonlyMap<RawPath, number>
  readonly patterns: PathSet
  readonly seen: Set<number>
}

export class Declaration {
  readonly #scope: ScopeArea
  readonly #kinds: Readonly<Record<EffectKind, KindDeclaration>>
  readonly #texts: Readonly<Record<'create' | 'modify', ReadonlySet<string>>>
  /** Paths whose creation is declared by name. */
  readonly #awaited = new PathTree<true>()

  constructor(
    { scope, effects }: Pick<ActionDescriptor, 'scope' | 'effects'>,
    host: Pick<HostFacts, 'roots' | 'real_paths'>,
    effort: TryingEffort,
  ) {
    const real = new RealPaths(host)
    this.#scope = new ScopeArea(scope.filesystem, host, effort)
    const kind = (texts: readonly string[]): KindDeclaration => kindOf(texts, real, effort)
    this.#kinds = {
      create: kind(effects.filesystem.create),
      modify: kind(effects.filesystem.modify),
      delete: kind(effects.filesystem.delete),
    }
    this.#texts = {
      create: new Set(effects.filesystem.create),
      modify: new Set(effects.filesystem.modify),
    }
    for (const path of this.#kinds.create.exact.keys()) this.#awaited.add(path, true)
  }

  covers(path: RawPath): boolean {
    return this.#scope.covers(path)
  }

  /** The length of the root of the scope that the path lies in; 0 when it has no one root. */
  scopeRootLength(path: RawPath): number {
    return this.#scope.rootLength(path)
  }

  declares(kind: EffectKind, path: RawPath): Declared {
    const { exact, patterns, seen } = this.#kinds[kind]
    const index = exact.get(path)
    if (index !== undefined) {
      seen.add(index)
      return 'exact'
    }
    const found = patterns.find(displayOfRaw(path))
    if (found === null) return null
    seen.add(found.index)
    return 'pattern'
  }

  /** Returns whether the descriptor declares, by name, the creation of a path below the directory. */
  awaits(directory: RawPath): boolean {
    return this.#awaited.hasBelow(directory)
  }

  /**
   * Returns the declared effects that did not happen. `declares` notes only the first pattern that
   * matches a path, so the other patterns are tried again here, until the effort is spent. A path
   * that is declared under both create and modify is seen if either happened.
   */
  unseen(happened: Readonly<Record<EffectKind, readonly string[]>>): readonly UnseenEffect[] {
    const missing = EFFECT_KINDS.flatMap((kind) =>
      this.#kinds[kind].texts.flatMap((text, index) =>
        this.#cameTrue(kind, index, happened) ? [] : [{ kind, text }],
      ),
    )
    const missed = new Set(missing.map(({ kind, text }) => `${kind} ${text}`))
    return missing.filter(({ kind, text }) => {
      const twin = kind === 'create' ? 'modify' : kind === 'modify' ? 'create' : null
      if (twin === null || !this.#texts[twin].has(text)) return true
      return missed.has(`${twin} ${text}`)
    })
  }

  #cameTrue(
    kind: EffectKind,
    index: number,
    happened: Readonly<Record<EffectKind, readonly string[]>>,
  ): boolean {
    const { seen, patterns } = this.#kinds[kind]
    return seen.has(index) || patterns.someMatch(index, happened[kind])
  }
}

function kindOf(texts: readonly string[], real: RealPaths, effort: TryingEffort): KindDeclaration {
  const exact = new Map<RawPath, number>()
  const patterns: string[] = []
  for (const [index, text] of texts.entries()) {
    const translated = real.translate(text)
    const isPattern = text.includes('*')
    if (!isPattern) exact.set(rawOfText(translated), index)
    // A star in a real name would widen the pattern, so such a pattern declares nothing.
    const isWidened = isPattern && real.follow(literalPart(text)).includes('*')
    patterns.push(isPattern && !isWidened ? translated : '')
  }
  return { texts, exact, patterns: new PathSet(patterns, effort), seen: new Set() }
}

/** The scope with real roots. */
class ScopeArea {
  readonly #recursive: boolean
  readonly #roots = new PathTree<true>()
  readonly #patterns: PathSet

  constructor(
    { paths, recursive }: ActionDescriptor['scope']['filesystem'],
    { roots }: Pick<HostFacts, 'roots'>,
    effort: TryingEffort,
  ) {
    const real = new Map(roots.map((root) => [root.declared, root.real]))
    const whole = paths.map((path) => realRoot(path, real.get(literalPart(path)) ?? null))
    const globs = whole.flatMap((path) => (path === null ? [] : (parseGlob(path) ?? [])))
    this.#recursive = recursive
    for (const { isLiteral, text } of globs) if (isLiteral) this.#roots.add(rawOfText(text), true)
    const patterns = createArea(globs, recursive).patterns.map(({ text }) => text)
    this.#patterns = new PathSet(patterns, effort)
  }

  rootLength(path: RawPath): number {
    const root = this.#roots.innermost(path)
    if (root === null) return 0
    return this.#recursive || root.length >= parentOfRaw(path).length ? root.length : 0
  }

  covers(path: RawPath): boolean {
    if (this.rootLength(path) > 0) return true
    return this.#patterns.find(displayOfRaw(path)) !== null
  }
}

/** Null when nothing is known of the root, or its real name has a star: it then covers nothing. */
function realRoot(path: string, real: string | null): string | null {
  if (real === null || real.includes('*')) return null
  const rest = path.slice(literalPart(path).length)
  return rest === '' || rest === '/'
    ? real
    : `${real === '/' ? '' : real}${rest.startsWith('/') ? rest : `/${rest}`}`
}
