/** Which function answers which route. */
import { statfs } from 'node:fs/promises'
import { openApiDocument, ROUTES, type RouteName } from '../../api/index.ts'
import { faultError, VERSION } from '../../base/index.ts'
import { MAIN_STREAM, mayKnow } from '../../ledger/index.ts'
import { listActions, proposeAction, showAction } from './actions.ts'
import { claimTask, listDeviceTasks, sayAsDevice, startTask } from './devices.ts'
import { checkOne, checkRules, evaluateRules, normalizeOne } from './documents.ts'
import {
  addPasskey,
  createChallenge,
  login,
  logout,
  offerLogin,
  offerPasskey,
  renewRecoveryCodes,
  showDoor,
  showMe,
} from './passkeys.ts'
import {
  approveQuestion,
  denyQuestion,
  listQuestions,
  showChange,
  showPart,
  showQuestion,
} from './questions.ts'
import type { Handler } from './route-call.ts'
import { listSimilar } from './similar.ts'
import { listFacts, listStreams, proveKeys, proveOne, readTile, showCheckpoint } from './streams.ts'
import { issueTask, submitReceipt } from './tasks.ts'
import { listUndoRequests, requestUndo } from './undo.ts'

/** Routes that a function of the service answers; the others are answered by commands (`commands.ts`). */
type OwnRoute = {
  [Name in RouteName]: (typeof ROUTES)[Name] extends { readonly runs: unknown } ? never : Name
}[RouteName]

/** With less than this on the disk of the state the service is not ready. */
const ROOM_BYTES = 256 << 10

/** Events are a stream of their own (`events.ts`). */
export const HANDLERS: {
  readonly [Name in Exclude<OwnRoute, 'followEvents'>]: Handler<Name>
} = {
  isAlive: async () => ({ value: { ok: true } }),
  isReady: async ({ home }) => {
    await home.ledger.store.heads()
    const { bavail, bsize } = await statfs(home.home.state)
    if (bavail * bsize >= ROOM_BYTES) return { value: { ready: true } }
    const message = 'the disk of the state has no room: nothing can be recorded'
    throw faultError('ledger.disk_full', '', message, 'make room; the service goes on by itself')
  },
  describeApi: async () => ({ value: openApiDocument(ROUTES, { version: VERSION, url: '/' }) }),
  showMetrics: async ({ caller, metrics }) => {
    // Counts over all streams are not for callers of one of them (L-7).
    if (mayKnow(caller, MAIN_STREAM)) return { value: await metrics() }
    throw faultError('principal.scope', '', 'the metrics are for callers of the main stream')
  },
  proposeAction,
  listActions,
  showAction,
  listQuestions,
  showQuestion,
  showChange,
  listSimilar,
  showPart,
  approveQuestion,
  denyQuestion,
  showDoor,
  offerLogin,
  login,
  logout,
  showMe,
  createChallenge,
  offerPasskey,
  addPasskey,
  renewRecoveryCodes,
  requestUndo,
  listUndoRequests,
  listStreams,
  listFacts,
  showCheckpoint,
  proveFact: proveOne,
  proveKeys,
  readTile,
  issueTask,
  submitReceipt,
  listDeviceTasks,
  claimTask,
  startTask,
  sayAsDevice,
  checkDocument: checkOne,
  normalizeDocument: normalizeOne,
  checkRules,
  evaluateRules,
}
