/**
 * What a session keeps on the disk: its layers, its private places, and one file that says what it is
 * and what it waits for. It outlives every process of the session, so that another process can go on
 * (S-11). The directory is private to the user and hidden from every sandbox.
 */
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { faultError, isUuid } from '../base/index.ts'
import type { ActionDescriptor, SessionFact } from '../contracts/index.ts'
import type { GatewayBudget } from '../gateway/index.ts'
import type { KnownHome } from '../home/index.ts'
import { namesIfThere, readIfThere, removeTree, replaceFile, writeWhole } from '../machine/index.ts'
import { isLeftBehind, ownerMark, startedAt } from '../sandbox/index.ts'
import type { MovedHead } from '../service/index.ts'
import type { Commits, LeftBytes, LeftRow } from './left/left-bytes.ts'
import { MovedHeads } from './left/moved-heads.ts'
import type { PublishedPort } from './published-ports.ts'
import { NO_USE, type SessionUse } from './session-use.ts'

/** What a session was started with. */
export interface SessionTerms {
  readonly session_id: string
  readonly agent: string
  readonly argv: readonly [string, ...string[]]
  readonly cwd: string
  readonly workspace: string
  readonly scope: readonly string[]
  readonly hosts: readonly string[]
  /** Ports of servers inside that the machine shows. */
  readonly publish?: readonly PublishedPort[]
  /** The person named with `--write` or `--delete` what may be changed. */
  readonly is_declared: boolean
  readonly settle: NonNullable<SessionFact['settle']>
  readonly descriptor: ActionDescriptor
  readonly limits: SessionLimits
  /** What it may ask of its model; absent or null without a bound. */
  readonly budget?: GatewayBudget
  readonly started_at: string
  /** Whose session it is, by the stream of its facts. */
  readonly stream: string
}

interface SessionLimits {
  readonly memory_mb: number
  readonly disk_mb: number
  readonly seconds: number
}

/** What it waits for and remembers from one settle to the next. Paths are raw, one character a byte. */
export interface SessionMemory {
  readonly settles: number
  readonly left: LeftBytes
  /** Git directories in which the session moved HEAD. */
  readonly heads: Readonly<Record<string, MovedHead>>
  readonly question: OpenQuestion | null
  /** Changes that were blocked or denied, by path, each with the state that was refused. */
  readonly refused: Readonly<Record<string, string>>
  /** The ones of these that a person denied. */
  readonly denied?: Readonly<Record<string, string>>
  /** What a person left when they took a part of the last question. */
  readonly untaken?: Readonly<Record<string, string>>
  /** Conflicts of which the agent read the real version, by path, with a word for what it read. */
  readonly read?: Readonly<Record<string, string>>
  /** The last question that ended, until the agent heard of it. */
  readonly answered?: NoticedAnswer | null
}

export interface NoticedAnswer {
  readonly how: 'promoted' | 'denied' | 'ended'
  /** The raw paths that stayed when a person took a part of it; earlier versions have none. */
  readonly left?: readonly string[]
  /** The paths that it was about, as they are shown. */
  readonly paths: readonly string[]
  /** Why a person denied it, in their words. */
  readonly reason: string | null
}

export interface OpenQuestion {
  readonly action_id: string
  /** The states that it is about, by path. */
  readonly states: Readonly<Record<string, string>>
  /** What a yes leaves. */
  readonly leaves?: readonly LeftRow[]
  readonly heads?: Commits
}

const NEW_MEMORY: SessionMemory = {
  settles: 0,
  left: { made: {}, wrote: {} },
  heads: {},
  question: null,
  refused: {},
}
const SESSIONS = 'sessions'
const TERMS = 'session.json'
const MEMORY = 'memory.json'
const USE = 'use.json'
const LAYERS = 'layers'
const OWNER = 'owner-'
const LOOKED = 'looked-at-'
const PRIVATE = 0o700

export class SessionFiles {
  readonly id: string
  readonly directory: string

  constructor(home: KnownHome, id: string) {
    this.id = id
    this.directory = join(home.state, SESSIONS, id)
  }

  /** Where uppers and private places lie. */
  get layers(): string {
    return join(this.directory, LAYERS)
  }

  make(terms: SessionTerms): void {
    mkdirSync(this.layers, { recursive: true, mode: PRIVATE })
    writeWhole(join(this.directory, TERMS), JSON.stringify(terms), 0o600)
  }

