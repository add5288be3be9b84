/**
 * The server that `git push` reaches inside a session (S-15): takes the commits, and holds them until a
 * person has answered. It never sends anything itself; what the agent's git hears is what became of it.
 */
import { closeSync, openSync, writeSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { refuse } from './gateway.ts'
import {
  advertise,
  NO_OBJECT,
  type RefCommand,
  type RemoteRef,
  readCommands,
  report,
  wordsPacket,
} from './git-wire.ts'

export interface PushOrder {
  /** The address that the agent's git would have used. */
  readonly remote: string
  readonly commands: readonly RefCommand[]
  /** A file with the commits; null for a push that only removes references. */
  readonly pack: string | null
}

/** What became of a push. */
export interface PushEnd {
  readonly isSent: boolean
  /** One line for the agent. */
  readonly says: string
}

export interface HeldPush {
  /** Tells the agent that a person is asked. */
  readonly says: string
  /** Resolves when a person has answered, or after a while. */
  readonly end: Promise<PushEnd>
}

export interface PushKeeper {
  /** What the server has, as far as it is known here. */
  refs(remote: string): Promise<readonly RemoteRef[]>
  /** A new file for the commits of a push. */
  packFile(): string
  /** Fails if the push cannot be asked about. */
  hold(order: PushOrder): Promise<HeldPush>
}

const SERVICE = 'git-receive-pack'
const HEAD_BYTES_MAX = 1024 * 1024
const PACK_BYTES_MAX = 512 * 1024 * 1024
const RESULT = { 'content-type': `application/x-${SERVICE}-result`, 'cache-control': 'no-cache' }

/** `path` is what follows the name of the kind of address, with its query. */
export async function servePush(
  keeper: PushKeeper,
  scheme: string,
  path: string,
  asked: IncomingMessage,
  answer: ServerResponse,
): Promise<void> {
  const [, place = '', action = ''] =
    /^(.+)\/(info\/refs|git-receive-pack)(?:\?|$)/.exec(path) ?? []
  if (scheme === PATH) return refusePath(answer)
  const remote = remoteOf(scheme, decodeURIComponent(place))
  if (remote === null) return refuse(answer, 404, 'there is no such address to push to')
  if (action === 'info/refs' && asked.method === 'GET') {
    const type = `application/x-${SERVICE}-advertisement`
    answer.writeHead(200, { 'content-type': type, 'cache-control': 'no-cache' })
    return void answer.end(advertise(await keeper.refs(remote)))
  }
  if (asked.method !== 'POST') return refuse(answer, 404, 'there is nothing here')
  const { commands, pack } = await readPush(asked, keeper)
  answer.writeHead(200, RESULT)
  // Git tries the way first, with a push of nothing.
  if (commands.length === 0) return void answer.end()
  try {
    const held = await keeper.hold({ remote, commands, pack })
    answer.write(wordsPacket(held.says))
    const { isSent, says } = await held.end
    answer.write(wordsPacket(says))
    answer.end(report(commands, isSent ? null : 'not sent'))
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error)
    answer.write(wordsPacket(`writ: ${words}`))
    answer.end(report(commands, 'not sent'))
  }
}

/** The kind of address that is a path of this machine. */
const PATH = 'path'

/** Git shows a plain text to the one who pushes. The receiving git would run what that directory says. */
function refusePath(answer: ServerResponse): void {
  answer.writeHead(403, { 'content-type': 'text/plain' })
  answer.end(
    'writ: a session does not push to a directory outside of its scope, or by a way with `..`, and ' +
      'nothing was sent. A person can push what is committed, at a terminal of their own: git push\n',
  )
}

/** Only addresses of servers: other forms of git's addresses name programs or files. */
function remoteOf(scheme: string, place: string): string | null {
  // The rest of the address is one word; a name or a password in it is the agent's own.
  if (!/^[\w.@:~[\]-][\w./@:~%+[\]-]*$/.test(place) || place.startsWith('-')) return null
  if (scheme === 'https' || scheme === 'http') {
    return place.includes('@') ? null : `${scheme}://${place}`
  }
  if (scheme === 'ssh') return /^[^/]*:[^/]*@/.test(place) ? null : `ssh://${place}`
  return scheme === 'scp' && /^[\w.-]+:[\w~./-]/.test(place) ? `git@${place}` : null
}

async function readPush(
  asked: IncomingMessage,
  keeper: PushKeeper,
): Promise<Pick<PushOrder, 'commands' | 'pack'>> {
  let head = Buffer.alloc(0)
  let read: ReturnType<typeof readCommands> = null
  let file: number | null = null
  let pack: string | null = null
  let bytes = 0
  try {
    for await (const piece of asked) {
      // A request without an encoding gives buffers.
      let chunk = piece as Buffer
      if (read === null) {
        head = Buffer.concat([head, chunk])
        read = readCommands(head)
        if (read === null && head.length > HEAD_BYTES_MAX) throw new Error('the push is too long')
        if (read === null) continue
        chunk = head.subarray(read.end)
      }
      bytes += chunk.length
      if (bytes > PACK_BYTES_MAX) throw new Error('the push is longer than 512 MB')
      if (chunk.length === 0) continue
      pack ??= keeper.packFile()
      file ??= openSync(pack, 'wx', 0o600)
      writeSync(file, chunk)
    }
  } finally {
    if (file !== null) closeSync(file)
  }
  const commands = read?.commands ?? []
  const isRemoval = commands.every(({ after }) => after === NO_OBJECT)
  return { commands, pack: isRemoval ? null : pack }
}
