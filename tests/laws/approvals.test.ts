/** Several humans about one act, each with a token and a passphrase of their own. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Place } from '../cli-gate/place.ts'
import { Humans, PASS, severalLaw, WORDS } from './humans.ts'

vi.setConfig({ testTimeout: 180_000 })

let humans: Humans
let place: Place

beforeAll(() => {
  humans = new Humans('approvals')
    .laws(severalLaw('prod/**', 'TWO_HUMANS', 2), severalLaw('deep/**', 'THREE_HUMANS', 3))
    .add('bob')
    .add('cid', false)
  place = humans.place
}, 300_000)

afterAll(() => humans?.remove())

function confirmations(actionId: string) {
  const { facts } = place.writ(['log', '--type', 'confirmation_v1', '--json']).json
  return facts
    .map(({ record, principal }: { record: { payload: object }; principal: object }) => ({
      ...record.payload,
      principal,
    }))
    .filter(({ action_id }: { action_id: string }) => action_id === actionId)
}

describe('two humans', () => {
  it('approve one after the other; each is a fact of its own, and only then is it promoted', () => {
    const { id, actionId } = humans.ask('prod/one')
    expect(place.pending()[0]).toMatchObject({
      needs: 'passphrase',
      approvals: { needed: 2, given: [] },
    })
    const first = humans.as('ann', ['approve', id, '--json'])
    expect(first.status, first.out + first.err).toBe(3)
    expect(first.json).toMatchObject({
      promoted: false,
      pending: { id, approvals: { needed: 2, given: [{ by: 'human:ann@local' }] } },
    })
    expect(place.has('prod/one')).toBe(false)
    expect(place.writ(['inbox']).out).toContain('1 of 2 approved, by human:ann@local')
    expect(place.writ(['inbox', id]).out).toContain('1 of 2 approved, by human:ann@local')
    expect(place.writ(['show', actionId]).out).toContain('1 of 2 approved, by human:ann@local')
    expect(place.writ(['show', actionId, '--json']).json.approvals).toMatchObject({
      needed: 2,
      given: [{ by: 'human:ann@local' }],
    })
    const explained = place.writ(['laws', 'explain', actionId])
    expect(explained.out).toContain('confirm by 2 humans')
    expect(explained.out).toContain('1 of 2 approved, by human:ann@local')
    expect(explained.out).toContain(`writ approve ${id}`)
    const second = humans.as('bob', ['approve', id, '--json'])
    expect(second.status, second.out + second.err).toBe(0)
    expect(second.json).toMatchObject({ promoted: true })
    expect(place.text('prod/one')).toBe('x\n')
    expect(confirmations(actionId)).toMatchObject([
      { answer: 'APPROVED', assurance: 'passphrase', principal: { id: 'ann' } },
      { answer: 'APPROVED', assurance: 'passphrase', principal: { id: 'bob' } },
    ])
    expect(place.writ(['show', actionId]).out).toContain(
      '2 of 2 approved, by human:ann@local, human:bob@local',
    )
    expect(place.writ(['replay', '--json']).json).toMatchObject({ ok: true, not_replayed: [] })
  })

  it('the same human twice counts once, and sees that', () => {
    const { id, actionId } = humans.ask('prod/twice')
    expect(humans.as('ann', ['approve', id]).err).not.toContain('confirm.repeated')
    const again = humans.as('ann', ['approve', id, '--json'])
    expect(again).toMatchObject({
      status: 1,
      json: { error: { code: 'confirm.repeated', hint: 'another human has to approve it' } },
    })
    expect(confirmations(actionId)).toHaveLength(1)
    expect(place.has('prod/twice')).toBe(false)
    expect(place.writ(['deny', id]).status).toBe(0)
  })

  it('one denial ends it, no matter who approved before', () => {
    const { id, actionId } = humans.ask('prod/denied')
    expect(humans.as('ann', ['approve', id]).status).toBe(3)
    const token = humans.token('bob') ?? ''
    expect(place.writ(['deny', id, '--reason', 'not now'], { token }).status).toBe(0)
    const late = humans.as('bob', ['approve', id, '--json'])
    expect(late).toMatchObject({ status: 1, json: { error: { code: 'confirm.denied' } } })
    expect(place.has('prod/denied')).toBe(false)
    expect(confirmations(actionId)).toMatchObject([{ answer: 'APPROVED' }, { answer: 'DENIED' }])
    expect(place.pending()).toEqual([])
  })

  it('a plain yes never counts, neither given with the run nor to the question', () => {
    const ended = place.exec(['--yes'], 'mkdir -p prod; echo x > prod/plain')
    expect(ended.status).toBe(75)
    expect(ended.err).toContain('0 of 2 approved; waiting for 2 more')
    const [{ id }] = place.pending()
    expect(place.writ(['approve', id, '--yes', '--json'])).toMatchObject({
      status: 1,
      json: { error: { code: 'credential.required' } },
    })
    expect(place.writ(['deny', id]).status).toBe(0)
  })

  it('a human without a credential of their own does not count, no matter which passphrase they know', () => {
    const { id, actionId } = humans.ask('prod/borrowed')
    for (const passphrase of [WORDS.ann, WORDS.bob, WORDS.cid]) {
      const ended = humans.as('cid', ['approve', id, '--json'], { passphrase })
      expect(ended).toMatchObject({
        status: 1,
        json: { error: { code: 'confirm.own_credential' } },
      })
    }
    const wrong = humans.as('bob', ['approve', id, '--json'], { passphrase: WORDS.ann })
    expect(wrong).toMatchObject({ status: 1, json: { error: { code: 'credential.wrong' } } })
    expect(confirmations(actionId)).toEqual([])
    expect(place.writ(['deny', id]).status).toBe(0)
  })

  it('at a terminal each sees how far it is', () => {
    const { id } = humans.ask('prod/terminal')
    const steps = (words: string, told: string) => [
      { expect: told },
      { expect: 'show all] ' },
      { send: 'y\n' },
      { expect: 'passphrase for approving' },
      { send: `${words}\n` },
    ]
    const first = place.person(['approve', id], steps(WORDS.ann, '0 of 2 approved'))
    expect(first).toMatchObject({ failed: null, status: 3 })
    expect(first.output).toContain('waiting for 1 more')
    const told = '1 of 2 approved, by human:ann@local; waiting for 1 more'
    const token = humans.token('bob') ?? ''
    const second = place.person(['approve', id], steps(WORDS.bob, told), { token })
    expect(second).toMatchObject({ failed: null, status: 0 })
    expect(place.has('prod/terminal')).toBe(true)
  })

  it('several questions that are alike are approved together, by one after the other', () => {
    const made = ['prod/m1', 'prod/m2', 'prod/m3'].map((path) => humans.ask(path))
    const [one, two] = made
    const mixed = humans.as('ann', ['approve', one?.id ?? '', two?.id ?? '', '--json'])
    expect(mixed.status, mixed.out + mixed.err).toBe(3)
    expect(mixed.json.answers.map(({ promoted }: { promoted: boolean }) => promoted)).toEqual([
      false,
      false,
    ])
    const twice = humans.as('ann', ['approve', ...made.map(({ id }) => id), '--json'])
    expect(twice).toMatchObject({ status: 1, json: { error: { code: 'confirm.repeated' } } })
    // Those that ann approved before are left to others.
    const rest = humans.as('ann', ['approve', '--like', made[2]?.id ?? '', '--json'])
    expect(rest.json.answers, rest.out + rest.err).toHaveLength(1)
    const all = humans.as('bob', ['approve', '--like', one?.id ?? '', '--json'])
    expect(all.status, all.out + all.err).toBe(0)
    expect(all.json.answers.map(({ promoted }: { promoted: boolean }) => promoted)).toEqual([
      true,
      true,
      true,
    ])
    expect(place.pending()).toEqual([])
  })

  it('both at once: it is promoted once, and neither gets a wrong answer', async () => {
    const { id, actionId } = humans.ask('prod/race')
    const approve = (human: 'ann' | 'bob') =>
      new Promise<number | null>((resolve) => {
        const secret = join(place.folder, `secret-${human}`)
        writeFileSync(secret, `${WORDS[human]}\n`)
        const token = humans.token(human)
        const child = place.start(['approve', id, '--json', ...PASS], {
          through: ['sh', '-c', 'exec "$@" 3< "$SECRET"', 'sh'],
          env: { SECRET: secret },
          ...(token === undefined ? {} : { token }),
        })
        child.on('exit', resolve)
      })
    const ends = await Promise.all([approve('ann'), approve('bob')])
    expect(ends.toSorted()).toEqual([0, 3])
    expect(place.text('prod/race')).toBe('x\n')
    expect(confirmations(actionId)).toHaveLength(2)
    const promotions = place.writ(['log', '--type', 'promotion_v1', '--json']).json.facts
    expect(
      promotions.filter(
        ({ record }: { record: { payload: { action_id: string } } }) =>
          record.payload.action_id === actionId,
      ),
    ).toHaveLength(1)
  })
})

describe('fewer humans than a law wants', () => {
  it('is reported by laws check and doctor, and what is asked can only wait or be denied', () => {
    const check = place.writ(['laws', 'check', '--json'])
    expect(check.status).toBe(0)
    expect(check.json.warnings).toMatchObject([
      { code: 'laws.few_humans', path: '/laws/1/approvals' },
    ])
    expect(check.json.warnings[0].message).toContain('THREE_HUMANS')
    expect(place.writ(['doctor', '--json']).json.approvals).toEqual({ needed: 3, humans: 2 })
    expect(place.writ(['doctor']).out).toContain('laws.few_humans')
    const { id } = humans.ask('deep/one')
    expect(humans.as('ann', ['approve', id]).status).toBe(3)
    const second = humans.as('bob', ['approve', id])
    expect(second.status).toBe(3)
    expect(second.out).toContain('confirm.few_humans')
    expect(place.pending()[0]).toMatchObject({
      approvals: { needed: 3, humans: 2 },
      problem: { code: 'confirm.few_humans' },
    })
    expect(place.has('deep/one')).toBe(false)
    expect(place.writ(['deny', id]).status).toBe(0)
  })

  it('of several laws that ask, the one that asks most humans counts', () => {
    const ended = place.exec([], 'mkdir -p prod deep; echo x > prod/both; echo x > deep/both')
    expect(ended.status).toBe(75)
    const [{ id, approvals }] = place.pending()
    expect(approvals.needed).toBe(3)
    expect(humans.as('ann', ['approve', id]).status).toBe(3)
    expect(humans.as('bob', ['approve', id]).status).toBe(3)
    for (const who of ['ann', 'bob'] as const) {
      expect(humans.as(who, ['principal', 'endorse', 'human:cid@local']).status).toBe(0)
    }
    expect(humans.as('cid', ['principal', 'pass']).status).toBe(0)
    expect(humans.as('cid', ['approve', id]).status).toBe(0)
    expect([place.has('prod/both'), place.has('deep/both')]).toEqual([true, true])
    expect(place.writ(['laws', 'check', '--json']).json.warnings).toEqual([])
  })
})

describe('setting a passphrase of one’s own', () => {
  it('is a human’s, once, and no actor’s', () => {
    expect(humans.as('bob', ['principal', 'pass', '--json'])).toMatchObject({
      status: 1,
      json: { error: { code: 'credential.exists' } },
    })
    const weak = new Place('weak', { runs: 'warm' }).init()
    try {
      const token = weak.token('ai:bot@local')
      const ended = weak.writ(['principal', 'pass', '--json', ...PASS], {
        token,
        passphrase: WORDS.bob,
      })
      expect(ended.json.error.code).toBe('principal.not_human')
      const short = weak.writ(['principal', 'pass', '--json', ...PASS], { passphrase: 'short' })
      expect(short.json.error.code).toBe('credential.weak')
      const own = weak.writ(['principal', 'pass', '--json', ...PASS], { passphrase: WORDS.ann })
      expect(own.status, own.out).toBe(0)
      expect(weak.writ(['doctor', '--json']).json.credential).toBe('passphrase')
    } finally {
      weak.remove()
    }
  })

  it('lets no other human prove anything with it', () => {
    const ended = humans.as('bob', ['laws', 'accept', '--yes', '--json'], { passphrase: WORDS.ann })
    expect(ended.json.error.code).toBe('credential.wrong')
    expect(humans.as('bob', ['laws', 'accept', '--yes']).status).toBe(0)
  })
})

describe('laws test', () => {
  it('tells where more humans would have been asked', () => {
    const file = join(place.folder, 'stricter.yaml')
    writeFileSync(file, `laws:\n${severalLaw('prod/**', 'FOUR_HUMANS', 4)}`)
    const { json } = place.writ(['laws', 'test', file, '--json'])
    const changed = json.changed.filter(
      ({ approvals }: { approvals?: object }) => approvals !== undefined,
    )
    expect(changed.length).toBeGreaterThan(0)
    expect(changed[0]).toMatchObject({
      from: 'CONFIRM',
      to: 'CONFIRM',
      policy_id: 'FOUR_HUMANS',
      approvals: { from: 2, to: 4 },
    })
    expect(place.writ(['laws', 'test', file]).out).toContain('CONFIRM by 4')
  })
})
