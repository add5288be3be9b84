/**
 * Every route judges a request alike the first time and ever after: its first requests are judged by the
 * walker, later ones by the compiled check of the same schema (H-2).
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { RequestReader, ROUTES, type Route } from '../../src/api/index.ts'
import { isObject, nodeOf } from '../../src/contracts/index.ts'
import { anyJson, fromSchema, mutate, mutation } from '../arbitrary/from-schema.ts'
import { runs } from '../arbitrary/runs.ts'

/** More than are left to the walker. */
const USES = 12
const PARTS = ['params', 'query', 'body'] as const
type Part = (typeof PARTS)[number]
type Asked = Parameters<RequestReader['read']>[0]

/** A route with one part only, so that each part is sound or broken on its own. */
function only(part: Part, one: Route): Route {
  const { params: _params, query: _query, body: _body, ...rest } = one
  return { ...rest, [part]: one[part] }
}

const asked = (part: Part, value: unknown): Asked =>
  // What a client sends need not be what the route takes.
  ({ params: {}, query: {}, body: null, [part]: value }) as Asked

const SCHEMAS = Object.entries(ROUTES as Readonly<Record<string, Route>>).flatMap(([name, one]) =>
  PARTS.filter((part) => one[part] !== undefined).map(
    (part) => [`${name}.${part}`, one, part] as const,
  ),
)

describe.each(SCHEMAS)('%s', (name, one, part) => {
  const route = only(part, one)
  const used = new RequestReader(name, route)
  for (let use = 0; use < USES; use++) used.read(asked(part, {}))

  const agree = (value: unknown): boolean => {
    // The reader of addresses makes an object of any query.
    if (part === 'query' && !isObject(value)) return false
    const walked = new RequestReader(name, route).read(asked(part, value))
    expect(used.read(asked(part, value))).toEqual(walked)
    return walked.ok
  }

  it('is judged alike by the walker and by the compiled check', () => {
    let sound = 0
    const document = fromSchema(nodeOf(one[part] ?? {}))
    fc.assert(
      fc.property(document, fc.array(mutation, { maxLength: 2 }), (made, mutations) => {
        if (agree(mutations.reduce(mutate, made))) sound++
      }),
      { numRuns: runs(40) },
    )
    expect(sound).toBeGreaterThan(0)
    fc.assert(
      fc.property(anyJson, (value) => void agree(value)),
      { numRuns: runs(10) },
    )
  })
})

it('there are routes with documents among them', () => {
  expect(SCHEMAS.map(([name]) => name)).toContain('checkLaws.body')
})
