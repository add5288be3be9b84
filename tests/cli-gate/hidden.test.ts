/** Hidden places that are links, and writ's own state reached through one, from inside a run. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { TEST_UID, userWrapper } from '../sandbox/drive.ts'
import { type Around, Place } from './place.ts'

// Each test is several processes, and each of them a sandbox.
vi.setConfig({ testTimeout: 120_000 })

beforeAll(() => execFileSync(process.execPath, ['tools/build.mjs']), 180_000)

const places: Place[] = []
afterAll(() => {
  for (const place of places) place.remove()
})

describe.each(['root', 'user'])('as %s', (who) => {
  it('nothing behind a link is read', () => {
    const place = new Place(`hidden-${who}`)
    places.push(place)
    const make = (name: string): void => {
      mkdirSync(dirname(join(place.home, name)), { recursive: true })
      writeFileSync(join(place.home, name), 'SECRET\n')
    }
    for (const name of ['d/ssh/id_rsa', 'd/netrc', 'd/gh/hosts.yml', 'd/history']) make(name)
    mkdirSync(join(place.home, '.config'))
    mkdirSync(join(place.home, 'far'))
    mkdirSync(join(place.home, '.local'))
    symlinkSync('d/ssh', join(place.home, '.ssh'))
    symlinkSync('d/netrc', join(place.home, '.netrc'))
    symlinkSync('../d/gh', join(place.home, '.config', 'gh'))
    symlinkSync('d/history', join(place.home, '.bash_history'))
    symlinkSync('../far', join(place.home, '.local', 'state'))
    const env = { XDG_STATE_HOME: join(place.home, '.local', 'state') }
    let around: Around = { env }
    if (who === 'user') {
      place.copyProgram()
      around = { env, through: userWrapper('user').slice(0, -2) }
      chmodSync(place.folder, 0o755)
      execFileSync('chown', ['-hR', `${TEST_UID}:${TEST_UID}`, place.folder])
    }
    const { status, err } = place.writ(['init', '--no-pass', '--name', 'ann'], around)
    expect(status, err).toBe(0)
    const files = '~/d/ssh/* ~/d/netrc ~/d/gh/* ~/d/history ~/.ssh/* ~/.netrc'
    const script = `cat ${files}; find ~/far/writ ~/.local/state/writ/ -type f | wc -l`
    const seen = place.exec([], `{ ${script}; } 2>/dev/null`, around)
    expect(seen.out).toBe('0\n')
  })
})
