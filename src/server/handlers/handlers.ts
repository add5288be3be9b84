/** Which function answers which route. */
import { openApiDocument, ROUTES, type RouteName } from '../../api/index.ts'
import { VERSION } from '../../base/index.ts'
import type { Handler } from '../call/route-call.ts'
import { listActions, proposeAction, showAction } from './actions.ts'
import { checkOne, checkRules, evaluateRules, normalizeOne } from './documents.ts'
import { approveQuestion, denyQuestion, listQuestions, showQuestion } from './questions.ts'
import { listFacts, listStreams, proveOne, readTile, showCheckpoint } from './streams.ts'

/** Routes that a function of the service answers; the others are answered by commands (`commands.ts`). */
type OwnRoute = {
  [Name in RouteName]: (typeof ROUTES)[Name] extends { readonly runs: unknown } ? never : Name
}[RouteName]

/** Events are a stream of their own (`events.ts`). */
export const HANDLERS: { readonly [Name in Exclude<OwnRoute, 'followEvents'>]: Handler<Name> } = {
  isAlive: async () => ({ value: { ok: true } }),
  isReady: async ({ home }) => {
    await home.ledger.store.heads()
    return { value: { ready: true } }
  },
  describeApi: async () => ({ value: openApiDocument(ROUTES, { version: VERSION, url: '/' }) }),
  proposeAction,
  listActions,
  showAction,
  listQuestions,
  showQuestion,
  approveQuestion,
  denyQuestion,
  listStreams,
  listFacts,
  showCheckpoint,
  proveFact: proveOne,
  readTile,
  checkDocument: checkOne,
  normalizeDocument: normalizeOne,
  checkRules,
  evaluateRules,
}
