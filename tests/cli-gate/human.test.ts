/** The human's side: approval with a passphrase, rollback, undo, halt and resume. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Place } from './place.ts'

const WORDS = 'correct horse battery staple'
let place: Place
let locked: Place

// Each test is several processes, and each of them a sandbox.
vi.setConfig({ testTimeout: 120_000 })

beforeAll(() => {
  place = new Place('human', { runs: 'warm' }).init()
  locked = new Place('locked', { runs: 'warm' }).init(WORDS)
}, 180_000)

afterAll(() => {
  place?.remove()
  locked?.remove()
})

const HOOK =
  'mkdir -p .git/hooks; echo "#!/bin/sh" > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit'

describe('approval above the plain yes', () => {
  it('what runs by itself later needs the passphrase: --yes is not enough', () => {
    const ended = locked.exec(['--yes'], HOOK)
    expect(ended.status).toBe(75)
    const [{ id, needs }] = locked.pending()
    expect(needs).toBe('passphrase')
    expect(locked.writ(['approve', id, '--json'])).toMatchObject({
      status: 1,
      json: { error: { code: 'credential.required' } },
    })
    const wrong = { passphrase: 'not the right words at all' }
    expect(locked.writ(['approve', id, '--json', '--pass-fd', '3'], wrong)).toMatchObject({
      status: 1,
      json: { error: { code: 'credential.wrong' } },
    })
    expect(locked.has('.git/hooks/pre-commit')).toBe(false)
    const right = locked.writ(['approve', id, '--json', '--pass-fd', '3'], { passphrase: WORDS })
    expect(right.status, right.out + right.err).toBe(0)
    expect(locked.has('.git/hooks/pre-commit')).toBe(true)
    const { json } = locked.writ(['log', '--type', 'confirmation_v1', '--json'])
    expect(json.facts.at(-1).record.payload).toMatchObject({
      answer: 'APPROVED',
      assurance: 'passphrase',
    })
  })

  it('at the terminal of the run that asks, a plain yes is enough', () => {
    const seen = locked.execAsPerson(['--yes'], `${HOOK}; echo x > .git/hooks/post-commit`, [
      { expect: 'Runs by itself later' },
      { expect: '[y/N/later, a: show all] ' },
      { send: 'y\n' },
    ])
    expect(seen).toMatchObject({ failed: null, status: 0 })
    expect(seen.output).not.toContain('passphrase')
    expect(locked.has('.git/hooks/post-commit')).toBe(true)
  })

  it('while no human has a credential, a yes counts after the effects were shown', () => {
    const many = Array.from({ length: 30 }, (_, index) => `d${index}`)
    for (const name of many) place.write(name)
    expect(place.exec(['--yes'], `${HOOK}; rm d*`).status).toBe(75)
    const [{ id, needs }] = place.pending()
    expect(needs).toBe('plain')
    for (const given of [['--yes'], ['--json'], []]) {
      const ended = place.writ(['approve', id, ...given])
      expect(ended).toMatchObject({ status: 1 })
      expect(ended.out + ended.err).toContain('credential.required')
      expect(ended.out + ended.err).toContain(`writ approve ${id}`)
    }
    expect(place.has('d0')).toBe(true)
    const seen = place.person(['approve', id], [{ expect: 'show all] ' }, { send: 'y\n' }])
    expect(seen).toMatchObject({ failed: null, status: 0 })
    expect([place.has('d0'), place.has('.git/hooks/pre-commit')]).toEqual([false, true])
  })
})

describe('a home without a passphrase', () => {
  it.each([
    ['deleting many files', 'rm e*'],
    ['a hook', 'echo "#!/bin/sh" > .git/hooks/post-merge'],
  ])('leads into no dead end: %s', (_, script) => {
    for (let index = 0; index < 30; index++) place.write(`e${index}`)
    const seen = place.execAsPerson([], script, [{ expect: 'show all] ' }, { send: 'y\n' }])
    expect(seen).toMatchObject({ failed: null, status: 0 })
    expect(place.pending()).toEqual([])
  })

  it('says how to set one where it is needed, and that the question still waits', () => {
    const example = place.writ(['propose', '--example', 'NETWORK_REQUEST']).out
    const asked = place.writ(['propose', '-', '--json'], { input: example })
    expect(asked.status, asked.out + asked.err).toBe(3)
    const { id } = asked.json.pending
    const seen = place.person(['approve', id], [{ expect: 'none is set yet' }])
    expect(seen).toMatchObject({ failed: null, status: 3 })
    expect(seen.output).toContain('writ principal pass')
    expect(seen.output).toContain('still waits')
    expect(place.pending().map((one) => one.id)).toEqual([id])
    expect(place.writ(['deny', id]).status).toBe(0)
  })
})

describe('approval without a terminal', () => {
  it('needs `--yes`, and the record says so', () => {
    expect(place.exec([], 'echo x > unseen').status).toBe(75)
    const [{ id, action_id }] = place.pending()
    for (const words of [[id], [id, '--json'], ['--like', id]]) {
      const ended = place.writ(['approve', ...words])
      expect(ended.status).toBe(1)
      expect(ended.out + ended.err).toContain('confirm.not_given')
      expect(ended.out + ended.err).toContain(`writ approve ${id} --yes`)
    }
    expect([place.has('unseen'), place.pending().length]).toEqual([false, 1])
    expect(place.writ(['approve', id, '--yes']).status).toBe(0)
    expect(place.has('unseen')).toBe(true)
    expect(place.writ(['show', action_id]).out).toContain('by a plain yes given with `--yes`')
  })
})

describe('approval at a terminal', () => {
  it('shows the effects and asks; not approving is not denying', () => {
    expect(place.exec([], 'echo x > shown-first').status).toBe(75)
    const [{ id, action_id }] = place.pending()
    const asked = [{ expect: 'Added (1)' }, { expect: 'shown-first' }, { expect: 'show all] ' }]
    for (const send of ['\n', 'n\n', '\u0003']) {
      const no = place.person(['approve', id], [...asked, { send }])
      expect(no).toMatchObject({ failed: null, status: 3 })
      expect(no.output).toContain('it still waits')
    }
    expect(place.pending()).toHaveLength(1)
    expect(place.has('shown-first')).toBe(false)
    const yes = place.person(['approve', id], [...asked, { send: 'y\n' }])
    expect(yes).toMatchObject({ failed: null, status: 0 })
    expect(place.has('shown-first')).toBe(true)
    expect(place.writ(['show', action_id]).out).toContain('by a plain yes at a terminal')
  })
})

describe('restoring', () => {
  it('undo takes the last one back, rollback an older one', () => {
    place.write('page', 'first\n')
    expect(place.exec(['--yes'], 'echo second > page').status).toBe(0)
    expect(place.exec(['--yes'], 'echo more > other').status).toBe(0)
    const undone = place.writ(['undo', '--json'])
    expect(undone.status, undone.out + undone.err).toBe(0)
    expect(undone.json).toMatchObject({
      restored: [`${place.project}/other`],
      verified: true,
    })
    expect(place.has('other')).toBe(false)
    const { json: log } = place.writ(['log', '--type', 'promotion_v1', '--json'])
    const first = log.facts.at(-2).record.payload.action_id
    const dry = place.writ(['rollback', first, '--dry-run', '--json'])
    expect(dry.json).toMatchObject({ action_id: first, restored: [`${place.project}/page`] })
    expect(place.text('page')).toBe('second\n')
    const back = place.writ(['rollback', first])
    expect(back.status).toBe(0)
    expect(back.out).toContain(`${place.project}/page`)
    expect(place.text('page')).toBe('first\n')
  })

  it('everything since a moment goes back together', () => {
    place.write('kept', 'kept\n')
    const since = new Date().toISOString()
    expect(place.exec(['--yes'], 'echo 1 > one').status).toBe(0)
    expect(place.exec(['--yes'], 'echo 2 > two; rm kept').status).toBe(0)
    const all = ['kept', 'one', 'two'].map((name) => `${place.project}/${name}`)
    const dry = place.writ(['rollback', '--since', since, '--dry-run', '--json'])
    expect(dry.json.restored.toSorted()).toEqual(all)
    expect(place.has('one')).toBe(true)
    const back = place.writ(['rollback', '--since', since, '--json'])
    expect(back).toMatchObject({ status: 0, json: { verified: true } })
    expect(back.json.restored.toSorted()).toEqual(all)
    expect([place.has('one'), place.has('two'), place.has('kept')]).toEqual([false, false, true])
    expect(place.writ(['rollback', '--since', since, '--json']).status).toBe(1)
  })

  it('what another process changed since is a conflict that names the path', () => {
    expect(place.exec(['--yes'], 'echo x > mine').status).toBe(0)
    place.write('mine', 'changed by hand\n')
    const ended = place.writ(['undo', '--json'])
    expect(ended).toMatchObject({ status: 1, json: { error: { code: 'rollback.conflict' } } })
    expect(JSON.stringify(ended.json)).toContain(`${place.project}/mine`)
    expect(place.text('mine')).toBe('changed by hand\n')
  })

  it('wants one action, and one that is known', () => {
    expect(place.writ(['rollback']).status).toBe(2)
    expect(place.writ(['rollback', 'a', 'b']).status).toBe(2)
    expect(place.writ(['undo', 'x']).status).toBe(2)
    const unknown = place.writ(['rollback', '8f4d0c9e-6f0e-4b43-9f0a-3a1c2e5d7b11', '--json'])
    expect(unknown.status).toBe(1)
  })
})

describe('halt', () => {
  it('kills what runs, lets nothing through, until a human resumes with the passphrase', async () => {
    const child = locked.start(['exec', '--yes', '--', 'sh', '-c', 'echo ready; sleep 30'])
    const ended = new Promise<number | null>((resolve) => {
      child.on('close', resolve)
    })
    await new Promise<void>((resolve) => {
      child.stdout?.on('data', () => resolve())
    })
    const halted = locked.writ(['halt', '--reason', 'odd', '--json'])
    expect(halted).toMatchObject({ status: 0, json: { ok: true } })
    expect(await ended).toBe(125)
    expect(locked.exec(['--yes'], 'echo x > y')).toMatchObject({
      status: 125,
      lastLine: 'writ: halted',
    })
    expect(locked.writ(['resume', '--json'])).toMatchObject({
      status: 1,
      json: { error: { code: 'credential.required' } },
    })
    const resumed = locked.writ(['resume', '--json', '--pass-fd', '3'], { passphrase: WORDS })
    expect(resumed).toMatchObject({ status: 0, json: { ok: true } })
    expect(resumed.json.seq).toBeGreaterThan(halted.json.seq)
    expect(locked.exec(['--yes'], 'echo x > y').status).toBe(0)
  })

  it('refuses a yes and leaves its question, which is answered after it', () => {
    const asked = locked.exec([], 'rm -f y; echo z > z')
    expect(asked.status).toBe(75)
    const pass = ['--pass-fd', '3']
    const id = locked.writ(['inbox', '--json']).json.pending[0].action_id
    expect(locked.writ(['halt']).status).toBe(0)
    const refused = locked.writ(['approve', id, '--json', ...pass], { passphrase: WORDS })
    expect(refused.status).toBe(1)
    expect(JSON.stringify(refused.json)).toContain('the question still waits')
    expect(locked.writ(['inbox', '--json']).json.pending).toHaveLength(1)
    expect(locked.writ(['resume', ...pass], { passphrase: WORDS }).status).toBe(0)
    expect(locked.writ(['approve', id, ...pass], { passphrase: WORDS }).status).toBe(0)
    expect(locked.text('z')).toBe('z\n')
  })
})
