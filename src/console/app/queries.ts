/** What pages read of the service. Nothing is shown before the service has recorded it. */
import { keepPreviousData, QueryCache, QueryClient } from '@tanstack/react-query'
import { ProblemError } from '../../api/index.ts'
import { keepPageKey } from './page-key.ts'
import { client, isSignedOut } from './service.ts'

const RETRIES_MAX = 2
export const QUESTIONS_A_PAGE = 100
/** What an agent has changed and not settled is no fact, so no event tells of it. */
const SESSION_MS = 5_000

/** Sends the person to the login page once the service no longer knows them. */
function leaveWhenSignedOut(error: unknown): void {
  if (!isSignedOut(error)) return
  keepPageKey(null)
  if (window.location.pathname !== '/login') window.location.assign('/login')
}

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: leaveWhenSignedOut }),
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      refetchOnWindowFocus: true,
      retry: (count, error) => !(error instanceof ProblemError) && count < RETRIES_MAX,
    },
  },
})

const READ_MS = 50
const READ_MS_MAX = 10_000

/** Waits until no page reads a session: a look at one that does not run holds it for a moment. */
export async function sessionsRead(): Promise<void> {
  const isRead = (): boolean =>
    queries.isFetching({
      predicate: ({ queryKey: [family] }) => family === 'sessions' || family === 'session-diff',
    }) === 0
  for (let waited = 0; !isRead() && waited < READ_MS_MAX; waited += READ_MS)
    await new Promise((resolve) => setTimeout(resolve, READ_MS))
}

interface SessionEvaluation {
  readonly action_id: string
  readonly session?: { readonly session_id: string }
}

interface HaltFact {
  readonly occurred_at: string
  readonly principal: { readonly kind: string; readonly id: string; readonly namespace: string }
  readonly record: {
    readonly payload: { readonly state: 'HALTED' | 'RESUMED'; readonly reason?: string }
  }
}

