/** Pushes of an agent are held, shown, asked about, and sent once by the host (S-15). */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RunningAgent, SessionPlace } from './session-place.ts'

const PASS = 'correct horse battery staple'

/**
 * A server of git on the loopback: every request is answered by git's own program for it. A process of its
 * own, since a test waits for people.
 */
const SERVER = `
const { spawn } = require('node:child_process')
const [root] = process.argv.slice(1)
const server = require('node:http').createServer((request, answer) => {
  const [path, query = ''] = request.url.split('?')
  require('node:fs').appendFileSync(root + '/asked', request.method + ' ' + path + '\\n')
  const env = { PATH: process.env.PATH, GIT_PROJECT_ROOT: root, GIT_HTTP_EXPORT_ALL: '1', REMOTE_USER: 'ann',
    PATH_INFO: path, QUERY_STRING: query, REQUEST_METHOD: request.method,
    CONTENT_TYPE: request.headers['content-type'] || '' }
  const backend = spawn('git', ['http-backend'], { env })
  request.pipe(backend.stdin)
  const pieces = []
  backend.stdout.on('data', (piece) => pieces.push(piece))
  backend.on('close', () => {
    const whole = Buffer.concat(pieces)
    const end = whole.indexOf('\\r\\n\\r\\n')
    for (const line of whole.toString('latin1', 0, end).split('\\r\\n')) {
      const [name, value] = line.split(': ')
      if (name === 'Status') answer.statusCode = parseInt(value, 10)
      else answer.setHeader(name, value)
    }
    answer.end(whole.subarray(end + 4))
  })
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
`

let place: SessionPlace
let server: ChildProcess
let bare: string

beforeEach(async () => {
  place = new SessionPlace('push')
  place.commit({ 'a.txt': 'one\n' })
  place.git('branch', '-M', 'main')
  const root = join(place.folder, 'server')
  bare = join(root, 'r.git')
  execFileSync('git', ['init', '-q', '--bare', '-b', 'main', bare])
  execFileSync('git', ['--git-dir', bare, 'config', 'http.receivepack', 'true'])
  server = spawn(process.execPath, ['-e', SERVER, root], { stdio: ['ignore', 'pipe', 'inherit'] })
  // Asked for as a pipe above.
  const [port] = await once(server.stdout as NodeJS.ReadableStream, 'data')
  place.git('push', '-q', bare, 'main')
  place.git('remote', 'add', 'origin', `http://127.0.0.1:${String(port).trim()}/r.git`)
  place.git('update-ref', 'refs/remotes/origin/main', 'main')
  place.init(PASS)
}, 120_000)
afterEach(() => {
  server.kill()
  place.remove()
})

/** What the server has, and what it was asked for. */
function served() {
  const asked = join(place.folder, 'server', 'asked')
  const log = ['--git-dir', bare, 'log', '--format=%s', 'main']
  return {
    log: execFileSync('git', log, { encoding: 'utf8' }),
    asked: existsSync(asked) ? readFileSync(asked, 'utf8') : '',
  }
}

function firstServed(): string {
  const words = ['--git-dir', bare, 'rev-parse', 'main']
  return execFileSync('git', words, { encoding: 'utf8' }).trim()
}

function lastPush(agent: RunningAgent): string {
  return [...agent.err.matchAll(/a push to .*writ inbox (\w+)/g)].at(-1)?.[1] ?? ''
}

/** As a person at a terminal; returns what they see. */
function approve(id: string): string {
  const steps = [{ expect: '[y' }, { send: 'y\r' }, { expect: 'assphrase' }, { send: `${PASS}\r` }]
  const { failed, output } = place.person(['approve', id], steps)
  expect(failed, output).toBeNull()
  return output
}

