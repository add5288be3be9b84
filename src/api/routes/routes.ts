/** Every route of the service. */
import { ACTION_ROUTES } from './actions.ts'
import { DOCUMENT_ROUTES } from './documents.ts'
import { FLOW_ROUTES } from './flows.ts'
import { INBOX_ROUTES } from './inbox.ts'
import { LAW_ROUTES } from './laws.ts'
import { PASSKEY_ROUTES } from './passkeys.ts'
import { PEOPLE_ROUTES } from './people.ts'
import { QUESTION_ROUTES } from './questions.ts'
import { RUN_ROUTES } from './runs.ts'
import { SCHEDULE_ROUTES } from './schedules.ts'
import { SERVICE_ROUTES } from './service.ts'
import { SESSION_ROUTES } from './sessions.ts'
import { STREAM_ROUTES } from './streams.ts'
import { TASK_ROUTES } from './tasks.ts'
import { UPKEEP_ROUTES } from './upkeep.ts'
import { WITNESS_ROUTES } from './witnesses.ts'

export const ROUTES = {
  ...SERVICE_ROUTES,
  ...ACTION_ROUTES,
  ...QUESTION_ROUTES,
  ...INBOX_ROUTES,
  ...SESSION_ROUTES,
  ...RUN_ROUTES,
  ...FLOW_ROUTES,
  ...SCHEDULE_ROUTES,
  ...TASK_ROUTES,
  ...LAW_ROUTES,
  ...PEOPLE_ROUTES,
  ...PASSKEY_ROUTES,
  ...STREAM_ROUTES,
  ...DOCUMENT_ROUTES,
  ...UPKEEP_ROUTES,
  ...WITNESS_ROUTES,
}

export type RouteName = keyof typeof ROUTES
