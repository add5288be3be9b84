/** Hidden places that are links, and writ's own state reached through one, from inside a run. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { TEST_UID, userWrapper } from '../sandbox/drive.ts'
import { type Around, Place } from './place.ts'

// Each test is several processes, and each of them a sandbox.
vi.setConfig({ testTimeout: 120_000 })

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

describe('places that the laws name', () => {
  const accept = (place: Place, settings: string): void => {
    writeFileSync(join(place.project, '.writ', 'laws.yaml'), `laws: []\nsettings:\n  ${settings}\n`)
    const { status, err } = place.writ(['laws', 'accept', '--yes'])
    expect(status, err).toBe(0)
  }

  function made(name: string): Place {
    const place = new Place(name).init()
    places.push(place)
    place.write('secrets/a', 'SECRET\n')
    place.write('notes', 'SECRET\n')
    for (const path of [join(place.home, 'clients/x/a'), join(place.home, 'far/a')]) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, 'SECRET\n')
    }
    return place
  }

  it('are hidden: relative to the workspace, to the home, and absolute', () => {
    const place = made('laws-hidden')
    const far = join(place.home, 'far')
    const script = `cat secrets/a notes ~/clients/x/a ${far}/a`
    expect(place.exec([], script).out).toBe('SECRET\n'.repeat(4))
    accept(place, `hidden: [secrets, notes, ~/clients, ${far}]`)
    const { out, err } = place.exec([], script)
    expect(out).toBe('')
    for (const name of [join(place.project, 'secrets'), '~/clients', far]) {
      const where = name.replace(place.home, '~')
      expect(err).toContain(
        `${where} is hidden from runs, which find it empty; \`settings.hidden\``,
      )
    }
  })

  it('are shown where the built-in list hides them, and the rest stays hidden', () => {
    const place = made('laws-shown')
    mkdirSync(join(place.home, '.ssh'))
    for (const name of ['config', 'id_rsa']) {
      writeFileSync(join(place.home, '.ssh', name), `${name}\n`)
    }
    const script = 'cat ~/.ssh/config ~/.ssh/id_rsa'
    const before = place.exec([], script)
    expect(before.out).toBe('')
    expect(before.err).toMatch(
      /writ exec: ~\/\.ssh is hidden from runs.*add it to `settings\.shown`.*`writ laws accept`/,
    )
    accept(place, 'shown: [~/.ssh/config]')
    const { out, err } = place.exec([], script)
    expect(out).toBe('config\n')
    expect(err).toContain('~/.ssh/id_rsa is hidden from runs')
    expect(err).not.toContain('~/.ssh/config is hidden')
  })

  it('are refused in words where they are no paths', () => {
    const place = made('laws-bad')
    const file = place.write('bad.yaml', 'laws: []\nsettings:\n  hidden: [../x]\n')
    const { status, out } = place.writ(['laws', 'check', file])
    expect(status).toBe(1)
    expect(out).toContain('`"../x"` is not a path that can be hidden')
    expect(out).toContain('`secrets` (in the workspace)')
  })
})
