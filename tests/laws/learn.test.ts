/** What `writ laws learn` reads from the ledger: each yes since a moment, and each no of all time (N-3). */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { answersIn } from '../../src/cli/laws/learning.ts'
import { openHistory } from '../../src/store/index.ts'
import { type Json, Place } from '../cli-gate/place.ts'

const BELOW_AGENT = ['bash', '-c', 'exec -a claude bash -c \'"$@"; exit $?\' claude "$@"', 'x']
const PASSPHRASE = 'correct horse battery staple'
const DAY_MS = 24 * 60 * 60 * 1000
let place: Place
let denied: Json

beforeAll(() => {
  place = new Place('learn').init(PASSPHRASE)
  for (const name of ['first', 'second']) {
    const words = ['exec', '--', 'sh', '-c', `mkdir -p docs; echo ${name} > docs/${name}.md`]
    const { status, err } = place.writ(words, { through: BELOW_AGENT })
    expect(status, err).toBe(75)
  }
  const [one, two] = place.pending()
  const approved = place.writ(['approve', one.id, '--yes', '--pass-fd', '3'], {
    passphrase: PASSPHRASE,
  })
  expect(approved.status, approved.err).toBe(0)
  expect(place.writ(['deny', two.id]).status).toBe(0)
  denied = two
}, 120_000)

afterAll(() => place.remove())

async function read(since: string | undefined, nowMs = Date.now()) {
  const { state } = place.writ(['home', 'list', '--json']).json.homes[0]
  const ledger = await openHistory({ directory: state })
  try {
    return await answersIn(ledger, 'main', since, nowMs)
  } finally {
    await ledger.close()
  }
}

it('reads the answers to questions of an agent', async () => {
  const answers = await read(undefined)
  expect(answers.map(({ answer, agent }) => [answer, agent])).toEqual([
    ['yes', 'claude'],
    ['no', 'claude'],
  ])
  expect(answers[1]?.changes?.map(({ path }) => path)).toContain('docs/second.md')
})

it('a moment leaves older answers of yes out, and no denial', async () => {
  const answers = await read(new Date(Date.now() + DAY_MS).toISOString())
  expect(answers.map(({ answer, action_id }) => [answer, action_id])).toEqual([
    ['no', denied.action_id],
  ])
})

it('a denial whose act is no longer kept counts for 30 days, without its paths', async () => {
  const words = ['purge', '--action', denied.action_id, '--pass-fd', '3']
  const { status, err } = place.writ(words, { passphrase: PASSPHRASE })
  expect(status, err).toBe(0)
  const since = new Date(Date.now() + DAY_MS).toISOString()
  expect(await read(since)).toMatchObject([{ answer: 'no', changes: null }])
  expect(await read(since, Date.now() + 31 * DAY_MS)).toEqual([])
})
