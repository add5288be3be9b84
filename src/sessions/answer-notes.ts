/** What a session notes when its question has ended: what a person denied, and what they did not take. */
import { displayOfRaw, type RawPath } from '../gate/index.ts'
import type { NoticedAnswer, OpenQuestion, SessionMemory } from './session-files.ts'

interface EndedQuestion {
  readonly how: NoticedAnswer['how']
  readonly reason: string | null
  /** Raw paths that stayed when a person took a part. */
  readonly untaken: ReadonlySet<string>
}

export function withAnswer(
  memory: SessionMemory,
  { states }: OpenQuestion,
  { how, reason, untaken }: EndedQuestion,
): SessionMemory {
  const denied = how === 'denied' ? states : {}
  const left = Object.entries(states).filter(([path]) => untaken.has(path))
  // The keys are raw paths.
  const paths = Object.keys(states).map((path) => displayOfRaw(path as RawPath))
  return {
    ...memory,
    question: null,
    refused: { ...memory.refused, ...denied },
    denied: { ...memory.denied, ...denied },
    untaken: Object.fromEntries(left),
    answered: { how, paths, reason, left: left.map(([path]) => path) },
  }
}
