/**
 * Pushes of a session (S-15): each is held, asked about, and sent by the host after a yes. The agent's
 * git waits for the answer for a while; a push that is asked about already is not asked about again.
 */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { digestDocument } from '../base/index.ts'
import type { HeldPush, PushEnd, PushKeeper, PushOrder } from '../gateway/index.ts'
import type { SessionGround, SessionSurface } from '../service/index.ts'
import type { SessionFiles } from './session-files.ts'

interface PushParts {
  readonly surface: SessionSurface
  readonly files: SessionFiles
  readonly ground: Pick<SessionGround, 'agent' | 'descriptor'>
  /** A directory of the real repository. */
  readonly tree: string
  /** Tells the person. */
  readonly tell: (line: string) => void
}

/** How long the agent's git waits. Agents end commands that take minutes. */
const WAIT_MS = 60_000
const LOOK_MS = 1_000
const WAITING_MAX = 5

/** Leads pushes of git to the channel, after the settings of `before`; fetches go their own way. */
export function pushVariables(
  channel: string,
  before: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const first = Number(before['GIT_CONFIG_COUNT'] ?? 0)
  const pairs = ADDRESSES.flatMap(([kind, beginning], index) => [
    [`GIT_CONFIG_KEY_${first + index}`, `url.${channel}/push/${kind}/.pushInsteadOf`],
    [`GIT_CONFIG_VALUE_${first + index}`, beginning],
  ])
  return { GIT_CONFIG_COUNT: String(first + ADDRESSES.length), ...Object.fromEntries(pairs) }
}

/** How addresses of servers begin, by the name that the channel has for the kind. */
const ADDRESSES = [
  ['https', 'https://'],
  ['http', 'http://'],
  ['ssh', 'ssh://'],
  ['scp', 'git@'],
] as const

export class HeldPushes implements PushKeeper {
  readonly #parts: PushParts
  /** Acts whose answer is not known yet, by what they push where. */
  readonly #waiting = new Map<string, string>()
  /** References that pushes of this session have set, by server: the real repository learns of it later. */
  readonly #sent = new Map<string, ReadonlyMap<string, string>>()

  constructor(parts: PushParts) {
    this.#parts = parts
  }

  async refs(remote: string): ReturnType<PushKeeper['refs']> {
    const known = await this.#parts.surface.knownRefs(this.#parts.tree, remote)
    const refs = new Map([
      ...known.map(({ ref, id }) => [ref, id] as const),
      ...(this.#sent.get(remote) ?? []),
    ])
    return [...refs].filter(([, id]) => !NONE.test(id)).map(([ref, id]) => ({ ref, id }))
  }

  packFile(): string {
    return join(this.#parts.files.directory, `push-${randomUUID()}.pack`)
  }

  async hold(order: PushOrder): Promise<HeldPush> {
    const { remote, commands, pack } = order
    const key = digestDocument({ remote, commands })
    try {
      const known = this.#waiting.get(key)
      const actionId = known ?? (await this.#ask(order))
      this.#waiting.set(key, actionId)
      const says = 'writ: the push is held until a person has answered: writ inbox'
      return { says, end: this.#end(key, actionId, order) }
    } finally {
      if (pack !== null) rmSync(pack, { force: true })
    }
  }

  /** Opens the question; fails if the gate refuses the push. */
  async #ask({ remote, commands, pack }: PushOrder): Promise<string> {
    const { surface, ground, tree, tell } = this.#parts
    if (this.#waiting.size >= WAITING_MAX) {
      throw new Error(`${WAITING_MAX} pushes wait for an answer already; go on with other work`)
    }
    const answer = await surface.push(ground, { remote, commands, pack, tree })
    const { pending, decision, action_id } = answer
    if (pending === undefined) throw new Error(`the push was refused (${decision.code})`)
    tell(`a push to ${remote} waits for an answer: \`writ inbox ${pending.id}\``)
    return action_id
  }

  async #end(key: string, actionId: string, order: PushOrder): Promise<PushEnd> {
    for (let leftMs = WAIT_MS; leftMs > 0; leftMs -= LOOK_MS) {
      await pause(LOOK_MS)
      const { state, detail = '' } = await this.#parts.surface.pushState(actionId)
      if (state === 'waiting') continue
      this.#waiting.delete(key)
      if (state === 'promoted') this.#note(order)
      return { isSent: state === 'promoted', says: `writ: ${ENDS[state]}${detail}` }
    }
    const says = 'writ: a person has not answered yet. It is sent after their yes; go on meanwhile'
    return { isSent: false, says }
  }

  #note({ remote, commands }: PushOrder): void {
    const set = commands.map(({ ref, after }) => [ref, after] as const)
    this.#sent.set(remote, new Map([...(this.#sent.get(remote) ?? []), ...set]))
  }
}

const NONE = /^0+$/

const ENDS = {
  promoted: 'a person approved the push, and it was sent',
  denied: 'a person denied the push; it was not sent',
  ended: 'the question ended without an answer; the push was not sent',
  failed: 'a person approved the push, but it failed: ',
} as const