describe('a push from a session', { timeout: 120_000 }, () => {
  it('waits for a person, who sees its commits, and is sent once by the host', async () => {
    const agent = place.agentRun()
    await agent.does('echo two >> a.txt; git commit -qam "change a"')
    const pushed = agent.does('git push origin main 2>&1; echo "status $?"')
    await agent.hears('waits for an answer')
    expect(served()).toEqual({ log: 'first\n', asked: '' })
    const id = lastPush(agent)
    const shown = place.writ(['inbox', id, '--all']).out
    expect(shown).toContain('update refs/heads/main')
    expect(shown).toContain('change a (ann)')
    expect(shown).toContain('changed a.txt +1 -0')
    expect(approve(id)).toContain('sent')
    await pushed
    expect(agent.out).toMatch(/approved the push, and it was sent[\s\S]*status 0/)
    expect(served().log).toBe('change a\nfirst\n')
    expect(served().asked.match(/^POST /gm)).toHaveLength(1)
    const denied = agent.does('git push -f origin HEAD~1:main 2>&1; echo "status $?"')
    await place.until(() => lastPush(agent) !== id, 'the second push is held')
    expect(place.writ(['inbox', lastPush(agent), '--all']).out).toContain('REPLACE')
    expect(place.writ(['deny', lastPush(agent)]).status).toBe(0)
    await denied
    expect(agent.out).toMatch(/denied the push[\s\S]*status 1/)
    // The server has something that was not there when the person saw the push.
    execFileSync('git', ['--git-dir', bare, 'update-ref', 'refs/heads/main', 'main~1'])
    const second = lastPush(agent)
    await agent.does('echo three >> a.txt; git commit -qam "change again"')
    const stale = agent.does('git push origin main 2>&1; echo "status $?"')
    await place.until(() => lastPush(agent) !== second, 'the third push is held')
    approve(lastPush(agent))
    await stale
    expect(agent.out).toMatch(/it failed: .*stale info[\s\S]*status 1/)
    expect(served().log).toBe('first\n')
    expect(await agent.ends()).toBe(0)
    expect(place.writ(['ledger', 'verify', '--json']).json).toMatchObject({ ok: true })
  })

  it('shows commits that references of agents say the server has', async () => {
    const agent = place.agentRun()
    await agent.does('echo s > leak.txt; git add leak.txt; git commit -qm secret')
    await agent.does('git rm -q leak.txt; git commit -qm harmless')
    await agent.does('git update-ref refs/remotes/origin/forged HEAD')
    await place.until(
      () => /forged/.test(place.git('for-each-ref')),
      'the reference is promoted as ordinary work of git',
    )
    const pushed = agent.does('git push origin HEAD:refs/heads/main 2>&1')
    await agent.hears('waits for an answer')
    const first = lastPush(agent)
    const shown = place.writ(['inbox', first, '--all']).out
    expect(shown).toMatch(/2 commits that the server does not have[\s\S]*secret[\s\S]*leak\.txt/)
    place.writ(['deny', first])
    await pushed
    await agent.ends()
    // To a later session the reference looks like any other; the server knows better.
    const later = place.agentRun()
    const again = later.does('git push origin HEAD:refs/heads/new 2>&1')
    await later.hears('waits for an answer')
    const hidden = lastPush(later)
    expect(place.writ(['inbox', hidden, '--all']).out).toContain('0 commits')
    approve(hidden)
    await again
    expect(later.out).toMatch(/nothing was sent: the server lacks commits/)
    expect(execFileSync('git', ['--git-dir', bare, 'branch'], { encoding: 'utf8' })).not.toContain(
      'new',
    )
    const honest = later.does('git push origin HEAD:refs/heads/new 2>&1')
    await place.until(() => lastPush(later) !== hidden, 'it is asked about once more')
    const id = lastPush(later)
    expect(place.writ(['inbox', id, '--all']).out).toMatch(/2 commits[\s\S]*leak\.txt/)
    expect(approve(id)).toContain('sent')
    await honest
    await later.ends()
  })

  it('sends nothing unless the server has each old value itself', async () => {
    const agent = place.agentRun()
    await agent.does('echo s > leak.txt; git add leak.txt; git commit -qm secret')
    await agent.does('git rm -q leak.txt; git commit -qm gone; S=$(git rev-parse HEAD)')
    await agent.does('echo h > harmless.txt; git add harmless.txt; git commit -qm harmless')
    await agent.does('git update-ref refs/remotes/origin/main $S')
    await place.until(
      () => !place.git('rev-parse', 'main', 'origin/main').includes(firstServed()),
      'the reference is promoted as ordinary work of git',
    )
    const wanted = 'git push -f origin HEAD~3:refs/heads/main HEAD:refs/heads/feature'
    const pushed = agent.does(`${wanted} 2>&1; echo "status $?"`)
    await agent.hears('waits for an answer')
    const id = lastPush(agent)
    expect(place.writ(['inbox', id, '--all']).out).toContain('create refs/heads/feature')
    approve(id)
    await pushed
    expect(agent.out).toMatch(/nothing was sent \(stale info\): refs\/heads\/main was /)
    expect(agent.out).toMatch(/fetch, then push again[\s\S]*status 1/)
    const refs = execFileSync('git', ['--git-dir', bare, 'for-each-ref'], { encoding: 'utf8' })
    expect(refs).not.toContain('feature')
    expect(served().asked).not.toMatch(/receive-pack/)
    expect(await agent.ends()).toBe(0)
  })

  it('is refused in words if it goes to a directory outside', async () => {
    const outside = '/srv/writ-push-test.git'
    const inTree = join(place.project, 'in.git')
    execFileSync('git', ['init', '-q', '--bare', outside])
    try {
      place.git('remote', 'add', 'side', outside)
      place.git('remote', 'add', 'both', 'https://example.org/r.git')
      place.git('remote', 'set-url', '--push', 'both', `file://${outside}`)
      const agent = place.agentRun()
      await agent.does('echo two >> a.txt; git commit -qam "change a"')
      for (const to of [outside, `file://${outside}`, 'side', 'both', '../../../../srv/x.git']) {
        agent.out = ''
        await agent.does(`git push ${to} main 2>&1; echo "status $?"`)
        expect(agent.out, to).toMatch(
          /a session does not push to a directory outside[\s\S]*status 1/,
        )
      }
      agent.out = ''
      // What lasts as long as the session, and what is in the view, is no server.
      await agent.does(
        `git init -q --bare /tmp/t.git; git push -q /tmp/t.git main; echo "status $?"`,
      )
      await agent.does(`git init -q --bare ${inTree}; git push -q ${inTree} main; echo "status $?"`)
      expect(agent.out.match(/status 0/g)).toHaveLength(2)
      const refs = execFileSync('git', ['--git-dir', outside, 'for-each-ref'], { encoding: 'utf8' })
      expect(refs).toBe('')
      expect(await agent.ends()).toBe(0)
    } finally {
      rmSync(outside, { recursive: true })
    }
  })

  it('shows everything that is sent, also of a new branch and of a tag', async () => {
    const agent = place.agentRun()
    const long = `${'d'.repeat(90)}/${'e'.repeat(90)}.txt`
    await agent.does(`git checkout -q -b feature; mkdir -p .github/workflows ${'d'.repeat(90)}`)
    await agent.does(
      `echo 'on: push' > .github/workflows/ci.yml; echo 1 > ${long}; git rm -q a.txt`,
    )
    await agent.does('for i in $(seq 40); do echo $i > f$i; done; echo key > secret')
    await agent.does('git add -f .github d* f* secret; git commit -qm "fix typo"; git rm -q secret')
    await agent.does('for i in $(seq 30); do git commit -q --allow-empty -m "c$i"; done')
    const pushed = agent.does('git push origin feature 2>&1; echo "status $?"')
    await place.until(() => lastPush(agent) !== '', 'it is held')
    const shown = place.writ(['inbox', lastPush(agent), '--all']).out
    expect(shown).toMatch(/31 commits that the server does not have, 43 changed files/)
    for (const text of [long, 'fix typo', ' c30 ', 'added f40', 'secret'])
      expect(shown).toContain(text)
    expect(shown).toMatch(/ci\.yml .*RUNS LATER BY ITSELF/)
    expect(shown.indexOf('deleted a.txt')).toBeLessThan(shown.indexOf('ci.yml'))
    expect(shown).not.toContain('first (ann)')
    const first = lastPush(agent)
    expect(place.writ(['inbox', first]).out).toMatch(/and \d+ more lines/)
    expect(place.writ(['deny', first]).status).toBe(0)
    await pushed
    await agent.does('git tag t $(echo "a hidden text" | git hash-object -w --stdin)')
    const tagged = agent.does('git push origin t 2>&1; echo "status $?"')
    await place.until(() => lastPush(agent) !== first, 'the tag is held')
    const words = place.writ(['inbox', lastPush(agent), '--all']).out
    expect(words).toMatch(/create refs\/tags\/t .*, a blob of 14 bytes/)
    expect(words).toContain('a hidden text')
    expect(place.writ(['deny', lastPush(agent)]).status).toBe(0)
    await tagged
    const told = lastPush(agent)
    await agent.does('B=$(git rev-parse t); T=$(printf "100644 blob $B\\tleaf\\n" | git mktree)')
    await agent.does('git tag lt $T; git tag -am m tt $T; git tag -am m tb $B')
    await agent.does('git tag -am inner in1 HEAD; git tag -am outer out1 in1')
    await agent.does(
      'printf "a\\377b" > /tmp/m; git -c i18n.commitEncoding=x tag -aF /tmp/m bin HEAD',
    )
    for (const tag of ['lt', 'tt', 'tb', 'out1', 'bin']) {
      agent.out = ''
      await agent.does(`git push origin ${tag} 2>&1; echo "status $?"`)
      expect(agent.out, tag).toMatch(
        /cannot show all of it, so the push was not held[\s\S]*status 1/,
      )
    }
    expect(lastPush(agent)).toBe(told)
    const honest = agent.does('git push origin in1 2>&1; echo "status $?"')
    await place.until(() => lastPush(agent) !== told, 'a tag on a commit is held')
    const tag = place.writ(['inbox', lastPush(agent), '--all']).out
    expect(tag).toMatch(/create refs\/tags\/in1 .*, a tag of[\s\S]*\| inner[\s\S]*31 commits/)
    expect(place.writ(['deny', lastPush(agent)]).status).toBe(0)
    await honest
    await agent.ends()
  })

  it('is held as well where a remote has an address for pushes alone', async () => {
    const address = place.git('config', 'remote.origin.url').trim()
    place.git('config', 'remote.origin.pushurl', address)
    place.git('config', 'remote.origin.url', 'https://fetch.example/r.git')
    const agent = place.agentRun()
    await agent.does('echo two >> a.txt; git commit -qam "change a"')
    const pushed = agent.does('git push origin main 2>&1; echo "status $?"')
    await place.until(() => lastPush(agent) !== '', `it is held: ${agent.out}`)
    expect(place.writ(['inbox', lastPush(agent), '--all']).out).toContain('update refs/heads/main')
    expect(served().asked).toBe('')
    approve(lastPush(agent))
    await pushed
    expect(agent.out).toContain('status 0')
    expect(served().log).toBe('change a\nfirst\n')
    expect(await agent.ends()).toBe(0)
  })
})
