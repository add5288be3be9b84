/** The examples run as their pages show them: every command, every line. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it, vi } from 'vitest'
import { type Around, Place } from '../cli-gate/place.ts'
import { walkPage } from '../shown.ts'
import { asUser, ORDINARY_UID, TEST_USERS, type TestUser } from '../tree/users.ts'

vi.setConfig({ testTimeout: 180_000 })

const EXAMPLES = ['two-agents', 'phased']

beforeAll(() => {
  execFileSync(process.execPath, ['tools/build.mjs'])
}, 300_000)

/** The other one is walked below, in another home. */
it.each(EXAMPLES.slice(0, 1))('%s', (name) => {
  const place = new Place(name)
  try {
    execFileSync('rm', ['-r', join(place.project, '.git')])
    expect(walkPage(place, join('flows', name)).length).toBeGreaterThan(3)
  } finally {
    place.remove()
  }
})

/** The state lies inside the home then, and so inside what the overlays cover. */
class AtHome extends Place {
  override env(around: Around = {}): NodeJS.ProcessEnv {
    const { XDG_STATE_HOME: _state, ...rest } = super.env()
    return { ...rest, HOME: this.folder, ...around.env }
  }

  giveTo(user: TestUser): void {
    if (user === 'self') return
    this.copyProgram()
    execFileSync('chown', ['-R', `${ORDINARY_UID}:${ORDINARY_UID}`, this.folder])
  }
}

/** Each example once; the user and the example do not depend on each other. */
const cases = EXAMPLES.map((name, index) => [name, TEST_USERS[index] ?? 'self'] as const)

it.each(cases)('%s in a home with the default state directory, as %s', (name, user) => {
  const place = new AtHome(name)
  try {
    execFileSync('rm', ['-r', join(place.project, '.git')])
    const examples = join(place.folder, 'examples')
    cpSync(join(process.cwd(), 'examples', 'flows', name), examples, { recursive: true })
    place.giveTo(user)
    const shown = walkPage(place, join('flows', name), asUser(user), examples)
    expect(shown.length).toBeGreaterThan(3)
  } finally {
    place.remove()
  }
})

it('runs where the home lies outside the places for temporary files', () => {
  const outside = mkdtempSync(join(process.cwd(), 'node_modules', '.writ-home-'))
  const place = new AtHome('outside')
  try {
    const project = join(outside, 'project')
    cpSync(join(process.cwd(), 'examples', 'flows', 'two-agents'), project, { recursive: true })
    execFileSync('git', ['init', '-q', project])
    const around = { cwd: project, env: { HOME: outside } }
    expect(place.writ(['init', '--no-pass', '--name', 'ann'], around).status).toBe(0)
    const run = ['flow', 'run', 'plan.json', '--participants', 'participants.yaml']
    const { status, err } = place.writ(run, around)
    expect(status, err).toBe(0)
  } finally {
    place.remove()
    rmSync(outside, { recursive: true, force: true })
  }
})
