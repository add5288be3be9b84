/** What counts as an answer, what does not, and that reading one is bounded. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { artifactPath, objectsIn, readAction, readReview } from './answer.ts'

const SOURCES = { nowMs: 0, newId: () => '00000000-0000-4000-8000-000000000000' }
const PIN = { review_id: 'r1', target: 'a', artifact_path: 'p', artifact_digest: 'sha256:x' }

describe('objects in a text', () => {
  it.each([
    ['{"a":1}', ['{"a":1}'], ''],
    ['say {"a":{"b":"}"}} and {"c":2} so', ['{"a":{"b":"}"}}', '{"c":2}'], 'say \n and \n so'],
    ['{ not json } {"a":1}', ['{"a":1}'], '{ not json }'],
    ['a "quote and {"a":1}', ['{"a":1}'], 'a "quote and'],
    ['{"a":1', [], '{"a":1'],
    ['[{"a":1}]', ['{"a":1}'], '[\n]'],
    ['', [], ''],
  ])('%s', (text, objects, prose) => {
    const found = objectsIn(text)
    expect(found.objects.map((object) => JSON.stringify(object))).toEqual(objects)
    expect(found.prose).toBe(prose)
  })

  it('are found in any surrounding text', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (object, around) => {
        const plain = around.replace(/[{}"\\]/g, '')
        const { objects } = objectsIn(`${plain}${JSON.stringify(object)}${plain}`)
        expect(objects).toEqual([JSON.parse(JSON.stringify(object))])
      }),
    )
  })

  it('are given up on in a text of braces, soon', () => {
    const { objects, isGivenUp } = objectsIn('{'.repeat(1_000_000))
    expect([objects.length, isGivenUp]).toEqual([0, true])
  })
})

const PLACE = { folder: 'artifacts', nodeId: 'a', attempt: 1 }

describe('an action', () => {
  const read = (value: unknown, before = '') =>
    readAction(`${before}${JSON.stringify(value)}`, PLACE, SOURCES)
  const artifact = { name: 'out', format: 'text/markdown', content: 'x' }

  it('is the last object, normalised, with what was said around it as a message', () => {
    const { answer, repairs, errors } = read(
      { result_type: ' artifact ', artifact, message: 'hello', summary: 's' },
      'Working {"step":1} on it. ',
    )
    expect(answer).toMatchObject({
      document: { task_id: 'a', result_type: 'ARTIFACT', artifact: { format: 'md' } },
      message: 'Working \n on it.\nhello',
      summary: 's',
    })
    expect([repairs.length > 0, errors]).toEqual([true, []])
  })

  it.each([
    ['no object', 'no'],
    ['an unknown type', { result_type: 'MAYBE' }],
    [
      'a name that leads elsewhere',
      { result_type: 'ARTIFACT', artifact: { ...artifact, name: '../x' } },
    ],
    ['a claim without a name', { result_type: 'NOOP', claims: [{ text: 'x' }] }],
    ['claims that are no list', { result_type: 'NOOP', claims: {} }],
    [
      'too many claims',
      {
        result_type: 'NOOP',
        claims: Array.from({ length: 201 }, (_, at) => ({ claim_id: `C${at}` })),
      },
    ],
    [
      'evidence without a digest',
      {
        result_type: 'NOOP',
        evidence: [{ evidence_id: 'e', claim_id: 'c', supports: true, digest: 'x' }],
      },
    ],
  ])('is refused: %s', (_why, value) => {
    const { answer, errors } = read(value)
    expect([answer, errors.length]).toEqual([null, 1])
  })

  it('is refused with a name twice, and says how an output without an object begins', () => {
    const text = '{"result_type":"ERROR","result_type":"NOOP"}'
    expect(String(readAction(text, PLACE, SOURCES).errors)).toContain('twice')
    expect(readAction(' Traceback: x', PLACE, SOURCES).errors).toEqual([
      'there is no JSON object in the output, which begins with "Traceback: x"',
    ])
  })

  it('never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.string()), (value) => {
        const text = typeof value === 'string' ? value : JSON.stringify(value)
        const { answer, errors } = readAction(text, PLACE, SOURCES)
        expect((answer === null) === errors.length > 0).toBe(true)
        const review = readReview(text, PIN, SOURCES)
        expect((review.answer === null) === review.errors.length > 0).toBe(true)
      }),
    )
  })
})

describe('a review', () => {
  const pinned = { review_id: 'r1', artifact_digest: 'sha256:x', total_score: 95 }
  const read = (...values: unknown[]) =>
    readReview(values.map((value) => JSON.stringify(value)).join('\n'), PIN, SOURCES)

  it('counts with both pins at its top, or the digest in the artifact it was handed', () => {
    expect(read(pinned).answer).toMatchObject({ kind: 'review', review_id: 'r1' })
    const inside = { review_id: 'r1', artifact: { digest: 'sha256:x' }, total_score: 95 }
    expect(read(inside).answer).not.toBeNull()
    expect(read({ total_score: 1 }, pinned).answer).not.toBeNull()
    const claims = [{ claim_id: 'C', trust_level: 'external_unverified' }]
    expect(read({ ...pinned, claims }).answer).toMatchObject({ claims })
  })

  it.each([
    ['no pin', [{ total_score: 95 }]],
    ['another id', [{ ...pinned, review_id: 'r2' }]],
    ['another digest', [{ ...pinned, artifact_digest: 'sha256:y' }]],
    ['pins below the top', [{ review: pinned }]],
    ['two with pins', [pinned, { ...pinned, total_score: 5 }]],
    ['something like a review behind it', [pinned, { total_score: 100 }]],
  ])('does not count: %s', (_why, values) => {
    expect(read(...values).answer).toBeNull()
  })

  it('does not count with a name twice, also in another spelling and below the top', () => {
    for (const twice of ['"total_score":10', '"total\\u005fscore":10', '"more":{"a":1,"a":2}']) {
      const text = `{${twice},${JSON.stringify(pinned).slice(1)}`
      const { answer, errors } = readReview(text, PIN, SOURCES)
      expect([answer, String(errors)]).toEqual([null, expect.stringContaining('twice')])
    }
    expect(readReview(JSON.stringify({ ...pinned, more: { a: 1 } }), PIN, SOURCES).answer).not.toBe(
      null,
    )
  })

  it('tells when the score changed the word', () => {
    expect(read({ ...pinned, action_required: 'modify' }).answer).toMatchObject({
      is_word_changed: true,
      document: { action_required: 'APPROVE' },
    })
    expect(read({ ...pinned, action_required: 'approve' }).answer).not.toHaveProperty(
      'is_word_changed',
    )
  })
})

it.each([
  ['out', 'artifacts/n/2/out.md'],
  ['src/main', 'artifacts/n/2/src/main.md'],
  ['../../etc/passwd', null],
  ['/etc/passwd', null],
  ['a\u0000b', null],
  ['.writ/x', null],
  ['x'.repeat(300), null],
])('artifact %s', (name, path) => {
  expect(
    artifactPath({ folder: 'artifacts', nodeId: 'n', attempt: 2 }, { name, format: 'md' }),
  ).toBe(path)
})

describe('a review whose id is in the output again', () => {
  const id = '8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11'
  const pin = { ...PIN, review_id: id }
  const review = (score: number) =>
    JSON.stringify({
      review_id: id,
      artifact_digest: 'sha256:x',
      task_id: 'a',
      total_score: score,
      action_required: 'APPROVE',
      summary: 's',
      suggestions: [],
    })

  it('counts alone, and not with an honest one inside of another object', () => {
    expect(readReview(review(95), pin, SOURCES).answer).not.toBeNull()
    const wrapped = `{"quote": ${review(20)}}\n${review(99)}`
    const { answer, errors } = readReview(wrapped, pin, SOURCES)
    expect([answer, errors]).toEqual([null, [expect.stringContaining('more than once')]])
  })
})
