/**
 * The writer's thread: owns the engine, takes everything that has queued up, commits it, answers, and
 * looks again. In quiet moments it brings the index on. An entry point of its own: the build makes one
 * file of it, because Node starts threads from files.
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads'
import { type Fault, FaultError, invariant } from '../base/index.ts'
import type { Appended, Draft } from '../ledger/index.ts'
import { keyFromSeed } from './ed25519.ts'
import { Engine } from './engine.ts'
import { openKeys } from './keys.ts'
import type { Answer } from './ledger-file.ts'

/** The index is brought on when nobody has asked for this long; commits wait for no clock. */
const QUIET_MS = 50

/** What the thread is started with; plain values only. */
export interface ThreadOptions {
  readonly file: string
  readonly keysDirectory: string
  readonly waitMsMax?: number
}

export interface ThreadCall {
  readonly id: number
  readonly drafts: readonly Draft[]
  /** The seed of the key to turn to. */
  readonly rotateTo?: Uint8Array
}

export type ThreadMessage = readonly ThreadCall[] | 'close'

export type ThreadAnswer =
  | { readonly kind: 'refused'; readonly fault: Fault }
  | {
      readonly kind: 'answers'
      readonly answers: readonly (
        | { readonly id: number; readonly appended: readonly Appended[] }
        | { readonly id: number; readonly fault: Fault }
      )[]
    }

if (parentPort !== null) run(parentPort, workerData as ThreadOptions)

function run(port: NonNullable<typeof parentPort>, options: ThreadOptions): void {
  const tell = (answer: ThreadAnswer): void => port.postMessage(answer)
  const engine = open(options, tell)
  if (engine === null) return
  let isClosing = false
  let isFollowing = false
  let found: Fault | null = null
  /** A ledger that was changed is told to callers that append or close; nobody waits for the index. */
  const hasMore = (): boolean => {
    try {
      return engine.followUp()
    } catch (error) {
      if (!(error instanceof FaultError)) throw error
      found ??= error.fault
      return false
    }
  }
  const followUp = (): void => {
    // One stretch, then the queue again: an append never waits for more than one.
    isFollowing = !isClosing && hasMore()
    if (isFollowing) setImmediate(followUp)
  }
  const quiet = setTimeout(() => {
    if (!isFollowing) followUp()
  }, QUIET_MS)
  port.on('message', (first: ThreadMessage) => {
    const calls: ThreadCall[] = []
    for (let message: ThreadMessage | undefined = first; message !== undefined; ) {
      if (message === 'close') isClosing = true
      else calls.push(...message)
      message = receiveMessageOnPort(port)?.message
    }
    if (calls.length > 0) tell({ kind: 'answers', answers: commit(engine, calls) })
    quiet.refresh()
    if (engine.isFarBehind) hasMore()
    if (!isClosing) return
    clearTimeout(quiet)
    found = close(engine) ?? found
    if (found !== null) tell({ kind: 'refused', fault: found })
    port.close()
  })
}

/** Returns what was wrong with the ledger. */
function close(engine: Engine): Fault | null {
  try {
    engine.close()
    return null
  } catch (error) {
    if (error instanceof FaultError) return error.fault
    throw error
  }
}

function open(
  { file, keysDirectory, waitMsMax }: ThreadOptions,
  tell: (answer: ThreadAnswer) => void,
): Engine | null {
  try {
    const keys = openKeys(keysDirectory)
    return new Engine(waitMsMax === undefined ? { file, keys } : { file, keys, waitMsMax })
  } catch (error) {
    if (!(error instanceof FaultError)) throw error
    tell({ kind: 'refused', fault: error.fault })
    return null
  }
}

function commit(engine: Engine, calls: readonly ThreadCall[]) {
  const answers = engine.commit(
    calls.map(({ drafts, rotateTo }) =>
      rotateTo === undefined ? { drafts } : { drafts, rotateTo: keyFromSeed(rotateTo) },
    ),
  )
  return calls.map(({ id }, index) => answerTo(id, answers[index]))
}

function answerTo(id: number, answer: Answer | undefined) {
  invariant(answer !== undefined, 'every call has its answer')
  return answer instanceof FaultError ? { id, fault: answer.fault } : { id, appended: answer }
}
