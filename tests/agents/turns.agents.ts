/**
 * Whole turns of real coding agents in `writ run` (spec 80, "Proof"): the agent edits, runs a test,
 * deletes what it was not asked to, and runs a script with a hidden side effect. What becomes real, what
 * waits and what is blocked is the same with hooks and without.
 */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilt } from '../built.ts'
import type { Json } from '../cli-gate/place.ts'
import type { Who } from '../sandbox/drive.ts'
import { AgentSession, holdsKey, KEY } from './agent-session.ts'
import { AGENT_NAMES } from './programs.ts'

const WANTED = (process.env['WRIT_AGENTS'] ?? '').split(',').filter((name) => name !== '')
const NAMES = AGENT_NAMES.filter((name) => WANTED.length === 0 || WANTED.includes(name))

const FILES = {
  'sum.sh': 'echo $(($1 + $2))\n',
  'test.sh': 'test "$(sh sum.sh 1 2)" = 3 && echo passed > report.txt\n',
  // The hidden side effect: a program that would run with the rights of its owner.
  'build.sh': 'echo built > built.txt; cp /bin/true helper; chmod u+s helper\n',
  'legacy.txt': 'the only copy of a note\n',
}

/** Measured; OpenCode, Cline and pi have no such file, and settle with their hooks. */
const SWITCHES: Readonly<Record<string, { readonly file: string; readonly text: string }>> = {
  'claude-code': { file: '.claude/settings.json', text: '{"disableAllHooks":true}\n' },
  codex: { file: '.codex/config.toml', text: '[features]\nhooks = false\n' },
  gemini: { file: '.gemini/settings.json', text: '{"hooksConfig":{"enabled":false}}\n' },
  copilot: { file: '.claude/settings.json', text: '{"disableAllHooks":true}\n' },
  // Without the version of its form, Qwen Code writes the file again.
  qwen: { file: '.qwen/settings.json', text: '{"$version":4,"disableAllHooks":true}\n' },
}

/** Every place inside that a key could have reached. */
const LOOK =
  'env > seen.txt; cat /proc/[0-9]*/environ >> seen.txt 2>/dev/null; grep -rsl canary "$HOME" /tmp . >> seen.txt; true'

/** The commands wait so long that each one ends in a settle of its own. */
const SETTLE = 'sleep 1.3'

let place: AgentSession | null = null
beforeAll(ensureBuilt, 120_000)
afterEach(() => place?.end())

function turns({ trial, project }: AgentSession) {
  return [
    trial.write(join(project, 'notes.txt'), 'made by the edit tool'),
    trial.shell(`${SETTLE}; echo '# adds two numbers' >> sum.sh; sh test.sh`),
    trial.shell(`${SETTLE}; rm legacy.txt`),
    trial.shell(`${SETTLE}; sh build.sh`),
    trial.shell(`${SETTLE}; ${LOOK}`),
    { text: 'done' },
  ]
}

async function wholeTurn(agent: AgentSession, options: readonly string[], more: readonly string[]) {
  const running = await agent.turn(turns(agent), options, more)
  const status = await running.ends()
  expect(status, `${running.err}\n${running.out}`).toBe(0)
  expect(agent.changed(), running.err).toEqual([
    'built.txt',
    'notes.txt',
    'report.txt',
    'seen.txt',
    'sum.sh',
  ])
  return running
}

/** What a person does afterwards: answers what waits, and takes the answer back. */
async function answerAndUndo(agent: AgentSession): Promise<void> {
  const id = deletionId(agent)
  expect(agent.has('legacy.txt')).toBe(true)
  agent.approve(id)
  expect(agent.has('legacy.txt')).toBe(false)
  agent.did(['undo'])
  expect(agent.text('legacy.txt')).toBe(FILES['legacy.txt'])
}

/**
 * The question about the deletion. OpenCode puts a file of its own into `.git`, which may be asked
 * about first; a session has one question at a time.
 */
function deletionId(agent: AgentSession): string {
  const [first, ...others] = agent.waiting()
  expect(others).toEqual([])
  const { out } = agent.did(['inbox', first.id])
  if (out.includes('legacy.txt')) return first.id
  expect(out).toContain('.git/opencode')
  agent.did(['deny', first.id])
  agent.did(['session', 'settle'])
  return agent.waiting()[0].id
}

