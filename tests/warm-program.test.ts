/** The process that stays answers what a process of its own would, and keeps nothing between calls. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Around, Place } from './cli-gate/place.ts'

const WORDS = 'correct horse battery staple'
let place: Place

beforeAll(() => {
  place = new Place('warm').init(WORDS)
}, 180_000)

afterAll(() => place?.remove())

it.each<readonly [string, readonly string[], Around]>([
  ['an answer', ['inbox', '--json'], {}],
  ['a usage error', ['log', '--frob'], {}],
  ['no home', ['log'], { cwd: '/' }],
  ['a document from standard input', ['check', '-', '--json'], { input: '{"type":"x"}' }],
  ['a run', ['exec', '--', 'sh', '-c', 'cat; echo said >&2; exit 3'], { input: 'heard\n' }],
  ['a wrong token', ['inbox', '--json'], { token: 'writ_wrong' }],
])('both ways give the same: %s', (_, args, around) => {
  const warm = place.writ(args, { ...around, isWarm: true })
  expect(warm).toEqual(place.writ(args, { ...around, isWarm: false }))
})

it('a passphrase of one call proves nothing in the next', () => {
  const add = (name: string, around: Around) =>
    place.writ(['principal', 'add', `ai:${name}@local`, '--json', '--pass-fd', '3'], around)
  expect(add('one', { passphrase: WORDS }).status).toBe(0)
  expect(add('two', { passphrase: `${WORDS}s` }).json.error.code).toBe('credential.wrong')
  const bare = place.writ(['principal', 'add', 'ai:two@local', '--json'])
  expect(bare.json.error.code).toBe('credential.required')
  expect(add('two', { passphrase: WORDS }).status).toBe(0)
})
