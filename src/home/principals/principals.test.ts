/** The register of a process that stays: nothing is folded twice, and nothing is missed. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Query } from '../../ledger/index.ts'
import { type Actor, createLedger, type Ledger, openLedger } from '../../store/ledger/ledger.ts'
import {
  addPrincipal,
  createToken,
  RegisterReader,
  readRegister,
  revokeToken,
} from './principals.ts'

const ANN = { kind: 'human', id: 'ann', namespace: 'local' } as const
const ACTOR: Actor = { principal: ANN, source: 'cli' }
const pump = (id: string) => ({ kind: 'device', id, namespace: 'farm' }) as const

let state = ''
let ledger: Ledger

beforeEach(async () => {
  state = mkdtempSync(join(tmpdir(), 'writ-principals-'))
  const directory = join(state, 'ledger')
  await createLedger({ directory }, 'example.org/writ/test', ACTOR)
  ledger = await openLedger({ directory })
})

afterEach(async () => {
  await ledger.close()
  rmSync(state, { recursive: true, force: true })
})

it('says what a new reading of all facts says, and reads only what is new', async () => {
  const asked: number[] = []
  const store = ledger.store
  const counted = {
    store: new Proxy(store, {
      get: (target, name) =>
        name === 'find'
          ? (query: Query) => {
              asked.push(query.cursor ?? -1)
              return target.find(query)
            }
          : Reflect.get(target, name).bind(target),
    }),
  }
  const reader = new RegisterReader({ ledger: counted, state })
  const place = { ledger, state }
  expect((await reader.read()).principals).toEqual([])
  await addPrincipal(place, await reader.read(), ACTOR, pump('one'), ['main'])
  const { id } = await createToken(place, await reader.read(), ACTOR, pump('one'), {
    expiresAt: null,
    scopes: null,
  })
  expect((await reader.read()).tokens).toMatchObject([{ id, revokedAt: null }])
  await revokeToken(place, await reader.read(), ACTOR, id)
  const last = await reader.read()
  expect(last.tokens[0]?.revokedAt).not.toBe(null)
  expect(last).toEqual(await readRegister(place))
  // Each reading went on behind the last fact of the one before.
  expect(asked[asked.length - 1]).toBeGreaterThan(0)
  expect([...asked].sort((a, b) => a - b)).toEqual(asked)
  // Where nothing came, nothing is searched; readings at once fold each fact once.
  const searched = asked.length
  expect(await reader.read()).toBe(last)
  expect(asked.length).toBe(searched)
  await addPrincipal(place, last, ACTOR, pump('two'), ['main'])
  const [first, second] = await Promise.all([reader.read(), reader.read()])
  expect(first?.principals.length).toBe(2)
  expect(second).toEqual(first)
})
