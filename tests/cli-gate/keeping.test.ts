/** `du`, `gc` and `home remove`: what is shown, what goes, and what never does. */
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { type Json, Place } from './place.ts'

vi.setConfig({ testTimeout: 120_000 })

const WORDS = 'correct horse battery staple'
const STAGE = '11111111-1111-4111-8111-111111111111'
const HOUR_S = 60 * 60
let place: Place

afterEach(() => place?.remove())

function root(): string {
  return join(place.folder, 'state/writ')
}

function state(): string {
  return join(root(), place.text('.writ/id').trim())
}

function stages(): readonly string[] {
  return readdirSync(join(state(), 'stage')).filter((name) => name.length === 36)
}

function ask(): void {
  expect(place.exec([], 'head -c 2000000 /dev/zero > asked').status).toBe(75)
}

function act(): void {
  place.write('done')
  expect(place.exec(['--write', 'done'], 'echo changed > done').status).toBe(0)
}

/** A stage without a question, last touched so many hours ago. */
function abandon(hours: number, name = STAGE): string {
  const stage = join(state(), 'stage', name)
  mkdirSync(stage, { recursive: true })
  writeFileSync(join(stage, 'file'), 'x')
  const then = Date.now() / 1000 - hours * HOUR_S
  utimesSync(stage, then, then)
  return stage
}

it('shows what takes how much, and removes nothing', () => {
  place = new Place('du', { runs: 'warm' }).init()
  ask()
  act()
  abandon(3)
  const before = stages()
  const { status, json } = place.writ(['du', '--json'])
  expect(status).toBe(0)
  expect(json.parts.questions).toBeGreaterThan(2_000_000)
  for (const part of ['ledger', 'bodies', 'undo', 'caches']) {
    expect(json.parts[part], part).toBeGreaterThan(0)
  }
  const [question] = place.pending()
  expect(json.questions).toMatchObject([{ id: question.id, expires_at: question.expires_at }])
  expect(json.questions[0].bytes).toBeGreaterThan(2_000_000)
  expect(json.undo).toHaveLength(1)
  expect(json.unneeded.map(({ kind }: Json) => kind)).toContain('stage')
  const sum = Object.values<number>(json.parts).reduce((one, other) => one + other, 0)
  expect(json.total_bytes).toBe(sum)
  const { out } = place.writ(['du'])
  for (const word of [question.id, 'kept for undo', 'writ gc']) expect(out).toContain(word)
  expect(stages()).toEqual(before)
})

it('removes leftovers and keeps what a question, an undo or a rehearsal needs', () => {
  place = new Place('gc', { runs: 'warm' }).init()
  ask()
  act()
  const old = abandon(3)
  const young = abandon(0, '22222222-2222-4222-8222-222222222222')
  const draft = join(root(), `${STAGE}.4194303.tmp`)
  const living = join(root(), `${STAGE}.${process.pid}.tmp`)
  for (const folder of [draft, living]) mkdirSync(folder)
  // Older than any sweep waits for, and still the stage of a question.
  const [asked = ''] = stages().filter((name) => !old.endsWith(name) && !young.endsWith(name))
  utimesSync(join(state(), 'stage', asked), 1, 1)
  const dry = place.writ(['gc', '--dry-run', '--json']).json
  expect(dry.removed.map(({ path }: Json) => path)).toEqual(expect.arrayContaining([old, draft]))
  expect(existsSync(old)).toBe(true)
  const { json, err } = place.writ(['gc', '--json'])
  expect(json, err).not.toBe(null)
  expect(json.bytes).toBeGreaterThan(0)
  expect([old, draft].filter((path) => existsSync(path))).toEqual([])
  expect([young, living].filter((path) => !existsSync(path))).toEqual([])
  const [{ id }] = place.pending()
  expect(place.writ(['approve', '--yes', id]).status).toBe(0)
  expect(place.has('asked')).toBe(true)
  expect(place.writ(['undo']).status).toBe(0)
  expect(place.writ(['undo']).status).toBe(0)
  expect(place.text('done')).toBe('done\n')
})

