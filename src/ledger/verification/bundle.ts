/**
 * The bundle: one stream as files that anyone can verify with SHA-256 and Ed25519 alone (L-3, I8).
 * Here are its names and the lines of its small files; the page for people is `bundle-page.ts`, and
 * writing it is the host's.
 *
 * INVARIANT (nothing to believe): every file but the page, the schemas and the statements of the
 * manifest follows from the facts and the signed checkpoint. The sums find damage, not forgery.
 */
import { canonicalJson, type Digest } from '../../base/index.ts'
import type { KeySchedule } from './verify-keys.ts'

export const BUNDLE_FORMAT = 'writ-bundle/1'

export const BUNDLE_FILES = {
  page: 'README.txt',
  manifest: 'manifest.json',
  facts: 'facts.jsonl',
  checkpoint: 'checkpoint.txt',
  proofs: 'proofs.jsonl',
  keys: 'keys.txt',
  sums: 'SHA256SUMS',
} as const

/** Streams with more facts get inclusion proofs of their first and last fact only. */
export const INCLUSION_PROOFS_MAX = 10_000

export interface BundleManifest {
  readonly format: typeof BUNDLE_FORMAT
  readonly origin: string
  readonly stream: string
  readonly size: number
  readonly root: Digest
  /** `all`: of every fact; `ends`: of the first and the last. */
  readonly inclusion_proofs: 'all' | 'ends'
  readonly bodies: 'included' | 'left_out'
  /** Statements of the exporting host, bound to no signature. */
  readonly level: string
  readonly exported_at: string
}

export function manifestText(manifest: BundleManifest): string {
  return `${canonicalJson(manifest)}\n`
}

/** The facts whose inclusion proofs a bundle of that size holds. */
export function provenFacts(size: number): readonly number[] {
  if (size <= INCLUSION_PROOFS_MAX) return Array.from({ length: size }, (_, seq) => seq)
  return [0, size - 1]
}

export function inclusionLine(seq: number, size: number, path: readonly Digest[]): string {
  return `${canonicalJson({ type: 'inclusion', seq, size, path })}\n`
}

export function consistencyLine(from: number, to: number, path: readonly Digest[]): string {
  return `${canonicalJson({ type: 'consistency', from, to, path })}\n`
}

/** `<first size> <last size or -> <public key>`, in the order of their use. */
export function keysText(schedule: KeySchedule): string {
  return schedule
    .spans()
    .map(({ key, from, to }) => `${from} ${to ?? '-'} ${key}\n`)
    .join('')
}

/** As `sha256sum` writes and checks it, sorted by path. */
export function sumsText(sums: ReadonlyMap<string, string>): string {
  const paths = [...sums.keys()].sort()
  return paths.map((path) => `${sums.get(path)}  ${path}\n`).join('')
}

export function checkpointFile(size: number): string {
  return `checkpoints/${size}.txt`
}

export function schemaFile(type: string): string {
  return `schemas/${type}.json`
}

export function objectFile(digest: Digest): string {
  return `objects/${digest.slice('sha256:'.length)}`
}
