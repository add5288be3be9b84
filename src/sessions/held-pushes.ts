/**
 * Pushes of a session (S-15): each is held, asked about, and sent by the host after a yes. The agent's
 * git waits for the answer for a while; a push that is asked about already is not asked about again.
 */
import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { digestDocument } from '../base/index.ts'
import type { HeldPush, PushEnd, PushKeeper, PushOrder } from '../gateway/index.ts'
import type { SessionGround, SessionSurface } from '../service/index.ts'
import { HeldAnswers } from './held-answers.ts'
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

/**
 * Leads pushes of git to the channel, after the settings of `before`; fetches go their own way. Git asks
 * `pushInsteadOf` for no remote with a `pushurl`, so `addresses` names those, each as a whole.
 */
export function pushVariables(
  channel: string,
  before: Readonly<Record<string, string>>,
  addresses: readonly string[],
): Readonly<Record<string, string>> {
  const first = Number(before['GIT_CONFIG_COUNT'] ?? 0)
  const settings = [
    ...ADDRESSES.map(([kind, beginning]) => [`${kind}/.pushInsteadOf`, beginning] as const),
    ...addresses.flatMap((address) =>
      ADDRESSES.filter(([, beginning]) => address.startsWith(beginning)).map(
        ([kind, beginning]) =>
          [`${kind}/${address.slice(beginning.length)}.insteadOf`, address] as const,
      ),
    ),
  ]
  const pairs = settings.flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${first + index}`, `url.${channel}/push/${name}`],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ])
  return { GIT_CONFIG_COUNT: String(first + settings.length), ...Object.fromEntries(pairs) }
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
  readonly #answers: HeldAnswers
  /** References that pushes of this session have set, by server: the real repository learns of it later. */
  readonly #sent = new Map<string, ReadonlyMap<string, string>>()

  constructor(parts: PushParts) {
    this.#parts = parts
    this.#answers = new HeldAnswers(parts.surface, 'push', parts.tell)
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
    const { surface, ground, tree } = this.#parts
    const { remote, commands, pack } = order
    const key = digestDocument({ remote, commands })
    try {
      const actionId = await this.#answers.ask(key, `a push to ${remote}`, () =>
        surface.push(ground, { remote, commands, pack, tree }),
      )
      const says = 'writ: the push is held until a person has answered: writ inbox'
      return { says, end: this.#end(key, actionId, order) }
    } finally {
      if (pack !== null) rmSync(pack, { force: true })
    }
  }

  async #end(key: string, actionId: string, order: PushOrder): Promise<PushEnd> {
    const { isSent, says } = await this.#answers.end(key, actionId)
    if (isSent) this.#note(order)
    return { isSent, says: `writ: ${says}` }
  }

  #note({ remote, commands }: PushOrder): void {
    const set = commands.map(({ ref, after }) => [ref, after] as const)
    this.#sent.set(remote, new Map([...(this.#sent.get(remote) ?? []), ...set]))
  }
}

const NONE = /^0+$/
