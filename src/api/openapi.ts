/** The routes as an OpenAPI 3.1 document: what programs without our client are driven by. */
import { CONTRACTS, publishSchema } from '../contracts/index.ts'
import { exampleProposal, GUIDE, USES } from './api-guide.ts'
import { COMMAND_JSON, type Route } from './shape/route.ts'
import { FactShape, ProblemShape } from './shape/shapes.ts'

const PROBLEMS: Readonly<Record<number, string>> = {
  400: 'The request is malformed.',
  401: 'The token is missing, unknown, revoked or expired.',
  403: 'The caller may not do this.',
  404: 'There is nothing under this name, or the caller may not know of it.',
  409: 'Something else is under way, or was done under the same key.',
  412: 'What the request names by its digest is not what is there now.',
  413: 'The request is too large.',
  415: 'The body is not JSON.',
  422: 'The document was read and is wrong.',
  429: 'The caller asks too often.',
  500: 'The service failed; nothing was let through.',
  503: 'The service stops, or its ledger cannot be reached now.',
  507: 'The disk of the state is full; nothing was recorded or changed.',
}

interface ApiHead {
  readonly version: string
  readonly url: string
}

export function openApiDocument(
  routes: Readonly<Record<string, Route>>,
  { version, url }: ApiHead,
): Readonly<Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [name, one] of Object.entries(routes)) {
    const methods = { ...paths[one.path], [one.method.toLowerCase()]: operationOf(name, one) }
    paths[one.path] = methods
  }
  return {
    openapi: '3.1.0',
    info: { title: 'writ', version, description: GUIDE },
    servers: [{ url }],
    security: [{ bearer: [] }],
    paths,
    components: {
      schemas: { ...schemas(), fact: FactShape },
      responses: responses(),
      securitySchemes: SECURITY,
    },
  }
}

const SECURITY = {
  bearer: { type: 'http', scheme: 'bearer', description: 'A token of `writ token create`.' },
}

function operationOf(name: string, one: Route) {
  const { body, method, media, says } = one
  return {
    operationId: name,
    tags: [one.tag],
    summary: says,
    ...(USES[name] === undefined ? {} : { description: USES[name] }),
    ...(one.who === 'anyone' ? { security: [] } : {}),
    'x-writ-who': one.who,
    ...(one.command === null ? {} : { 'x-writ-command': one.command }),
    parameters: [
      ...parametersIn('path', one.params),
      ...parametersIn('query', one.query),
      ...(method === 'POST' ? POST_HEADERS : []),
      ...(media === 'text/event-stream' ? [LAST_EVENT] : []),
    ],
    ...(body === undefined ? {} : { requestBody: bodyOf(name, body) }),
    responses: { ...answersOf(one), default: { $ref: '#/components/responses/Problem' } },
  }
}

function bodyOf(name: string, schema: NonNullable<Route['body']>) {
  const examples =
    name === 'proposeAction'
      ? { examples: { write: { summary: 'Write a file.', value: exampleProposal() } } }
      : {}
  return { required: true, content: { 'application/json': { schema, ...examples } } }
}

function header(name: string, description: string) {
  return { name, in: 'header', required: false, description, schema: { type: 'string' } }
}

const POST_HEADERS = [
  header(
    'Idempotency-Key',
    'Up to 200 printable characters without spaces; a request under the same key is done once.',
  ),
  header('Prefer', '`wait=N`: for how many seconds the service may work before it answers 202.'),
]

const LAST_EVENT = header('Last-Event-ID', 'The `id` of the last event: the next ones come.')

function parametersIn(place: 'path' | 'query', schema: Route['params']) {
  if (schema === undefined) return []
  const needed: readonly string[] = schema.required ?? []
  return Object.entries(schema.properties).map(([name, one]) => ({
    name,
    in: place,
    required: needed.includes(name),
    schema: one,
  }))
}

function answersOf({ answers, media: own, spoken }: Route) {
  const media: string = own ?? 'application/json'
  // What the command prints, for clients that ask for it.
  const printed =
    spoken === undefined ? {} : { 'text/plain': { schema: { type: 'string' } }, [COMMAND_JSON]: {} }
  return Object.fromEntries(
    Object.entries(answers).map(([status, schema]) => [
      status,
      {
        description: DESCRIPTIONS[status] ?? 'The answer.',
        content: { [media]: { schema }, ...printed },
      },
    ]),
  )
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  200: 'The answer.',
  202: 'Not decided yet; `Location` names where the answer will be.',
}

function responses() {
  const rows = Object.entries(PROBLEMS).map(([status, words]) => `${status}: ${words}`)
  const content = { 'application/problem+json': { schema: ProblemShape } }
  return { Problem: { description: rows.join('\n'), content } }
}

/** Parts of a schema that others refer to have places of their own, `contract.Part`. */
function schemas() {
  return Object.fromEntries(
    CONTRACTS.flatMap((contract) => {
      const { $schema: _dialect, $id: _id, $defs = {}, ...schema } = publishSchema(contract)
      const own = [contract.name, relocated(schema, contract.name)]
      // Definitions of a schema are an object.
      const parts = Object.entries($defs as object).map(([name, part]) => [
        `${contract.name}.${name}`,
        relocated(part, contract.name),
      ])
      return [own, ...parts]
    }),
  )
}

const PART = '#/$defs/'

function relocated(node: unknown, name: string): unknown {
  if (Array.isArray(node)) return node.map((one) => relocated(one, name))
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) =>
      key === '$ref' && typeof value === 'string' && value.startsWith(PART)
        ? [key, `#/components/schemas/${name}.${value.slice(PART.length)}`]
        : [key, relocated(value, name)],
    ),
  )
}
