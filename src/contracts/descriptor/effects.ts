/**
 * Declared file effects, ready to be asked whether they declare what happened, and whether they
 * hold another declaration. Per kind: a creation is not covered by a declared modification.
 */
import { elements, field } from '../kernel/contract.ts'
import { type Effort, type Glob, matchesPath, newEffort, parseGlob, someIncludes } from './glob.ts'

export const EFFECT_KINDS = ['create', 'modify', 'delete'] as const

export type EffectKind = (typeof EFFECT_KINDS)[number]

/** Globs of one kind: the texts for what is named exactly, the patterns for the rest. */
interface GlobSet {
  readonly texts: ReadonlySet<string>
  readonly patterns: readonly Glob[]
}

export type DeclaredEffects = Readonly<Record<EffectKind, GlobSet>>

/** Reads `effects` of a descriptor; what cannot be read declares nothing. */
export function readEffects(effects: unknown): DeclaredEffects {
  const filesystem = field(effects, 'filesystem')
  return {
    create: globSet(field(filesystem, 'create')),
    modify: globSet(field(filesystem, 'modify')),
    delete: globSet(field(filesystem, 'delete')),
  }
}

function globSet(texts: unknown): GlobSet {
  const globs = elements(texts)
    .map((text) => (typeof text === 'string' ? parseGlob(text) : null))
    .filter((glob) => glob !== null)
  return {
    texts: new Set(globs.map(({ text }) => text)),
    patterns: globs.filter(({ isLiteral }) => !isLiteral),
  }
}

/** Whether the effects declare that this path is created, modified or deleted. */
export function declaresEffect(effects: DeclaredEffects, kind: EffectKind, path: string): boolean {
  const { texts, patterns } = effects[kind]
  return texts.has(path) || patterns.some((pattern) => matchesPath(pattern, path))
}

/** Whether everything a glob declares is declared here too. */
export function declaresGlob(
  effects: DeclaredEffects,
  kind: EffectKind,
  glob: Glob,
  effort: Effort = newEffort(),
): boolean {
  const { texts, patterns } = effects[kind]
  return texts.has(glob.text) || someIncludes(patterns, glob, effort)
}