it('removes the stage of an expired question, and records that it expired', () => {
  place = new Place('gc-expired', { runs: 'warm' }).init()
  place.write('.writ/laws.yaml', 'settings: { question_ttl: 1m }\nlaws: []\n')
  expect(place.writ(['laws', 'accept', '--yes']).status).toBe(0)
  ask()
  const clock = join(place.folder, 'later.cjs')
  writeFileSync(clock, 'const now = Date.now; Date.now = () => now() + 600_000\n')
  const later = { env: { NODE_OPTIONS: `--require ${clock}` } }
  const dry = place.writ(['gc', '--dry-run', '--json'], later)
  expect(dry.json.removed.some(({ kind }: Json) => kind === 'stage')).toBe(true)
  expect(stages()).toHaveLength(1)
  expect(place.writ(['gc'], later).status).toBe(0)
  expect(stages()).toEqual([])
  const [{ record }] = place.writ(['log', '--type', 'confirmation_v1', '--json']).json.facts
  expect(record.payload.answer).toBe('EXPIRED')
})

it('removes a home after showing the loss, with a bundle, and leaves the workspace', () => {
  place = new Place('home-remove', { runs: 'warm' }).init()
  ask()
  act()
  const [kept, folder] = [state(), join(place.folder, 'bundle')]
  const refused = place.writ(['home', 'remove'])
  expect(refused.status).toBe(2)
  expect(refused.err).toContain('--yes')
  expect(existsSync(kept)).toBe(true)
  const { status, err, json } = place.writ([
    'home',
    'remove',
    '--yes',
    '--export',
    folder,
    '--json',
  ])
  expect(status, err).toBe(0)
  expect(json.lost).toMatchObject({ undoable: 1, questions: 1 })
  expect(err).toContain('1 action that can still be undone')
  expect(readdirSync(folder)).toEqual(['host', 'main'])
  expect(existsSync(kept)).toBe(false)
  expect(place.has('.writ/laws.yaml')).toBe(true)
  expect(place.text('done')).toBe('changed\n')
  expect(place.writ(['home', 'list', '--json']).json.homes).toEqual([])
  expect(place.writ(['log']).err).toContain('home.untrusted')
  place.init()
})

it('asks a person at the terminal, and a no removes nothing', () => {
  place = new Place('home-no', { runs: 'warm' }).init()
  const seen = place.person(['home', 'remove'], [{ expect: 'Remove it?' }, { send: 'n\n' }])
  expect(seen.failed).toBe(null)
  expect(seen.status).toBe(1)
  expect(seen.output).toContain('nothing was removed')
  expect(existsSync(state())).toBe(true)
})

it('needs the passphrase, refuses agents, and works where the workspace is gone', () => {
  place = new Place('home-gone', { runs: 'warm' }).init(WORDS)
  const id = place.text('.writ/id').trim()
  expect(place.writ(['home', 'remove', '--yes']).err).toContain('credential.required')
  const around = { passphrase: WORDS }
  place.writ(['principal', 'add', 'ai:bot@local', '--pass-fd', '3'], around)
  const made = ['token', 'create', 'ai:bot@local', '--json', '--pass-fd', '3']
  const { token } = place.writ(made, around).json
  expect(place.writ(['home', 'remove', '--yes'], { token }).err).toContain('principal.not_human')
  rmSync(place.project, { recursive: true })
  const cwd = place.folder
  const [home] = place.writ(['home', 'list', '--json'], { cwd }).json.homes
  expect(home).toMatchObject({ id, has_state: true, has_workspace: false })
  const words = ['home', 'remove', id, '--yes', '--pass-fd', '3']
  const { status, err } = place.writ(words, { cwd, passphrase: WORDS })
  expect(status, err).toBe(0)
  expect(readdirSync(root())).toEqual(['homes.json'])
})
