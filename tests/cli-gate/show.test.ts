/** Questions and history that a person can read: who, what, why, what became of it, how to undo it. */
import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { Place } from './place.ts'

vi.setConfig({ testTimeout: 120_000 })
let place: Place

beforeAll(() => {
  place = new Place('show', { runs: 'warm' }).init()
}, 180_000)

afterAll(() => {
  place?.remove()
})

function request() {
  const example = place.writ(['propose', '--example', 'NETWORK_REQUEST']).json
  example.operation.headers = { authorization: 'Bearer hush', 'content-type': 'text/plain' }
  example.operation.body = 'the body that leaves\n'
  return JSON.stringify(example)
}

describe('a question', () => {
  it('says who asks, the command, why in words, and what to type', () => {
    expect(place.exec([], 'echo 1 > one').status).toBe(75)
    const [{ id, asked_by, what, reasons }] = place.pending()
    expect(asked_by).toMatchObject({ principal: 'human:ann@local', agent: null })
    expect(what).toBe("sh -c 'echo 1 > one'")
    expect(reasons).toMatchObject([{ code: 'confirm.descriptor' }])
    const list = place.writ(['inbox']).out
    const one = place.writ(['inbox', id.slice(0, 6)]).out
    for (const text of [list, one]) {
      expect(text).toContain("sh -c 'echo 1 > one'")
      expect(text).toContain('human:ann@local, 20')
      expect(text).toContain('nothing was declared (--write, --delete)')
      expect(text).toContain('writ approve ')
    }
    expect(one).toContain('can be taken back for 14 days: writ undo')
    const seen = place.person(['approve', id], [{ expect: 'show all] ' }, { send: 'y\n' }])
    expect(seen.output).toContain('You are asked because')
    expect(seen).toMatchObject({ failed: null, status: 0 })
  })

  it('of an actor quotes its words, and shows the body of a request without secrets', () => {
    const token = place.token('ai:coder@local')
    const asked = place.writ(['propose', '-', '--json'], { input: request(), token })
    expect(asked.status, asked.out + asked.err).toBe(3)
    const { id } = asked.json.pending
    const text = place.writ(['inbox', id]).out
    expect(text).toContain('ai:coder@local')
    expect(text).toContain('POST https://api.example.com/notes')
    expect(text).toContain('the body that leaves')
    expect(text).toContain('content-type: text/plain')
    expect(text).toContain('authorization: (11 characters, not shown)')
    expect(text).toContain("“Send one request and keep the answer.” (the actor's own words)")
    expect(text).toContain('which no undo takes back (confirm.class)')
    expect(text).not.toContain('hush')
    expect(text).not.toContain('did not happen')
    expect(place.writ(['deny', id]).out).toBe(
      `denied  ${asked.json.action_id.slice(0, 13)}  nothing was changed\n`,
    )
    expect(place.writ(['log']).out).toMatch(/denied +ai:coder@local +1 request +POST https/)
  })

  it('shows nothing in place of a file that was exchanged', () => {
    place.write('page', 'old words\n')
    expect(place.exec([], 'echo new words > page').status).toBe(75)
    const { id } = place.pending().at(-1)
    const secret = join(place.folder, 'other')
    writeFileSync(secret, 'bytes of another file\n')
    const page = join(place.project, 'page')
    rmSync(page)
    execFileSync('ln', ['-s', secret, page])
    const linked = place.writ(['inbox', id]).out
    expect(linked).toContain('cannot be shown (ELOOP)')
    expect(linked).not.toContain('bytes of another file')
    rmSync(page)
    execFileSync('mkfifo', [page])
    expect(place.writ(['inbox', id], { seconds: 20 }).out).toContain('something else is there now')
    rmSync(page)
    writeFileSync(page, 'other words\n')
    expect(place.writ(['inbox', id]).out).toContain('it changed since the run')
    expect(place.writ(['deny', id]).status).toBe(0)
  })

  it('without a terminal is some lines, and names where the rest is', () => {
    const names = Array.from({ length: 100 }, (_, index) => index)
    for (const index of names) place.write(`many/${index}`)
    const ended = place.exec([], 'for f in many/*; do echo x >> $f; done')
    expect(ended.status).toBe(75)
    expect(ended.err.split('\n').length).toBeLessThan(45)
    const { id } = place.pending().at(-1)
    expect(ended.err).toContain(`writ inbox ${id} --all`)
    const brief = place.writ(['inbox', id]).out
    expect(brief.split('\n').length).toBeLessThan(60)
    expect(brief).toContain('many/ 100 changed')
    const whole = place.writ(['inbox', id, '--all']).out
    for (const index of names) expect(whole).toContain(`~ many/${index}\n`)
    const paged = place.person(
      ['approve', id],
      [
        { expect: 'show all] ' },
        { send: 'a\n' },
        { expect: 'many/99' },
        { expect: 'show all] ' },
        { send: 'n\n' },
      ],
      { env: { PAGER: 'cat' } },
    )
    expect(paged).toMatchObject({ failed: null, status: 3 })
    expect(place.writ(['deny', id]).out).not.toContain('many/')
  })

  it('tells a commit as a commit, and hooks by name', () => {
    const git = new Place('git', { runs: 'warm' })
    try {
      rmSync(join(git.project, '.git'), { recursive: true })
      execFileSync('git', ['init', '-q', '-b', 'trunk', git.project])
      git.init()
      git.write('a.txt')
      const identity = '-c user.name=ann -c user.email=ann@example.com'
      const script = `git add a.txt; git ${identity} commit -qm "first subject"; echo x > .git/hooks/pre-push`
      expect(git.exec([], script).status).toBe(75)
      const [{ id }] = git.pending()
      const text = git.writ(['inbox', id]).out
      expect(text).toMatch(/~ commit [0-9a-f]{7} on trunk: first subject\n/)
      expect(text).toContain('that git keeps for itself')
      expect(text).toContain('+ .git/hooks/pre-push (new file')
      expect(text).not.toContain('.git/objects')
      expect(git.writ(['inbox', id, '--all']).out).toContain('.git/objects')
    } finally {
      git.remove()
    }
  })
})

