/**
 * Where commands arrive that a session hands over because they need the person's credentials (S-15). It
 * runs nothing itself; what the agent's program hears is what became of its command, in lines of JSON.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { refuse } from './gateway.ts'

/** As the program inside sent it; nothing of it was looked at. */
export interface CommandOrder {
  readonly program: string
  readonly document: unknown
}

export interface HeldCommandEnd {
  readonly isDone: boolean
  /** One line for the agent. */
  readonly says: string
  /** What the program printed outside. */
  readonly output: string
}

export interface HeldCommand {
  readonly says: string
  /** Resolves when a person has answered, or after a while. */
  readonly end: Promise<HeldCommandEnd>
}

export interface CommandKeeper {
  /** Null for a command that runs inside. Fails if the command cannot be asked about. */
  hold(order: CommandOrder): Promise<HeldCommand | null>
}

/** Room for a packed file of 64 MB as text. */
const ORDER_BYTES_MAX = 96 * 1024 * 1024

export async function serveCommand(
  keeper: CommandKeeper,
  program: string,
  asked: IncomingMessage,
  answer: ServerResponse,
): Promise<void> {
  if (asked.method !== 'POST') return refuse(answer, 404, 'there is nothing here')
  const tell = (line: Readonly<Record<string, unknown>>): void => {
    answer.write(`${JSON.stringify(line)}\n`)
  }
  answer.writeHead(200, { 'content-type': 'application/x-ndjson' })
  try {
    const held = await keeper.hold({ program, document: JSON.parse(await textOf(asked)) })
    if (held === null) return tell({ isOwn: true })
    tell({ says: held.says })
    const { isDone, says, output } = await held.end
    tell({ says })
    tell({ output, status: isDone ? 0 : 1 })
  } catch (error) {
    tell({ says: error instanceof Error ? error.message : String(error), status: 1 })
  } finally {
    answer.end()
  }
}

async function textOf(asked: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of asked) {
    // A request without an encoding gives buffers.
    const chunk = piece as Buffer
    bytes += chunk.length
    if (bytes > ORDER_BYTES_MAX) throw new Error('the command and its files are longer than 64 MB')
    pieces.push(chunk)
  }
  return Buffer.concat(pieces).toString('utf8')
}
