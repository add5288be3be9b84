/** The program that hooks start inside of a session: it answers as `writ hook event` does, without Node. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AGENT, RunningAgent, SessionPlace } from './session-place.ts'

const HOOK = resolve('bin/hooks/writ')

let place: SessionPlace
beforeEach(() => {
  place = new SessionPlace('hook-program')
  place.commit({ 'a.txt': 'one\n' }).init()
}, 120_000)
afterEach(() => place.remove())

function event(name: string): string {
  return JSON.stringify({
    session_id: 's',
    cwd: place.project,
    hook_event_name: name,
    tool_name: 'Bash',
    tool_input: { command: 'ls' },
    tool_response: { stdout: 'x'.repeat(2_000_000) },
    tool_use_id: 'call-1',
  })
}

describe('the hook program of a session', { timeout: 180_000 }, () => {
  it('settles after a tool, and prints the answer for the model, where there is no Node', async () => {
    place.write('after.json', event('PostToolUse'))
    const agent = place.agentRun(['--settle', 'tool'])
    await agent.does('mkdir /tmp/bin; for p in sh perl; do ln -s $(command -v $p) /tmp/bin; done')
    await agent.does('cp /bin/true tool; chmod u+s tool; echo fine > fine.txt')
    await agent.does(`PATH=/tmp/bin ${HOOK} hook event claude-code < after.json`)
    expect(agent.out).toMatch(
      /\{"hookSpecificOutput":\{"hookEventName":"PostToolUse","additionalContext":"writ: Blocked, .*tool/,
    )
    expect(place.has('fine.txt')).toBe(true)
    const marks = place.facts('evaluation_v1').flatMap(({ session }) => session ?? [])
    expect(marks.at(-1)).toMatchObject({ boundary: 'tool', tool: { call_id: 'call-1' } })
    await agent.does(`echo '{}' | PATH=/tmp/bin ${HOOK} hook event claude-code; echo left $?`)
    expect(agent.out).toContain('left 2\n')
    // A channel that does not answer is no failure of the hook.
    const closed = 'WRIT_SESSION_CHANNEL=http://127.0.0.1:9/x'
    await agent.does(`${closed} ${HOOK} hook event claude-code < after.json; echo closed $?`)
    expect(agent.out).toMatch(/^\{\}\nclosed 0$/m)
    await agent.ends()
  })

  it('says what a person changed and the agent cannot see yet', async () => {
    place.write('after.json', event('PostToolUse'))
    const report = `sleep 1.1; ${HOOK} hook event claude-code < after.json`
    const agent = place.agentRun(['--settle', 'tool'])
    // A directory that the session made, with a process in it, and a real file that one has open.
    await agent.does('mkdir made; echo x > made/x; (cd made; exec sleep 300) & exec 3< a.txt')
    await agent.does(report)
    place.write('made/person.txt', 'from a person\n')
    place.write('a.new', 'changed by a person\n')
    renameSync(join(place.project, 'a.new'), join(place.project, 'a.txt'))
    await place.until(() => stale().length === 2, 'both are known')
    agent.out = ''
    await agent.does(report)
    const files = /Changed outside, but you still see it as it was.*a\.txt, .*made\/person\.txt\./
    expect(agent.out).toMatch(files)
    expect(place.writ(['session', 'show']).out).toMatch(
      /hidden +.*made\/person\.txt +changed outside/,
    )
    agent.out = ''
    await agent.does(report)
    expect(agent.out).not.toContain('Changed outside')
    await agent.does('kill %1; exec 3<&-; sleep 0.2')
    await agent.does(`${report}; cat made/person.txt a.txt`)
    expect(agent.out).toContain('from a person\nchanged by a person\n')
    expect(stale()).toEqual([])
    expect(await agent.ends()).toBe(0)
  })

  function stale(): readonly string[] {
    return place.writ(['session', 'show', '--json']).json.stale
  }

  it('is writ itself outside of a session', () => {
    const options = { input: event('PostToolUse'), encoding: 'utf8', env: place.env() } as const
    const { status, stdout } = spawnSync(HOOK, ['hook', 'event', 'claude-code'], options)
    expect([status, stdout]).toEqual([0, '{}\n'])
    const broken = spawnSync(HOOK, ['hook', 'event', 'claude-code'], { ...options, input: 'no' })
    expect(broken.status).toBe(2)
  })

  it('is the only one of writ in the private home', async () => {
    const bin = join(place.project, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'claude'), `#!/bin/bash\n${AGENT}`, { mode: 0o755 })
    const installed = place.writ(['hook', 'install', 'claude-code', '--user', '--yes'])
    expect(installed.status, installed.err).toBe(0)
    const commands = async (...options: string[]): Promise<readonly string[]> => {
      const agent = new RunningAgent(place.start(['run', ...options, '--', join(bin, 'claude')]))
      await agent.does('cat ~/.claude/settings.json; echo')
      expect(await agent.ends(), agent.err).toBe(0)
      const { hooks } = JSON.parse(agent.out.split('done: ')[0] ?? '')
      return hooks.PostToolUse.flatMap((group: { hooks: { command: string }[] }) =>
        group.hooks.map(({ command }) => command),
      )
    }
    const wanted = [`${HOOK} hook event claude-code`]
    expect(await commands()).toEqual(wanted)
    // An earlier version of writ may have added them with another program.
    const state = join(place.folder, 'state')
    const names = readdirSync(state, { recursive: true, encoding: 'utf8' })
    const OWN = /agents\/.*(?:hooks\/claude-code-user|home\/\.claude\/settings)\.json$/
    const files = names.filter((name) => OWN.test(name)).map((name) => join(state, name))
    expect(files).toHaveLength(2)
    for (const file of files) {
      writeFileSync(file, readFileSync(file, 'utf8').replaceAll(HOOK, '/opt/old/writ'))
    }
    expect(await commands('--accept-state')).toEqual(wanted)
  })
})
