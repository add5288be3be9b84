/** Questions that are over, or are asked twice, or that no yes given beforehand answers. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Around, type Json, Place } from './place.ts'

vi.setConfig({ testTimeout: 120_000 })

let place: Place

beforeAll(() => {
  place = new Place('questions', { runs: 'warm' }).init()
}, 180_000)

afterAll(() => place?.remove())

/** The process believes that so many minutes have passed. */
function later(minutes: number): Around {
  const clock = join(place.folder, `later-${minutes}.cjs`)
  writeFileSync(clock, `const now = Date.now; Date.now = () => now() + ${minutes * 60_000}\n`)
  return { env: { NODE_OPTIONS: `--require ${clock}` } }
}

function ask(script: string, around: Around = {}): Json {
  const ended = place.exec([], script, around)
  expect(ended.status, ended.err).toBe(75)
  return place.pending().at(-1)
}

describe('a question that is over', () => {
  it('says when it expired and what to do', () => {
    const { id, action_id, expires_at } = ask('echo x > expired')
    const week = later(8 * 24 * 60)
    for (const name of [id, action_id, action_id.slice(0, 13)]) {
      const { status, json } = place.writ(['approve', '--yes', name, '--json'], week)
      expect(status).toBe(1)
      expect(json.error.code).toBe('confirm.expired')
      expect(json.error.message).toContain(`expired at ${expires_at}`)
      expect(json.error.message).toContain('echo x > expired')
      expect(json.error.hint).toContain('run the command again')
    }
    expect(place.writ(['deny', id]).err).toContain('confirm.expired')
    expect(place.writ(['inbox', id]).err).toContain('confirm.expired')
    expect(place.has('expired')).toBe(false)
  })

  it('says who answered it', () => {
    const { id, action_id } = ask('echo x > answered')
    expect(place.writ(['approve', '--yes', id]).status).toBe(0)
    const { json } = place.writ(['approve', '--yes', id, '--json'])
    expect(json.error.code).toBe('confirm.used')
    expect(json.error.message).toContain('human:ann@local approved')
    expect(json.error.hint).toContain(`writ show ${action_id}`)
    const none = place.writ(['approve', '--yes', '123456789abc', '--json']).json.error
    expect(none.code).toBe('history.unknown')
    expect(none.hint).toContain('writ inbox')
  })
})

describe('the same command again', () => {
  it('supersedes the question that waits', () => {
    const older = ask('date +%N > twice')
    const newer = ask('date +%N > twice')
    expect(place.pending().map((one) => one.action_id)).toEqual([newer.action_id])
    const { status, json } = place.writ(['approve', '--yes', older.id, '--json'])
    expect(status).toBe(1)
    expect(json.error.code).toBe('confirm.superseded')
    expect(json.error.message).toContain(`superseded by ${newer.action_id}`)
    expect(json.error.hint).toContain(`writ approve ${newer.id}`)
    expect(place.writ(['log']).out).toContain('superseded')
    const shown = place.writ(['show', older.action_id]).out
    expect(shown).toContain(`superseded by ${newer.action_id.slice(0, 13)}`)
    const stages = readdirSync(join(place.folder, 'state/writ', homeId(), 'stage'))
    expect(stages.filter((name) => name.length === 36)).toHaveLength(1)
    expect(place.writ(['approve', '--yes', newer.id]).status).toBe(0)
    expect(place.writ(['approve', '--yes', older.id]).err).toContain(`writ show ${newer.action_id}`)
    expect(place.writ(['ledger', 'verify']).status).toBe(0)
    expect(place.writ(['replay', older.action_id]).status).toBe(0)
  })

  it('leaves questions of others, and of other commands', () => {
    const token = place.token('ai:coder@local')
    const script = 'rm -f kept; echo x > of-two'
    const own = ask(script)
    const agents = ask(script, { token })
    const other = ask('echo x > of-three')
    const ids = place.pending().map((one) => one.action_id)
    expect(ids).toEqual([own, agents, other].map((one) => one.action_id))
    for (const id of ids) expect(place.writ(['deny', id]).status).toBe(0)
  })

  it('does not take the place of a run that asks at the same time', async () => {
    const run = () =>
      place.start([
        'exec',
        '--yes',
        '--',
        'sh',
        '-c',
        'echo x > side-$(cat /proc/sys/kernel/random/uuid)',
      ])
    const ended = [run(), run(), run()].map(
      (child) => new Promise((resolve) => child.on('exit', resolve)),
    )
    expect(await Promise.all(ended)).toEqual([0, 0, 0])
  })

  it('tells a proposal that waits', async () => {
    const example = JSON.parse(place.writ(['propose', '--example', 'FILE_WRITE']).out)
    const propose = (id: string, more: readonly string[]) => {
      const document = structuredClone(example)
      document.descriptor.action_id = id
      document.descriptor.confirmation = { ...ASKED }
      const file = join(place.folder, `${id}.json`)
      writeFileSync(file, JSON.stringify(document))
      return ['propose', file, ...more]
    }
    const first = place.start(propose('11111111-1111-4111-8111-111111111111', ['--wait']))
    let out = ''
    first.stdout?.on('data', (chunk) => {
      out += chunk
    })
    await vi.waitFor(() => expect(place.pending()).toHaveLength(1), { timeout: 30_000 })
    const newer = '22222222-2222-4222-8222-222222222222'
    expect(place.writ(propose(newer, [])).status).toBe(3)
    await new Promise((resolve) => first.on('close', resolve))
    expect(out).toContain('superseded')
    expect(out).toContain(`writ show ${newer.slice(0, 13)}`)
  })
})

const ASKED = { required: true, reason: 'It writes a file.', cooldown_on_repeat: false }

describe('a command that was taken back', () => {
  it('is asked about again, and no yes given with a call answers it', () => {
    expect(place.exec(['--yes'], 'echo x > again').status).toBe(0)
    expect(place.writ(['undo']).status).toBe(0)
    const { id } = ask('echo x > again')
    for (const words of [[id, '--yes'], [id], ['--like', id, '--yes']]) {
      const { status, json } = place.writ(['approve', '--yes', ...words, '--json'])
      expect(status).toBe(1)
      expect(json.error.code).toBe('cooldown')
      expect(json.error.message).toContain('taken back a short time ago')
      expect(json.error.hint).toContain(`writ approve ${id}`)
    }
    expect(place.has('again')).toBe(false)
    const seen = place.person(['approve', id], [{ expect: 'show all] ' }, { send: 'y\n' }])
    expect(seen).toMatchObject({ failed: null, status: 0 })
    expect(place.has('again')).toBe(true)
  })
})

function homeId(): string {
  return place.text('.writ/id').trim()
}
