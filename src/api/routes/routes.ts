/** Every route of the service. */
import { ACTION_ROUTES } from './actions.ts'
import { DOCUMENT_ROUTES } from './documents.ts'
import { QUESTION_ROUTES } from './questions.ts'
import { SERVICE_ROUTES } from './service.ts'
import { STREAM_ROUTES } from './streams.ts'

export const ROUTES = {
  ...SERVICE_ROUTES,
  ...ACTION_ROUTES,
  ...QUESTION_ROUTES,
  ...STREAM_ROUTES,
  ...DOCUMENT_ROUTES,
}

export type RouteName = keyof typeof ROUTES
