/** Runs spec/vectors/contracts against the contracts room. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { envelopeLimits, GRAPH_LIMITS, readJson } from '../src/base/index.ts'
import { answerCheck, answerNormalise, CODES_OF_CONTRACTS } from './vectors/answer.ts'
import { loadVectors } from './vectors/vector.ts'

const vectors = loadVectors('spec/vectors/contracts', 'contracts/1')

describe('contract vectors', () => {
  for (const vector of vectors) {
    it(`${vector.id}: ${vector.note}`, () => {
      const { hints, ...want } = vector.want
      const answer = vector.run === 'normalise' ? answerNormalise(vector) : answerCheck(vector)
      expect(answer.comparable(want)).toEqual(want)
      for (const word of (hints as string[] | undefined) ?? []) expect(answer.hints).toContain(word)
    })
  }
})

describe('coverage of codes', () => {
  it('hits every violation code of every contract', () => {
    const hit = new Set([...vectors.flatMap(({ want }) => codesIn(want)), ...codesOfFlows()])
    expect(CODES_OF_CONTRACTS.filter((code) => !hit.has(code))).toEqual([])
  })
})

/** Codes that a flow as a whole is refused with stand in vectors of their own. */
function codesOfFlows(): readonly string[] {
  const folder = 'spec/vectors/flow'
  return readdirSync(folder).flatMap((file) =>
    [...readFileSync(`${folder}/${file}`, 'utf8').matchAll(/"code": ?"([a-z_.]+)"/g)].map(
      ([, code = '']) => code,
    ),
  )
}

function codesIn(want: Readonly<Record<string, unknown>>): readonly string[] {
  return ((want['violations'] ?? []) as { code: string }[]).map(({ code }) => code)
}

describe('the vectors themselves', () => {
  it('are there', () => {
    expect(vectors.length).toBeGreaterThan(200)
    expect(readJson('{}', envelopeLimits(GRAPH_LIMITS)).ok).toBe(true)
  })
})
