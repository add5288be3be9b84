/** The column of HTTP in the matrix of principals (H-5, I1): every route, called with every kind of token. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROUTES, type Route } from '../../src/api/index.ts'
import { COMMANDS } from '../../src/cli/commands/table.ts'
import { HTTP_WHO, ROWS } from '../laws/principals.ts'
import { PASSPHRASE, ServicePlace } from './service-place.ts'

const ACTORS = ['ai', 'script', 'device'] as const
const SCOPES = ['read', 'propose', 'flows', 'tasks'] as const
type Kind = (typeof ACTORS)[number] | 'human' | (typeof SCOPES)[number]

let place: ServicePlace
const tokens = new Map<Kind, string>()

beforeAll(async () => {
  place = new ServicePlace('who')
  for (const kind of ACTORS) tokens.set(kind, place.tokenOf(`${kind}:bot@local`))
  tokens.set('human', place.tokenOf('human:bea@local'))
  for (const scope of SCOPES)
    tokens.set(scope, place.anotherToken('script:bot@local', '--scope', scope))
  await place.serve()
}, 240_000)

afterAll(async () => {
  await place.end()
  place.remove()
})

/** Ends at the first thing that is wrong: who calls, then the proof, then a field that no route has. */
async function endOf({ method, path }: Route, kind: Kind, passphrase?: string): Promise<string> {
  const proof = passphrase === undefined ? {} : { proof: { passphrase } }
  const { json, status } = await place.raw({
    method,
    path: `${path.replaceAll(/\{\w+\}/g, 'run-0')}?no_such_field=1`,
    headers: {
      authorization: `Bearer ${tokens.get(kind)}`,
      ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
    },
    ...(method === 'POST' ? { body: JSON.stringify({ no_such_field: 1, ...proof }) } : {}),
  })
  return json?.code ?? String(status)
}

const REFUSED = ['principal.not_human', 'principal.not_human', 'principal.not_human']
const PASSED = 'api.malformed'
const TABLE: Readonly<Record<string, Route>> = ROUTES

it('names every route', () => {
  const named = Object.values(HTTP_WHO).flat()
  expect([...named].sort()).toEqual(Object.keys(ROUTES).sort())
})

it('is no wider than the column of the command line', () => {
  // What actors may not call at a terminal, no token of an actor may call over HTTP.
  const refused = new Set(
    ROWS.filter(({ ends }) => ends.ai === 'principal.not_human').map(({ command }) => command),
  )
  const open = new Set(ROWS.filter(({ ends }) => ends.ai === 0).map(({ command }) => command))
  const wider = HTTP_WHO.caller.filter((name) => {
    const { command } = TABLE[name] as Route
    return command !== null && refused.has(command) && !open.has(command)
  })
  expect(wider).toEqual([])
  expect(COMMANDS.length).toBeGreaterThan(refused.size)
})

describe.each(HTTP_WHO.caller.map((name) => [name, TABLE[name] as Route] as const))(
  'every token may call',
  (name, one) => {
    it(name, async () => {
      const ends = await Promise.all([...ACTORS, 'human' as const].map((kind) => endOf(one, kind)))
      expect(new Set(ends)).toEqual(new Set([PASSED]))
    })
  },
)

describe.each(HTTP_WHO.human.map((name) => [name, TABLE[name] as Route] as const))(
  'humans alone may call',
  (name, one) => {
    it(name, async () => {
      expect(await Promise.all(ACTORS.map((kind) => endOf(one, kind)))).toEqual(REFUSED)
      expect(await endOf(one, 'human')).toBe(PASSED)
    })
  },
)

describe.each(HTTP_WHO.proven.map((name) => [name, TABLE[name] as Route] as const))(
  'proven humans alone may call',
  (name, one) => {
    it(name, async () => {
      expect(await Promise.all(ACTORS.map((kind) => endOf(one, kind)))).toEqual(REFUSED)
      // The right words in the mouth of an actor change nothing.
      expect(await endOf(one, 'ai', PASSPHRASE)).toBe('principal.not_human')
      expect(await endOf(one, 'human')).toBe('credential.required')
    })
  },
)

describe.each(SCOPES)('a token with the scope %s', (scope) => {
  const WRITES: Readonly<Record<string, (typeof SCOPES)[number]>> = {
    proposeAction: 'propose',
    requestUndo: 'propose',
    submitReceipt: 'tasks',
    claimTask: 'tasks',
    startTask: 'tasks',
    sayAsDevice: 'tasks',
  }

  it('reads, and records only what it is for', async () => {
    for (const name of HTTP_WHO.caller) {
      const one = TABLE[name] as Route
      const isReading = one.method === 'GET' || /^(?:document|read)$/.test(one.runs?.kind ?? '')
      const isFor = isReading || WRITES[name] === scope
      expect([name, await endOf(one, scope)]).toEqual([name, isFor ? PASSED : 'principal.scope'])
    }
  })

  it('is no wider at the command line', () => {
    const env = { WRIT_TOKEN: tokens.get(scope) ?? '' }
    expect(place.writ(['log', '--json'], { env }).status).toBe(0)
    const proposed = place.writ(['propose', '-', '--json'], { env, input: '{}' })
    const code = scope === 'propose' ? 'proposal.required' : 'principal.scope'
    expect(proposed.json.error?.code ?? proposed.json.violations?.[0].code).toBe(code)
  })
})

it('a right proof passes, a wrong one does not, and guesses are slowed down', async () => {
  const one = TABLE['resume'] as Route
  expect(await endOf(one, 'human', PASSPHRASE)).toBe(PASSED)
  const guesses = Array.from({ length: 18 }, (_, index) => `guess ${index} of it`)
  const ends = await Promise.all(guesses.map((guess) => endOf(one, 'human', guess)))
  expect(new Set(ends)).toEqual(new Set(['credential.wrong', 'api.too_often']))
  // Also the right one, for a while.
  expect(await endOf(one, 'human', PASSPHRASE)).toBe('api.too_often')
}, 120_000)
