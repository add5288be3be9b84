/** Commands that need the person's credentials are held, shown, asked about, and run once outside (S-15). */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RunningAgent, SessionPlace } from './session-place.ts'

const PASS = 'correct horse battery staple'
const PATH = process.env['PATH'] ?? ''

/** A registry on the loopback that notes what it is asked, in a process of its own. */
const REGISTRY = `
const [log] = process.argv.slice(1)
const server = require('node:http').createServer((request, answer) => {
  let body = ''
  request.on('data', (piece) => { body += piece })
  request.on('end', () => {
    const { authorization = '' } = request.headers
    const version = request.method === 'PUT' ? Object.keys(JSON.parse(body).versions).join() : ''
    const line = { method: request.method, path: request.url, authorization, version }
    require('node:fs').appendFileSync(log, JSON.stringify(line) + '\\n')
    answer.statusCode = request.method === 'PUT' ? 201 : 404
    answer.end('{"ok":true}')
  })
})
server.listen(0, '127.0.0.1', () => console.log(server.address().port))
`

/** The person's gh: notes its calls and its token. Ends its parent where a file says so. */
const GH = `#!/bin/sh
printf '%s|' "$@" >> "$0.calls"
printf 'token=%s\\n' "$GH_TOKEN" >> "$0.calls"
printf 'host=%s in=%s\\n' "$GH_HOST" "$PWD" >> "$0.calls"
for word; do [ ! -f "$word" ] || { echo "--- $(cat "$word")" >> "$0.calls"; }; done
[ ! -e "$0.kills" ] || { kill -9 $PPID; sleep 1; }
echo https://github.com/ann/shop/pull/7
`

let place: SessionPlace
let registry: ChildProcess
let asked: string
let calls: string

beforeEach(async () => {
  place = new SessionPlace('commands')
  const manifest = { name: '@ann/shop', version: '1.2.3', files: ['index.js'] }
  place.commit({
    'index.js': 'module.exports = 1\n',
    'secret.txt': 'not packed\n',
    'package.json': `${JSON.stringify(manifest, null, 2)}\n`,
  })
  asked = join(place.folder, 'asked')
  const stdio = ['ignore', 'pipe', 'inherit'] as const
  registry = spawn(process.execPath, ['-e', REGISTRY, asked], { stdio: [...stdio] })
  // Asked for as a pipe above.
  const [port] = await once(registry.stdout as NodeJS.ReadableStream, 'data')
  const address = `//127.0.0.1:${String(port).trim()}/`
  const settings = `registry=http:${address}\n${address}:_authToken=of-ann\n`
  writeFileSync(join(place.folder, 'home', '.npmrc'), settings)
  const bin = join(place.folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'gh'), GH)
  chmodSync(join(bin, 'gh'), 0o755)
  calls = join(bin, 'gh.calls')
  process.env['PATH'] = `${bin}:${PATH}`
  process.env['GH_TOKEN'] = 'token-of-ann'
  place.init(PASS)
}, 180_000)
afterEach(() => {
  process.env['PATH'] = PATH
  delete process.env['GH_TOKEN']
  registry.kill()
  place.remove()
})

