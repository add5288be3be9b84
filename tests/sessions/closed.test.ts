/** Directories that a session of an ordinary user closes to itself: refused, and in the way of nothing. */
import { spawnSync } from 'node:child_process'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Ended } from '../cli-gate/place.ts'
import { asUser, ORDINARY_UID, TEST_USERS } from '../tree/users.ts'
import { SessionPlace } from './session-place.ts'

const through = asUser(TEST_USERS.at(-1) ?? 'self')
const MODES = ['0', '200', '400', '100', '300']

let place: SessionPlace
beforeEach(() => {
  place = new SessionPlace('closed')
  place.commit({ 'src/a.txt': 'one\n', 'b.txt': 'two\n' })
  place.copyProgram()
  if (through.length > 0) {
    spawnSync('chown', ['-R', `${ORDINARY_UID}:${ORDINARY_UID}`, place.folder])
    spawnSync('chmod', ['755', place.folder])
  }
  expect(writ('init', '--name', 'ann', '--no-pass').status).toBe(0)
}, 120_000)
afterEach(() => {
  spawnSync('chmod', ['-R', 'u+rwX', place.project])
  place.remove()
})

const writ = (...words: readonly string[]): Ended => place.writ(words, { through })

/** What a run says and leaves pending, and the last name of each path. */
function pendingAfter(...words: readonly string[]): readonly string[] {
  const { status, err } = writ('run', ...words)
  expect(status, err).toBe(0)
  const { json } = writ('session', 'show', '--json')
  return json.pending.map(({ path, why }: Record<string, string>) =>
    `${path} ${why}`.slice(place.project.length + 1),
  )
}

describe('a directory without the right of its owner', { timeout: 120_000 }, () => {
  it('is refused as an effect, and the session goes on', () => {
    const make = MODES.map((mode) => `mkdir m${mode}; echo x > m${mode}/f; chmod ${mode} m${mode}`)
    const script = ['echo n > n', 'echo c > src/a.txt', 'chmod 0 src', ...make].join('; ')
    const closed = MODES.flatMap((mode) => [`m${mode} refused`, `m${mode}/f refused`])
    const all = [...closed, 'src refused', 'src/a.txt refused'].sort()
    expect([...pendingAfter('--', 'sh', '-c', script)].sort()).toEqual(all)
    expect([place.has('n'), place.has('m0'), place.text('src/a.txt')]).toEqual([
      true,
      false,
      'one\n',
    ])
    const [{ session_id: id }] = writ('session', 'list', '--json').json.sessions
    expect(writ('session', 'settle').out).toContain('nothing new to settle')
    expect(writ('session', 'diff').out).toContain('mode 0000')
    // A mode that lets the owner in makes it a change like any other.
    const mend = 'chmod 755 m0 src; echo more > more'
    expect(pendingAfter('--resume', id, '--', 'sh', '-c', mend)).toHaveLength(closed.length - 2)
    expect([place.text('m0/f'), place.text('src/a.txt'), place.has('more')]).toEqual([
      'x\n',
      'c\n',
      true,
    ])
    expect(writ('session', 'discard', id, '--all').status).toBe(0)
    expect(writ('session', 'list', '--json').json.sessions).toEqual([])
    expect(writ('undo').status).toBe(0)
    expect([place.has('m0'), place.text('src/a.txt')]).toEqual([false, 'one\n'])
  })

  it('that is there already stops no session that opens it', () => {
    spawnSync(
      through[0] ?? 'env',
      [...through.slice(1), 'sh', '-c', 'mkdir c; echo p > c/p; chmod 0 c'],
      { cwd: place.project },
    )
    const script = 'chmod 755 c; echo n > n; echo x > c/f; echo y > c/p'
    expect(pendingAfter('--', 'sh', '-c', script)).not.toHaveLength(0)
    expect(place.has('n')).toBe(true)
    expect(writ('session', 'settle').status).toBe(0)
    const [{ session_id: id }] = writ('session', 'list', '--json').json.sessions
    expect(writ('session', 'discard', id, '--all').status).toBe(0)
    spawnSync('chmod', ['755', 'c'], { cwd: place.project })
    expect([place.text('c/p'), place.has('c/f')]).toEqual(['p\n', false])
  })
})
