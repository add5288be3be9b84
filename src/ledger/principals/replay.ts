/**
 * Replay (L-9): computes decisions again from the facts and compares them with the recorded ones.
 * Each part of writ that decides has a replayer for its record type. The caller passes the table of
 * replayers, so this room knows none of these parts.
 *
 * INVARIANT (three answers): equal, different, or neither. A record whose bodies were dropped, or
 * that an evaluator of another version made, is never called equal.
 */
import { canonicalJson } from '../../base/index.ts'
import type { Fact } from '../facts/fact.ts'
import type { OpenedFact } from './act-evidence.ts'

export type Replay =
  | { readonly kind: 'equal' }
  | { readonly kind: 'different'; readonly recorded: unknown; readonly computed: unknown }
  | { readonly kind: 'unreplayable'; readonly reason: string }
  | { readonly kind: 'engine_changed'; readonly recorded: string; readonly known: string }

/** What a replayer may look up: kept bodies by digest, and earlier facts by place. */
export interface ReplayLookup {
  /** Null when the body is not kept any more. */
  body(digest: string): Promise<Uint8Array | null>
  fact(stream: string, seq: number): Promise<Fact | null>
  /** All records of some types in a stream, in their order. */
  each(stream: string, types: ReadonlySet<string>): AsyncIterable<OpenedFact>
  /** The records of one type about one action, in their order; a payload is null once dropped. */
  ofAction(stream: string, type: string, action: string): Promise<readonly OpenedFact[]>
  /** The records of a run, in their order. */
  ofRun(stream: string, run: string): Promise<readonly OpenedFact[]>
}

/** Receives the whole payload, also of a record that was kept by reference. */
export type Replayer = (
  fact: Fact,
  payload: unknown,
  lookup: ReplayLookup,
) => Replay | Promise<Replay>

export type Replayers = ReadonlyMap<string, Replayer>

/** Compares by canonical form, so the order of keys does not count. */
export function compareReplay(recorded: unknown, computed: unknown): Replay {
  return canonicalJson(recorded) === canonicalJson(computed)
    ? { kind: 'equal' }
    : { kind: 'different', recorded, computed }
}

export interface Difference {
  readonly stream: string
  readonly seq: number
  readonly recorded: unknown
  readonly computed: unknown
}

export interface NotReplayed {
  readonly stream: string
  readonly seq: number
  readonly code: 'replay.unreplayable' | 'replay.engine_changed'
  readonly message: string
}

export interface ReplayAnswer {
  /** Nothing is different or missing; what could not be replayed is listed and is neither. */
  readonly ok: boolean
  /** Decisions that were computed again. */
  readonly checked: number
  readonly differences: readonly Difference[]
  readonly not_replayed: readonly NotReplayed[]
  /** Bodies that a replay needed, that are not there, and that no fact says were dropped. */
  readonly missing: readonly string[]
}

/** Gathers replays into one answer. */
export class ReplayReport {
  #checked = 0
  readonly #differences: Difference[] = []
  readonly #notReplayed: NotReplayed[] = []

  add({ stream, seq }: Pick<Fact, 'stream' | 'seq'>, replay: Replay): void {
    switch (replay.kind) {
      case 'equal':
        this.#checked++
        return
      case 'different': {
        this.#checked++
        const { recorded, computed } = replay
        this.#differences.push({ stream, seq, recorded, computed })
        return
      }
      case 'unreplayable': {
        const code = 'replay.unreplayable'
        this.#notReplayed.push({ stream, seq, code, message: replay.reason })
        return
      }
      case 'engine_changed': {
        const code = 'replay.engine_changed'
        const message = `recorded by ${replay.recorded}, this is ${replay.known}`
        this.#notReplayed.push({ stream, seq, code, message })
        return
      }
      default:
        replay satisfies never
    }
  }

  finish(missing: readonly string[] = []): ReplayAnswer {
    return {
      ok: this.#differences.length === 0 && missing.length === 0,
      checked: this.#checked,
      differences: this.#differences,
      not_replayed: this.#notReplayed,
      missing,
    }
  }
}