  /** Fails if there is no such session, or its directory was never finished. */
  terms(): SessionTerms {
    const text = readIfThere(join(this.directory, TERMS))
    if (text === null) throw unknownSession(this.id)
    // `make` wrote it whole.
    return JSON.parse(text) as SessionTerms
  }

  memory(): SessionMemory {
    const text = readIfThere(join(this.directory, MEMORY))
    // `remember` wrote it whole, or an earlier version did, which knew paths without their bytes.
    return { ...NEW_MEMORY, ...(text === null ? {} : (JSON.parse(text) as Partial<SessionMemory>)) }
  }

  remember(memory: SessionMemory): void {
    writeWhole(join(this.directory, MEMORY), JSON.stringify(memory), 0o600)
  }

  /** What sessions of the home committed, for notes. */
  get movedHeads(): MovedHeads {
    return new MovedHeads(dirname(this.directory))
  }

  /** What a session and all others committed. */
  headsOfAll({ heads }: SessionMemory): SessionMemory['heads'] {
    return this.movedHeads.with(heads)
  }

  /** What its processes used so far. */
  use(): SessionUse {
    const text = readIfThere(join(this.directory, USE))
    // `noteUse` wrote it whole.
    return text === null ? NO_USE : (JSON.parse(text) as SessionUse)
  }

  noteUse(use: SessionUse): void {
    writeWhole(join(this.directory, USE), JSON.stringify(use), 0o600)
  }

  /** When a person looked at a question last; 0 if none did. */
  lookedAtMs(actionId: string): number {
    const file = join(this.directory, `${LOOKED}${actionId}`)
    return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
  }

  /** Notes that a person looks at a question now. */
  lookAt(actionId: string): void {
    if (existsSync(this.directory))
      replaceFile(join(this.directory, `${LOOKED}${actionId}`), '', 0o600)
  }

  /** Says that this process runs the session; returns the function that takes it back. */
  own(): () => Promise<void> {
    const mark = join(this.directory, `${OWNER}${ownerMark()}-`)
    replaceFile(mark, startedAt(process.pid), 0o600)
    return () => removeTree(mark)
  }

  /** Whether something of it is left. */
  get isKept(): boolean {
    return existsSync(join(this.directory, TERMS))
  }

  /** Whether a process that lives runs the session. */
  get isLive(): boolean {
    const isGone = (name: string): boolean =>
      // A mark that is taken back meanwhile belongs to no process.
      isLeftBehind(name, OWNER, readIfThere(join(this.directory, name)) ?? 'gone')
    return namesIfThere(this.directory).some((name) => name.startsWith(OWNER) && !isGone(name))
  }

  async remove(): Promise<void> {
    await removeTree(this.directory)
  }
}

/** The sessions of a home that still have a directory, newest first. */
export function keptSessions(home: KnownHome): readonly SessionFiles[] {
  const folder = join(home.state, SESSIONS)
  return namesIfThere(folder)
    .filter((name) => isUuid(name) && existsSync(join(folder, name, TERMS)))
    .map((name) => new SessionFiles(home, name))
    .sort((one, other) => startOf(other) - startOf(one))
}

function startOf({ directory }: SessionFiles): number {
  return statSync(join(directory, TERMS), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

const SHORT_MIN = 4

/** Whether a text is an id, or a beginning or an end of it. */
export function isSessionNamed(id: string, text: string): boolean {
  const wanted = text.toLowerCase()
  if (id === wanted) return true
  return wanted.length >= SHORT_MIN && (id.startsWith(wanted) || id.endsWith(wanted))
}

/** By its id or a beginning or an end of it; without one the newest. Fails if there is none, or more. */
export function findSession(home: KnownHome, wanted: string | undefined): SessionFiles {
  const all = keptSessions(home)
  if (wanted === undefined) {
    const [newest] = all
    if (newest !== undefined) return newest
    const message = 'there is no session with changes that are pending'
    throw faultError('session.unknown', '', message, 'start one: `writ run -- AGENT`')
  }
  const found = all.filter(({ id }) => isSessionNamed(id, wanted))
  const [only] = found
  if (only === undefined) throw unknownSession(wanted)
  if (found.length === 1) return only
  const message = `${found.length} sessions have an id that begins or ends with \`${wanted}\``
  throw faultError('session.unknown', wanted, message, '`writ session list` shows all ids')
}

function unknownSession(id: string) {
  const message = `there is no session \`${id}\` here, or nothing of it is pending any more`
  return faultError('session.unknown', id, message, '`writ session list` shows the sessions')
}
