/** What a settle of a session begins with and says, and what is pending in one. */
import type { NetworkConnection, SessionMark } from '../contracts/index.ts'
import type { Change } from '../gate/index.ts'
import type { GateAnswer, SessionGround, SessionSurface } from '../service/index.ts'
import type { LiveView } from '../view/index.ts'
import type { NoticedAnswer, SessionFiles } from './session-files.ts'

export type SettleCause = Pick<SessionMark, 'boundary' | 'programs' | 'tool'>

/** What settles of a session are made with. */
export interface SettlerParts {
  readonly surface: SessionSurface
  readonly view: LiveView
  readonly ground: SessionGround
  readonly files: SessionFiles
  readonly isDeclared: boolean
  readonly nowMs: () => number
  /** What went out since it was asked last. */
  readonly connections: () => readonly NetworkConnection[]
  /** Whether changes of the real tree come to `refresh` by themselves. */
  readonly isWatched: () => boolean
  /** Whether a person looks at a question now. */
  readonly isLookedAt: (actionId: string) => boolean
}

/** What one settle did; every answer is on the record. */
export interface Settled {
  readonly promoted: GateAnswer | null
  readonly asked: GateAnswer | null
  readonly blocked: GateAnswer | null
  /** Changed files that a process has open for writing: they stay pending. */
  readonly busy: readonly string[]
  /** Paths that the agent still sees as they were, because a process uses them; new ones only. */
  readonly stale: readonly string[]
  /** How a question ended since the settle before. */
  readonly answered: NoticedAnswer | null
}

/**
 * `asked`: in the open question. `denied`: by a person. `not taken`: a person took the rest of its
 * question. `held`: lies in a new directory that waits itself, or removes one that holds a conflict.
 * `in use`: a process writes to it.
 */
export type PendingReason =
  | 'asked'
  | 'conflict'
  | 'denied'
  | 'held'
  | 'in use'
  | 'not taken'
  | 'pending'
  | 'refused'

/** What is pending, with why it is; as one JSON document. */
export interface PendingChanges {
  readonly changes: readonly Change[]
  readonly conflicts: readonly { readonly path: string; readonly detail: string }[]
  /** Why each change is not real yet, by its raw path. */
  readonly reasons: Readonly<Record<string, PendingReason>>
  /** Paths that others changed and the view cannot show, because a process uses them. */
  readonly stale: readonly string[]
  /** Entries that can never become real, such as sockets: they stay in the view. */
  readonly left: readonly { readonly path: string; readonly detail: string }[]
  readonly question: string | null
  /** Where the bytes of the changes lie. */
  readonly layers: readonly { readonly root: string; readonly upper: string }[]
}

/** Changes that a discard left in the view. */
export interface NotDiscarded {
  /** A process of the session uses them. */
  readonly inUse: readonly string[]
  /** The session has something else in the place of a directory above them. */
  readonly hidden: readonly { readonly path: string; readonly by: string }[]
}

export const NO_CHANGES = { changes: [], conflicts: [], reasons: {}, stale: [], left: [] }

export const NOTHING: Settled = {
  promoted: null,
  asked: null,
  blocked: null,
  busy: [],
  stale: [],
  answered: null,
}
