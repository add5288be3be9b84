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
 * `pushInsteadOf` for no remote with a `pushurl`, so `addresses` names those, each as a whole. A push to a
 * path is led there too, and refused, unless it ends in a directory of the session's own, or in the scope,
 * where it is a change of files like any other.
 */
export function pushVariables(
  channel: string,
  before: Readonly<Record<string, string>>,
  addresses: readonly string[],
  scope: readonly string[],
): Readonly<Record<string, string>> {
  const first = Number(before['GIT_CONFIG_COUNT'] ?? 0)
  const own = [...scope, ...PRIVATE_PLACES].flatMap((directory) => [
    `${directory}/`,
    `file://${directory}/`,
  ])
  const isLed = (address: string): boolean => !own.some((each) => address.startsWith(each))
  const settings = [
    ...ADDRESSES.map(([kind, start]) => [`${channel}/push/${kind}/.pushInsteadOf`, start] as const),
    // Git takes the longest beginning that fits.
    ...own.map((start) => [`${start}.pushInsteadOf`, start] as const),
    ...addresses.filter(isLed).flatMap((address) =>
      ADDRESSES.filter(([, start]) => address.startsWith(start)).map(([kind, start]) => {
        return [
          `${channel}/push/${kind}/${address.slice(start.length)}.insteadOf`,
          address,
        ] as const
      }),
    ),
  ]
  const pairs = settings.flatMap(([name, value], index) => [
    [`GIT_CONFIG_KEY_${first + index}`, `url.${name}`],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ])
  return { GIT_CONFIG_COUNT: String(first + settings.length), ...Object.fromEntries(pairs) }
}

/** Directories that last as long as the session (S-12). */
const PRIVATE_PLACES = ['/tmp', '/var/tmp', '/dev/shm']

/** Deeper ones are refused too, in git's words. */
const LEVELS_MAX = 12

/** How addresses of servers and paths begin, by the name that the channel has for the kind. */
const ADDRESSES = [
  ['https', 'https://'],
  ['http', 'http://'],
  ['ssh', 'ssh://'],
  ['scp', 'git@'],
  ['path', '/'],
  ['path', 'file://'],
  ...upwards().map((start) => ['path', start] as const),
] as const

/** The whole beginning, since what is left of `..` would be taken for a way up in the channel's address. */
function upwards(): readonly string[] {
  return Array.from({ length: LEVELS_MAX }, (_, index) => '../'.repeat(index + 1))
}

export class HeldPushes implements PushKeeper {
  readonly #parts: PushParts
  readonly #answers: HeldAnswers
  /** References that pushes of this session have set, by server: the real repository learns of it later. */
  readonly #sent = new Map<string, ReadonlyMap<string, string>>()

  /** What the real repository knew before the session wrote to it: its own git sets references too. */
  readonly #before: Promise<ReadonlySet<string>>

  constructor(parts: PushParts) {
    this.#parts = parts
    this.#before = parts.surface.trackingRefs(parts.tree)
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
        this.#known(remote).then((known) =>
          surface.push(ground, { remote, commands, pack, tree, known }),
        ),
      )
      const says = 'writ: the push is held until a person has answered: writ inbox'
      return { says, end: this.#end(key, actionId, order) }
    } finally {
      if (pack !== null) rmSync(pack, { force: true })
    }
  }

  /** Commits that the server has, by references that no agent wrote and pushes that were sent. */
  async #known(remote: string): Promise<readonly string[]> {
    const { surface, tree } = this.#parts
    const refs = await surface.knownRefs(tree, remote, await this.#before)
    const sent = [...(this.#sent.get(remote)?.values() ?? [])]
    return [...refs.map(({ id }) => id), ...sent].filter((id) => !NONE.test(id))
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