describe('the history', () => {
  it('lists acts with time, who, outcome, effects and command; facts on request', () => {
    expect(place.exec(['--yes'], 'echo 2 > two').status).toBe(0)
    const { out } = place.writ(['log'])
    expect(out).toMatch(/promoted +human:ann@local +1 added +sh -c 'echo 2 > two'\n/)
    expect(place.writ(['log', '--facts']).out).toContain('promotion_v1')
    expect(place.writ(['undo']).status).toBe(0)
    expect(place.writ(['log']).out).toMatch(/undone +human:ann@local/)
  })

  it('tells one act in sections, by a beginning of its id', () => {
    expect(place.exec(['--yes'], 'echo 3 > three').status).toBe(0)
    const row = place.writ(['log']).out.trimEnd().split('\n').at(-1) ?? ''
    const short = /[0-9a-f]{8}-[0-9a-f]{4}/.exec(row)?.[0] ?? ''
    const { out } = place.writ(['show', short])
    for (const words of ['Proposal', 'Rehearsal', 'Decision', 'Answer', 'Promotion']) {
      expect(out).toContain(`\n${words}  `)
    }
    expect(out).toContain(`writ rollback ${short}`)
    expect(out).toContain('by a plain yes given with `--yes`')
    expect(place.writ(['laws', 'explain', short]).status).toBe(0)
    expect(place.writ(['rollback', short]).status).toBe(0)
    expect(place.has('three')).toBe(false)
    expect(place.writ(['show', short]).out).toContain('\nUndo  1 path restored, as it was before')
  })
})

describe('small answers', () => {
  it('resume without a halt says so; purge --dry-run asks for nothing', () => {
    expect(place.writ(['resume'])).toMatchObject({ status: 0, out: 'nothing is halted\n' })
    const locked = new Place('purge', { runs: 'warm' }).init('correct horse battery staple')
    try {
      expect(locked.writ(['purge', '--before', '1d', '--dry-run']).status).toBe(0)
      expect(locked.writ(['purge', '--before', '1d']).status).toBe(1)
    } finally {
      locked.remove()
    }
  })

  it('nothing raw that a terminal obeys is in JSON or in an error', () => {
    const name = 'odd\u202ename'
    expect(place.exec([], `echo x > '${name}'`).status).toBe(75)
    const { out } = place.writ(['inbox', place.pending().at(-1).id, '--json'])
    expect(out).not.toContain('\u202e')
    expect(out).toContain('\\u202e')
    const failed = place.exec(['--report', '/nowhere/\u001b[31m/x'], 'true')
    expect(failed.err).not.toContain('\u001b')
  })
})
