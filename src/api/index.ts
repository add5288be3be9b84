/**
 * Room: api. The routes of the service as data: schemas of requests and answers, who may call, the
 * OpenAPI document and the typed client that follow from them. Pure; runs in browsers. Sees base and
 * contracts.
 */
export {
  type Client,
  type ClientOptions,
  createClient,
  PAGE_KEY_HEADER,
  ProblemError,
  type ServiceAnswer,
} from './client.ts'
export { commandWords, type FilePlaces } from './command-words.ts'
export { type Cursor, formatCursor, parseCursor } from './cursor.ts'
export { openApiDocument } from './openapi.ts'
export { type ProblemDocument, problemOf, requestProblem } from './problem.ts'
export { RequestReader } from './request.ts'
export type { ActDocument } from './routes/actions.ts'
export { ROUTES, type RouteName } from './routes/routes.ts'
export { COMMAND_JSON, type CommandLine, type Route, type Who } from './shape/route.ts'
