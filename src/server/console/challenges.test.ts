/** Challenges: each counts once, for a time, and no caller pushes out those of others. */
import { describe, expect, it } from 'vitest'
import { Challenges, LoginChallenges } from './challenges.ts'

const NOW = 1_800_000_000_000
const MINUTE = 60_000
const clientData = (challenge: string) =>
  Buffer.from(JSON.stringify({ challenge })).toString('base64url')
const human = (id: string) => ({ principal: { kind: 'human' as const, id, namespace: 'local' } })

describe('of a person', () => {
  it('count once, for five minutes', () => {
    const challenges = new Challenges<ReturnType<typeof human>>()
    challenges.add('one', human('ann'), NOW)
    challenges.add('two', human('ann'), NOW)
    expect(challenges.take(clientData('one'), NOW + 4 * MINUTE)).toEqual(human('ann'))
    expect(() => challenges.take(clientData('one'), NOW + 4 * MINUTE)).toThrow('was used')
    expect(() => challenges.take(clientData('two'), NOW + 5 * MINUTE)).toThrow('five minutes')
  })

  it('are pushed out by their own alone', () => {
    const challenges = new Challenges<ReturnType<typeof human>>()
    challenges.add('of ann', human('ann'), NOW)
    for (let at = 0; at < 2_000; at++) challenges.add(`of bob ${at}`, human('bob'), NOW)
    expect(challenges.take(clientData('of ann'), NOW)).toEqual(human('ann'))
    expect(challenges.take(clientData('of bob 1999'), NOW)).toEqual(human('bob'))
    expect(() => challenges.take(clientData('of bob 0'), NOW)).toThrow('not known')
  })
})

describe('of a login', () => {
  it('stay answerable, no matter how many are asked for', () => {
    const logins = new LoginChallenges()
    const first = logins.offer(NOW)
    for (let at = 0; at < 5_000; at++) logins.offer(NOW + at * 50)
    const document = logins.find(clientData(first), NOW + 4 * MINUTE)
    logins.use(document, 'ann’s key', NOW + 4 * MINUTE)
    expect(() => logins.use(document, 'ann’s key', NOW + 4 * MINUTE)).toThrow('was used')
    logins.use(document, 'bob’s key', NOW + 4 * MINUTE)
  })

  it('end after five minutes, with the process, and are of this process', () => {
    const logins = new LoginChallenges()
    const challenge = logins.offer(NOW)
    expect(() => logins.find(clientData(challenge), NOW + 5 * MINUTE)).toThrow('five minutes')
    expect(() => logins.find(clientData(challenge), NOW - 2_000)).toThrow('not known')
    expect(() => new LoginChallenges().find(clientData(challenge), NOW)).toThrow('not known')
    expect(logins.offer(NOW)).not.toBe(logins.offer(NOW + 1_000))
  })
})
