/** Programs that writ starts outside a sandbox are the machine's own; the caller's PATH does not matter. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { TEST_UID, userWrapper } from '../sandbox/drive.ts'
import { Place } from './place.ts'

/** What writ starts today, and what it might. */
const NAMES = ['perl', 'flock', 'sh', 'xargs', 'mv', 'stty', 'cp', 'getfattr', 'setfattr', 'touch']
const MORE = [
  'git',
  'sync',
  'mknod',
  'mkfifo',
  'strace',
  'script',
  'bwrap',
  'unshare',
  'mount',
  'ls',
]

// Each test is several processes, and each of them a sandbox.
vi.setConfig({ testTimeout: 120_000 })

const places: Place[] = []
afterAll(() => {
  for (const place of places) place.remove()
})

describe.each(['root', 'user'])('as %s', (who) => {
  let place: Place
  let around: { readonly through?: readonly string[] } = {}

  beforeAll(() => {
    place = new Place(`programs-${who}`)
    places.push(place)
    if (who === 'user') {
      place.copyProgram()
      around = { through: userWrapper('user').slice(0, -2) }
      chmodSync(place.folder, 0o755)
      execFileSync('chown', ['-R', `${TEST_UID}:${TEST_UID}`, place.folder])
    }
    const { status, err } = place.writ(['init', '--no-pass', '--name', 'ann'], around)
    expect(status, err).toBe(0)
  }, 60_000)

  /** Plants programs that say where they ran, in a namespace that the test can compare. */
  function plant(folder: string): string {
    const log = join(place.folder, 'ran')
    rmSync(log, { force: true })
    mkdirSync(folder, { recursive: true })
    for (const name of [...NAMES, ...MORE]) {
      const text = `#!/bin/bash -p\necho "$0 $(/usr/bin/readlink /proc/self/ns/mnt)" >>${log}\nexit 1\n`
      writeFileSync(join(folder, name), text, { mode: 0o755 })
    }
    if (who === 'user') execFileSync('chown', ['-R', `${TEST_UID}:${TEST_UID}`, folder])
    return log
  }

  it.each([
    [
      'the directory that npx puts first',
      (own: Place) => join(own.project, 'node_modules', '.bin'),
    ],
    ['a relative entry', () => 'node_modules/.bin'],
  ])('none of them is found by %s', (_, entry) => {
    const log = plant(join(place.project, 'node_modules', '.bin'))
    const env = { PATH: `${entry(place)}:${process.env['PATH']}` }
    // Another text for each entry: an act that was taken back waits before it may come again.
    const script = `echo ${entry(place)} >a; /bin/mkdir -p d; echo y >d/b`
    const made = place.writ(['exec', '--write', '.', '--', '/bin/sh', '-c', script], {
      ...around,
      env,
    })
    expect(made.err).toBe('')
    expect(made.status).toBe(0)
    expect(place.writ(['undo', '--json'], { ...around, env })).toMatchObject({ status: 0 })
    expect(existsSync(log) ? readFileSync(log, 'utf8') : '').toBe('')
  })

  it('a program that a run puts into a relative directory of the PATH is asked about', () => {
    const env = { PATH: `.:${process.env['PATH']}` }
    const script = 'printf "#!/bin/sh\\n" >perl; chmod +x perl'
    const asked = place.writ(['exec', '--write', '.', '--', '/bin/sh', '-c', script], {
      ...around,
      env,
    })
    expect(asked.err).toContain('effect.deferred_execution')
    expect(place.has('perl')).toBe(false)
  })
})
