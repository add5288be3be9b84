/** The default laws load, and do what docs/laws.md says of each of them: no more and no less. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { DEFAULT_LAW_IDS } from '../contracts/index.ts'
import {
  DEFAULT_LAW_DOCUMENTS,
  DEFAULT_LAWS,
  judgeLaws,
  type LawChange,
  type LawValues,
  loadLaws,
} from './index.ts'

const VECTORS = JSON.parse(readFileSync('spec/vectors/policy/laws.json', 'utf8')) as {
  readonly bases: Readonly<Record<string, LawValues>>
}
const BASE = VECTORS.bases['simple'] as LawValues
const SHOP = '/home/ann/shop'

function change(path: string, list: LawChange['lists'][number], discarded = false): LawChange {
  return { path, lists: [list], discarded }
}

function many(count: number, path: (index: number) => string, list: LawChange['lists'][number]) {
  return Array.from({ length: count }, (_, index) => change(path(index), list))
}

interface Doing {
  readonly changes?: readonly LawChange[]
  readonly risk?: LawValues['risk']
  readonly findings?: readonly string[]
  readonly rollbacks?: number
  readonly actor?: LawValues['context']['actor_kind']
}

/** The laws that speak up, in both phases. */
async function spoken(doing: Doing): Promise<readonly string[]> {
  const reading = await loadLaws(DEFAULT_LAWS)
  if (!reading.ok || BASE.result === null) throw new Error('the default laws do not load')
  const changes = doing.changes ?? []
  const count = (list: string) =>
    changes.filter(({ lists, discarded }) => !discarded && lists[0] === list).length
  const counts = { added: count('added'), modified: count('modified'), deleted: count('deleted') }
  const values: LawValues = {
    ...BASE,
    risk: doing.risk ?? 'MEDIUM',
    changes,
    result: {
      ...BASE.result,
      diff: { ...BASE.result.diff, counts },
      findings: (doing.findings ?? []).map((code) => ({ code })),
    },
    context: {
      ...BASE.context,
      actor_kind: doing.actor ?? 'ai',
      recent_rollbacks: doing.rollbacks ?? 0,
    },
  }
  return (['before', 'after'] as const).flatMap((phase) =>
    judgeLaws(reading.laws, phase, values, new Set()).map(({ policyId }) => policyId),
  )
}

describe('the default laws', () => {
  it('load without a fault', async () => {
    const reading = await loadLaws(DEFAULT_LAWS)
    expect(reading).toMatchObject({ ok: true })
    if (!reading.ok) return
    const laws = reading.laws.laws.map(({ policyId, tier, readsResult }) => [
      policyId,
      tier,
      readsResult,
    ])
    expect(laws).toEqual([
      ['WRIT_ITSELF', 0, true],
      ['NO_CRITICAL', 1, false],
      ['NO_CREDENTIALS', 1, true],
      ['ASK_HIGH', 2, false],
      ['ASK_MANY_DELETIONS', 2, true],
      ['ASK_REPOSITORY_GONE', 2, true],
      ['ASK_ENV_FILES', 2, true],
      ['ASK_INPUTS_CHANGED', 2, true],
      ['ASK_AFTER_ROLLBACKS', 2, false],
    ])
  })

  it('are the ones that a law file may name', () => {
    expect(DEFAULT_LAW_DOCUMENTS.map(({ policy_id }) => policy_id)).toEqual(DEFAULT_LAW_IDS)
  })

  it('are explained one by one', () => {
    const page = readFileSync('docs/laws.md', 'utf8')
    for (const [, id] of DEFAULT_LAWS.matchAll(/policy_id: (\w+)/g)) {
      expect(page).toContain(`### ${id}`)
    }
    expect(page).toContain('### WRIT_ITSELF')
  })

  it.each<[string, Doing, readonly string[]]>([
    ['critical work', { risk: 'CRITICAL' }, ['NO_CRITICAL']],
    ['work of weight', { risk: 'HIGH' }, ['ASK_HIGH']],
    [
      'a key',
      { changes: [change('/home/ann/.ssh/authorized_keys', 'modified')] },
      ['NO_CREDENTIALS'],
    ],
    ['a login', { changes: [change('/home/ann/.netrc', 'added')] }, ['NO_CREDENTIALS']],
    [
      'a purge',
      { changes: many(21, (i) => `${SHOP}/src/${i}.ts`, 'deleted') },
      ['ASK_MANY_DELETIONS'],
    ],
    [
      'a repository',
      { changes: [change(`${SHOP}/.git`, 'deleted'), change(`${SHOP}/.git/HEAD`, 'deleted')] },
      ['ASK_REPOSITORY_GONE'],
    ],
    ['local secrets', { changes: [change(`${SHOP}/.env`, 'modified')] }, ['ASK_ENV_FILES']],
    ['others at work', { findings: ['promote.inputs_changed'] }, ['ASK_INPUTS_CHANGED']],
    ['an unlucky agent', { rollbacks: 3 }, ['ASK_AFTER_ROLLBACKS']],
    ['writ itself', { changes: [change(`${SHOP}/.writ/id`, 'modified')] }, ['WRIT_ITSELF']],
  ])('speak up: %s', async (_, doing, laws) => {
    expect(await spoken(doing)).toEqual(laws)
  })

  it.each<[string, Doing]>([
    ['nothing', {}],
    ['a build', { changes: many(400, (i) => `${SHOP}/dist/${i}.js`, 'added') }],
    ['a formatter', { changes: many(150, (i) => `${SHOP}/src/${i}.ts`, 'modified') }],
    [
      'an install',
      { changes: many(15_000, (i) => `${SHOP}/node_modules/p${i}/index.js`, 'added') },
    ],
    [
      'a commit',
      {
        changes: [
          change(`${SHOP}/.git/objects/ab/cd`, 'added'),
          change(`${SHOP}/.git/index`, 'modified'),
          change(`${SHOP}/.git/refs/heads/main`, 'modified'),
        ],
      },
    ],
    [
      'packing objects',
      {
        changes: [
          ...many(20, (i) => `${SHOP}/.git/objects/a${i}`, 'deleted'),
          change(`${SHOP}/.git/objects/pack/p.pack`, 'added'),
        ],
      },
    ],
    ['a new .env from its example', { changes: [change(`${SHOP}/.env`, 'added')] }],
    [
      'caches',
      {
        changes: [
          change('/home/ann/.cache/x', 'modified', true),
          ...many(30, (i) => `/home/ann/.npm/${i}`, 'deleted').map((one) => ({
            ...one,
            discarded: true,
          })),
        ],
      },
    ],
    ['a clean-up of a few files', { changes: many(20, (i) => `${SHOP}/tmp/${i}.log`, 'deleted') }],
    ['a person who takes things back', { rollbacks: 9, actor: 'human' }],
  ])('say nothing: %s', async (_, doing) => {
    expect(await spoken(doing)).toEqual([])
  })
})