function textOf(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

/** As another process of the person could, between the question and the answer. */
function alterInputs(): void {
  const state = join(place.folder, 'state')
  for (const name of readdirSync(state, { recursive: true, encoding: 'utf8' })) {
    if (/held-commands\/.*\/0\/body\.md$/.test(name)) writeFileSync(join(state, name), 'other')
  }
}

function lastHeld(agent: RunningAgent): string {
  return [...agent.err.matchAll(/a command of .*writ inbox (\w+)/g)].at(-1)?.[1] ?? ''
}

/** Lets the agent begin a command; the function returned waits for its end, which a person decides. */
function begin(agent: RunningAgent, command: string): () => Promise<void> {
  agent.child.stdin?.write(`${command}\n`)
  return () => place.until(() => agent.out.includes(`done: ${command}`), agent.out)
}

/** As a person at a terminal; returns what they see. */
function approve(id: string): string {
  const steps = [{ expect: '[y' }, { send: 'y\r' }, { expect: 'assphrase' }, { send: `${PASS}\r` }]
  return place.person(['approve', id], steps).output
}

describe('a command that needs credentials', { timeout: 240_000 }, () => {
  it('npm publish shows the package, and the person’s npm publishes it once', async () => {
    const agent = place.agentRun()
    const published = begin(agent, 'npm publish --tag next 2>&1; echo "status $?"')
    await place.until(() => lastHeld(agent) !== '', `it is held: ${agent.out} ${agent.err}`)
    expect(textOf(asked)).toBe('')
    const shown = place.writ(['inbox', lastHeld(agent), '--all']).out
    expect(shown).toContain('package @ann/shop@1.2.3, tag next')
    expect(shown).toContain('registry http://127.0.0.1')
    expect(shown).toContain('package/index.js')
    expect(shown).not.toContain('secret.txt')
    approve(lastHeld(agent))
    await published()
    expect(agent.out).toMatch(/approved the command, and it was sent[\s\S]*status 0/)
    const puts = textOf(asked)
      .split('\n')
      .filter((line) => line.includes('"PUT"'))
    expect(puts.map((line) => JSON.parse(line))).toEqual([
      { method: 'PUT', path: '/@ann%2fshop', authorization: 'Bearer of-ann', version: '1.2.3' },
    ])
    expect(await agent.ends()).toBe(0)
  })

  it('gh shows its request and its texts, and runs outside after a yes alone', async () => {
    const agent = place.agentRun()
    await agent.does('echo "what it does" > body.md; echo "token inside: [$GH_TOKEN]"')
    expect(agent.out).toContain('token inside: []')
    const made = begin(
      agent,
      'gh pr create -R ann/shop --head fix --title "A fix" --body-file body.md 2>&1; echo "status $?"',
    )
    await place.until(() => lastHeld(agent) !== '', `it is held: ${agent.out} ${agent.err}`)
    const first = lastHeld(agent)
    const shown = place.writ(['inbox', first, '--all']).out
    expect(shown).toContain(
      "gh pr create -R ann/shop --head fix --title 'A fix' --body-file body.md",
    )
    expect(shown).toContain('by your gh on github.com, in the repository ann/shop')
    expect(shown).toContain('what it does')
    expect(textOf(calls)).toBe('')
    approve(first)
    await made()
    expect(agent.out).toMatch(/it was sent[\s\S]*shop\/pull\/7[\s\S]*status 0/)
    expect(textOf(calls)).toMatch(
      /^pr\|create\|-R\|ann\/shop\|--head\|fix\|--title\|A fix\|--body-file\|.*body.md\|token=token-of-ann/,
    )
    expect(textOf(calls)).toContain('--- what it does')
    // Nothing of the agent's directory says what gh works on.
    expect(textOf(calls)).toMatch(/^host=github\.com in=.*\/held-commands\/[0-9a-f-]{36}$/m)
    const denied = begin(agent, 'gh api -X DELETE repos/ann/shop 2>&1; echo "status $?"')
    await place.until(() => lastHeld(agent) !== first, 'the call is held')
    expect(place.writ(['inbox', lastHeld(agent), '--all']).out).toContain(
      'DELETE https://api.github.com/repos/ann/shop',
    )
    expect(place.writ(['deny', lastHeld(agent)]).status).toBe(0)
    await denied()
    expect(agent.out).toMatch(/denied the command[\s\S]*status 1/)
    expect(textOf(calls)).not.toContain('DELETE')
    const second = lastHeld(agent)
    const third = begin(
      agent,
      'gh issue create -R ann/shop --title T --body-file body.md 2>&1; echo "status $?"',
    )
    await place.until(() => lastHeld(agent) !== second, 'the third is held')
    alterInputs()
    approve(lastHeld(agent))
    await third()
    expect(agent.out).toContain('it failed: the command or a file of it is not the one')
    expect(textOf(calls)).not.toContain('issue')
    // What only reads is not asked about, and has no credentials inside.
    await agent.does('gh pr list 2>&1; echo "status $?"')
    expect(textOf(calls).match(/^pr\|/gm)).toHaveLength(1)
    expect(await agent.ends()).toBe(0)
  })

  it('gh reads no file outside that was not handed over and shown', async () => {
    const agent = place.agentRun()
    const hidden = join(place.folder, 'home', 'hidden.txt')
    writeFileSync(hidden, 'HIDDEN\n')
    for (const words of [
      `gist create ${hidden}`,
      `issue create -tx -F${hidden}`,
      `issue create --template ${hidden} --title T --body B`,
      `api -X POST x --field a=1 --jq env`,
      `release create v1 -R ann/shop ${hidden}`,
      'pr merge --squash',
      'pr merge 7',
      'pr merge feature -R ann/shop',
    ]) {
      agent.out = ''
      await agent.does(`gh ${words} 2>&1; echo "status $?"`)
      expect(agent.out, words).toMatch(/cannot be held: [\s\S]*status 1/)
    }
    // The same without the wrapper, which runs with the rights of the agent.
    const order = { program: 'gh', inputs: [] }
    const direct = [
      ['api', '-X', 'POST', '/x', '-F', `b=@${hidden}`],
      ['api', '-X', 'POST', '/x', '--input', hidden],
    ]
    for (const argv of direct) {
      agent.out = ''
      const body = JSON.stringify({ ...order, argv })
      await agent.does(
        `curl -s --noproxy '*' -H 'content-type: application/json' -d '${body}' $WRIT_SESSION_CHANNEL/command/gh`,
      )
      expect(agent.out, body).toContain('names a file that was not handed over')
    }
    agent.out = ''
    const inputs = [{ name: 'n\n  forged line', base64: 'YQ==' }]
    const forged = JSON.stringify({ program: 'gh', argv: ['gist', 'create', { input: 0 }], inputs })
    await agent.does(
      `curl -s --noproxy '*' -H 'content-type: application/json' -d '${forged}' $WRIT_SESSION_CHANNEL/command/gh`,
    )
    expect(agent.out).toContain('is not one line')
    await agent.does('echo harmless > note.md')
    const made = begin(agent, 'gh gist create -d "my notes" note.md 2>&1; echo "status $?"')
    await place.until(() => lastHeld(agent) !== '', `it is held: ${agent.out} ${agent.err}`)
    const id = lastHeld(agent)
    expect(place.writ(['inbox', id, '--all']).out).toContain('harmless')
    place.write('note.md', 'SWAPPED\n')
    approve(id)
    await made()
    expect(textOf(calls)).toContain('--- harmless')
    expect(textOf(calls)).not.toMatch(/SWAPPED|HIDDEN/)
    expect(await agent.ends()).toBe(0)
  })

  it('a crash while it runs leaves it unknown, and it is never run again', async () => {
    writeFileSync(join(place.folder, 'bin', 'gh.kills'), '')
    const agent = place.agentRun()
    const made = begin(
      agent,
      'gh issue create -R ann/shop --title T --body B 2>&1; echo "status $?"',
    )
    await place.until(() => lastHeld(agent) !== '', `it is held: ${agent.out} ${agent.err}`)
    approve(lastHeld(agent))
    await place.until(() => textOf(calls) !== '', 'gh ran')
    place.writ(['recover'])
    await made()
    expect(agent.out).toMatch(/unknown, look first[\s\S]*status 1/)
    place.writ(['recover'])
    expect(await agent.ends()).toBe(0)
    expect(textOf(calls).match(/^issue\|/gm)).toHaveLength(1)
    expect(place.facts('request_v1').map(({ state }) => state)).toContain('UNKNOWN')
    expect(place.writ(['ledger', 'verify', '--json']).json).toMatchObject({ ok: true })
  })
})
