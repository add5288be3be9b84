/**
 * The thread that commits for a busy process: it opens the ledger by itself, commits what it is sent as
 * one batch, and answers after the commit. `close` brings its index on and ends it.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { type Fault, FaultError } from '../../base/index.ts'
import type { Appended, FactDraft } from '../../ledger/index.ts'
import { openKeys } from '../keys/keys.ts'
import { Engine } from './engine.ts'

/** What the thread is started with. */
export interface ThreadPlace {
  readonly file: string
  readonly keysDirectory: string
}

/** The drafts of each caller. */
export type ThreadOrder = readonly (readonly FactDraft[])[] | 'close'

/** `opened` comes once, `closed` last; between them one answer for each batch. */
export type ThreadAnswer =
  | { readonly kind: 'opened' }
  | { readonly kind: 'committed'; readonly outcomes: readonly ThreadOutcome[] }
  | { readonly kind: 'closed'; readonly fault: Fault | null }

/** Errors do not cross between threads as what they are. */
type ThreadOutcome = { readonly appended: readonly Appended[] } | { readonly fault: Fault }

// What `CommitThread` hands over.
const { file, keysDirectory } = workerData as ThreadPlace
const engine = new Engine({ file, keys: openKeys(keysDirectory) })
const tell = (answer: ThreadAnswer): void => parentPort?.postMessage(answer)

parentPort?.on('message', (order: ThreadOrder) => {
  if (order === 'close') {
    tell({ kind: 'closed', fault: faultOf(() => engine.close()) })
    parentPort?.close()
    return
  }
  const outcomes = engine.commit(order.map((drafts) => ({ drafts })))
  tell({
    kind: 'committed',
    outcomes: outcomes.map((outcome) =>
      outcome instanceof FaultError ? { fault: outcome.fault } : { appended: outcome },
    ),
  })
  // A failure there does not undo what was acknowledged; the next look at the index finds it.
  faultOf(() => engine.isFarBehind && engine.followUp())
})
tell({ kind: 'opened' })

function faultOf(work: () => void): Fault | null {
  try {
    work()
    return null
  } catch (error) {
    if (error instanceof FaultError) return error.fault
    throw error
  }
}