/** Everything that became real is in an act that the gate let pass, and the record is whole. */
function expectDecided(agent: AgentSession): void {
  const acts = agent.facts('promotion_v1').map(({ action_id }: Json) => action_id as string)
  const shown = acts.map((id) => agent.did(['show', id, '--json']).json)
  const paths = new Set(JSON.stringify(shown).match(/[\w./-]+/g))
  for (const path of agent.changed()) expect(paths).toContain(join(agent.project, path))
  expect(agent.did(['ledger', 'verify', '--json']).json).toMatchObject({ ok: true })
  agent.did(['replay', '--json'])
}

function expectKeyOutside(agent: AgentSession): void {
  const keys = agent.model.requests
    .filter(({ method }) => method === 'POST')
    .map(({ headers }) => JSON.stringify(headers).includes(KEY))
  expect(keys).toContain(true)
  expect(keys).not.toContain(false)
  expect(agent.text('seen.txt')).not.toContain('canary')
  expect(agent.sent().includes(KEY)).toBe(false)
  const kept = join(agent.folder, 'state')
  const files = readdirSync(kept, { recursive: true, encoding: 'utf8' })
    .map((name) => join(kept, name))
    .filter((file) => existsSync(file) && statSync(file).isFile() && holdsKey(file))
  expect(files.every((file) => file.includes('/secrets'))).toBe(true)
}

describe.each(NAMES)('%s in a session', { timeout: 240_000 }, (name) => {
  it.each<Who>(['root', 'user'])('works, waits, is refused and is undone, as %s', async (who) => {
    place = new AgentSession(name, who).begin(FILES)
    const running = await wholeTurn(place, [], [])
    expect(running.err).toMatch(/blocked: .*helper/)
    // The model heard what was refused.
    expect(place.told()).toMatch(/Blocked, .*helper/)
    await answerAndUndo(place)
    expectDecided(place)
    expectKeyOutside(place)
    // What the agent wrote for itself does not keep it from starting again.
    const again = await place.turn([{ text: 'done' }])
    expect(await again.ends(), again.err).toBe(0)
  })

  it('loses nothing when it is killed, and settles without hooks', async () => {
    place = new AgentSession(name).begin({ ...FILES, ...withoutHooks(name) })
    const { trial, project } = place
    const notes = join(project, 'notes.txt')
    const first = await place.turn(
      [
        trial.write(notes, 'made by the edit tool'),
        trial.shell('rm legacy.txt; echo cut > cut.txt; sleep 300'),
        { text: 'done' },
      ],
      ['--settle', 'end'],
    )
    const agent = place
    await agent.until(() => paths(agent).includes('cut.txt'), 'the command runs')
    first.child.kill('SIGKILL')
    await first.exited
    expect(agent.changed()).toEqual([])
    expect(paths(agent)).toEqual(['cut.txt', 'legacy.txt', 'notes.txt'])
    const [session] = agent.did(['session', 'list', '--json']).json.sessions
    const script = 'cat notes.txt > copy.txt; test -e legacy.txt || echo gone >> copy.txt'
    const resumed = await agent.turn(
      [trial.shell(script), { text: 'done' }],
      ['--resume', session.session_id],
    )
    expect(await resumed.ends(), resumed.err).toBe(0)
    expect(agent.changed(), resumed.err).toEqual(['copy.txt', 'cut.txt', 'notes.txt'])
    expect(agent.text('copy.txt')).toMatch(/^made by the edit tool\s*gone\n$/)
    expect(hasHooks(name) || agent.told() === '', agent.told()).toBe(true)
    await answerAndUndo(agent)
    expectDecided(agent)
  })
})

/** What is pending, as paths of the project. */
function paths(agent: AgentSession): readonly string[] {
  const shown = agent.writ(['session', 'show', '--json'])
  if (shown.status !== 0) return []
  return shown.json.pending
    .map(({ path }: Json) => path.slice(agent.project.length + 1))
    .filter((path: string) => !path.startsWith('.git'))
    .sort()
}

/** Files of a repository that switch the agent's hooks off. */
function withoutHooks(name: string): Readonly<Record<string, string>> {
  const off = SWITCHES[name]
  return off === undefined ? {} : { [off.file]: off.text }
}

function hasHooks(name: string): boolean {
  return SWITCHES[name] === undefined
}