/** The family of a query is the first word of its key; live facts renew families. */
export const reads = {
  door: () => ({ queryKey: ['door'], queryFn: async () => (await client.showDoor({})).value }),
  me: () => ({ queryKey: ['people', 'me'], queryFn: async () => (await client.showMe({})).value }),
  /** A window of the inbox: long ones are never read at once. */
  questions: (page: number) => ({
    queryKey: ['questions', 'page', page],
    queryFn: async () => {
      const query = { from: page * QUESTIONS_A_PAGE, limit: QUESTIONS_A_PAGE }
      return (await client.listQuestions({ query })).value
    },
  }),
  alike: (shape: string) => ({
    queryKey: ['questions', 'alike', shape],
    queryFn: async () => (await client.listQuestions({ query: { shape } })).value.questions,
  }),
  question: (id: string) => ({
    queryKey: ['questions', id],
    queryFn: async () => (await client.showQuestion({ params: { id } })).value,
  }),
  change: (id: string, digest: string, path: string) => ({
    queryKey: ['change', id, digest, path],
    queryFn: async () => (await client.showChange({ params: { id }, query: { path } })).value,
    staleTime: Number.POSITIVE_INFINITY,
  }),
  similar: (id: string) => ({
    queryKey: ['questions', id, 'similar'],
    queryFn: async () => (await client.listSimilar({ params: { id } })).value,
  }),
  undoRequests: () => ({
    queryKey: ['questions', 'undo'],
    queryFn: async () => (await client.listUndoRequests({})).value.undo_requests,
  }),
  explanation: (id: string, stream: string) => ({
    queryKey: ['actions', id, 'explanation'],
    queryFn: async () =>
      (await client.explainDecision({ params: { id }, query: { stream } })).value,
  }),
  actions: (limit: number) => ({
    queryKey: ['actions', 'list', limit],
    queryFn: async () => (await client.listActions({ query: { limit } })).value.actions,
  }),
  action: (id: string) => ({
    queryKey: ['actions', id],
    queryFn: async () => (await client.showAction({ params: { id } })).value,
  }),
  factsOf: (stream: string, action: string) => ({
    queryKey: ['actions', action, 'facts'],
    queryFn: async () =>
      (await client.listFacts({ params: { stream }, query: { action } })).value.facts,
  }),
  sessions: () => ({
    queryKey: ['sessions'],
    queryFn: async () => (await client.listSessions({})).value.sessions,
  }),
  session: (id: string) => ({
    queryKey: ['sessions', id],
    queryFn: async () => (await client.showSession({ params: { id } })).value,
    // The layers of one that does not run are mounted for each look.
    refetchInterval: ({
      state: { data },
    }: {
      readonly state: { readonly data?: object | undefined }
    }) => (data !== undefined && 'state' in data && data.state === 'running' ? SESSION_MS : false),
  }),
  /** Read again only after the session was: one that has ended meanwhile has none. */
  sessionDiff: (id: string, sessionReadAt: number) => ({
    queryKey: ['session-diff', id, sessionReadAt],
    queryFn: async () => (await client.diffSession({ params: { id } })).value,
    staleTime: 'static' as const,
    placeholderData: keepPreviousData,
  }),
  /** The ids of the acts of a session, as the evaluations on record name it. */
  sessionActs: (id: string) => ({
    queryKey: ['session-acts', id],
    queryFn: async () => {
      const query = { type: 'evaluation_v1', order: 'newest_first' as const, limit: 200 }
      const { value } = await client.listFacts({ params: { stream: 'main' }, query })
      // Facts of this type have these fields.
      const facts = value.facts as readonly {
        readonly record: { readonly payload?: SessionEvaluation }
      }[]
      return facts.flatMap(({ record }) =>
        record.payload?.session?.session_id === id ? [record.payload.action_id] : [],
      )
    },
  }),
  runs: () => ({
    queryKey: ['runs'],
    queryFn: async () => (await client.listRuns({ query: { limit: 200 } })).value.runs,
  }),
  run: (id: string) => ({
    queryKey: ['runs', id],
    queryFn: async () => (await client.showRun({ params: { id }, query: {} })).value,
  }),
  runFlow: (id: string) => ({
    queryKey: ['runs', id, 'flow'],
    queryFn: async () =>
      (await client.drawRun({ params: { id }, query: { format: 'json' } })).value,
  }),
  report: (id: string) => ({
    queryKey: ['runs', id, 'report'],
    queryFn: async () => (await client.reportRun({ params: { id }, query: {} })).value,
  }),
  node: (id: string, node: string) => ({
    queryKey: ['runs', id, 'node', node],
    queryFn: async () => (await client.showNode({ params: { id, node }, query: {} })).value,
  }),
  tasks: () => ({
    queryKey: ['tasks'],
    queryFn: async () => (await client.listTasks({ query: { limit: 1_000 } })).value.tasks,
  }),
  task: (id: string) => ({
    queryKey: ['tasks', id],
    queryFn: async () => (await client.showTask({ params: { id }, query: {} })).value,
  }),
  streams: () => ({
    queryKey: ['ledger', 'streams'],
    queryFn: async () => (await client.listStreams({})).value.streams,
  }),
  laws: () => ({ queryKey: ['laws'], queryFn: async () => (await client.showLaws({})).value }),
  /** The newest fact about a halt; null where there never was one. */
  halt: () => ({
    queryKey: ['laws', 'halt'],
    queryFn: async () => {
      const query = { type: 'halt_v1', order: 'newest_first' as const, limit: 1 }
      const { value } = await client.listFacts({ params: { stream: 'host' }, query })
      const [newest] = value.facts as readonly HaltFact[] // Facts of this type have these fields.
      return newest ?? null
    },
  }),
  devices: () => ({
    queryKey: ['tasks', 'devices'],
    queryFn: async () => (await client.listDevices({})).value.devices,
  }),
  grants: () => ({
    queryKey: ['laws', 'grants'],
    queryFn: async () => (await client.listGrants({})).value.grants,
  }),
  principals: () => ({
    queryKey: ['people', 'principals'],
    queryFn: async () => (await client.listPrincipals({})).value,
  }),
  passkeys: () => ({
    queryKey: ['people', 'passkeys'],
    queryFn: async () => (await client.listPasskeys({})).value.passkeys,
  }),
  witnesses: () => ({
    queryKey: ['people', 'witnesses'],
    queryFn: async () => (await client.listWitnesses({})).value.witnesses,
  }),
  tokens: () => ({
    queryKey: ['people', 'tokens'],
    queryFn: async () => (await client.listTokens({})).value.tokens,
  }),
}
