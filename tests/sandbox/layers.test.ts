/** Roots of every kind: odd names, nested ones, mounts below, other owners, layers on a disk. */
import { execFileSync } from 'node:child_process'
import { chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { drive, driveOne, place, TEST_UID, WHO } from './drive.ts'

/** Paths that mean something to a shell, to mount or to the kernel's options. */
const ODD_NAMES = [
  'a b',
  'a,b:c',
  "quote'",
  'double"',
  'back\\slash',
  'new\nline',
  '-dash',
  'ü€',
  '$HOME',
  '#x',
]

describe.each(WHO)('layers of %s', (as) => {
  const claim = (path: string): void => {
    if (as === 'user') chownSync(path, TEST_UID, TEST_UID)
  }

  it('odd names of roots and hidden places stand for themselves', async () => {
    const top = place(as)
    const roots = ODD_NAMES.map((name) => join(top, name))
    for (const root of roots) {
      mkdirSync(root)
      writeFileSync(join(root, 'secret'), 'S', { mode: 0o644 })
      claim(root)
    }
    const [first = ''] = roots
    const script = 'for d in "$@"; do echo in > "$d/made"; cat "$d/secret"; done'
    const { runs, failure } = await drive({
      as,
      root: first,
      request: { scopeRoots: roots, hidden: roots.map((root) => join(root, 'secret')) },
      scripts: [['/bin/sh', '-c', script, 'sh', ...roots]],
    })
    expect(failure).toBe(null)
    expect(runs[0]?.stderr).toBe('')
    expect(runs[0]?.stdout).toBe('')
    expect(runs[0]?.uppers.map(({ entries }) => entries)).toEqual(roots.map(() => ['made']))
    for (const root of roots) expect(readdirSync(root)).toEqual(['secret'])
  })

  it('odd words of a command and its environment stand for themselves', async () => {
    const root = place(as)
    const words = [...ODD_NAMES, '', ' ', '*', '`id`', '!', '\\n', '%s', '\t']
    const script = 'printf "[%s]" "$@" "$ODD"'
    const { runs } = await drive({
      as,
      root,
      env: {
        ODD: words.join('\n'),
        PATH: '/usr/bin:/bin',
        'not-a-name': 'x',
        'BASH_FUNC_x%%': '() { :; }',
      },
      scripts: [['/bin/sh', '-c', script, 'sh', ...words], ['/usr/bin/env'], ['echo', '-n', 'x']],
    })
    const text = Buffer.from(runs[0]?.stdout ?? '', 'latin1').toString()
    expect(text).toBe([...words, words.join('\n')].map((word) => `[${word}]`).join(''))
    expect(runs[1]?.stdout).toContain('not-a-name=x\n')
    expect(runs[2]?.stdout).toBe('x')
  })

  it('a root inside another shares its layer', async () => {
    const outer = place(as)
    const inner = join(outer, 'a/b')
    mkdirSync(inner, { recursive: true })
    claim(join(outer, 'a'))
    claim(inner)
    const { ready, runs } = await drive({
      as,
      root: inner,
      request: { watchedRoots: [outer, inner, '/nowhere/at/all'] },
      scripts: ['echo x > f; echo y > ../g'],
    })
    expect(ready?.layers.map(({ root }) => root)).toEqual([outer])
    expect(runs[0]?.uppers[0]?.entries).toEqual(['a', 'a/b', 'a/b/f', 'a/g'])
  })

  it('a home and scopes anywhere work: /tmp, /var/tmp, /dev/shm, the real home', async () => {
    for (const parent of [
      '/tmp',
      '/var/tmp',
      '/dev/shm',
      as === 'root' ? homedir() : '/home/writ-test',
    ]) {
      const root = place(as, parent)
      writeFileSync(join(root, 'f'), 'real')
      const { stdout, uppers, outcome } = await driveOne(
        { as, root, request: { watchedRoots: [as === 'root' ? homedir() : '/home/writ-test'] } },
        'cat f; echo changed > g',
      )
      expect([parent, stdout, outcome.exitCode]).toEqual([parent, 'real', 0])
      expect(uppers.some(({ entries }) => entries.some((entry) => entry.endsWith('g')))).toBe(true)
      expect(readdirSync(root)).toEqual(['f'])
    }
  })

  it('the root itself keeps its mode and owner', async () => {
    const root = place(as)
    const { stdout } = await driveOne({ as, root }, 'stat -c "%a %u" .')
    expect(stdout).toBe(`755 ${as === 'root' ? 0 : TEST_UID}\n`)
  })

  it('large layers lie on the disk that was named', async () => {
    const root = place(as)
    const disk = place(as, '/var/tmp')
    const { ready, runs } = await drive({
      as,
      root,
      caps: { diskMb: 1000 },
      disks: [disk],
      scripts: ['echo x > f; mkdir -m 000 locked; rm -rf /tmp/x; echo t > /tmp/t; ls -A /tmp'],
      request: { watchedRoots: [] },
    })
    expect(ready?.layers[0]).toMatchObject({ upperDevice: statSync(disk).dev })
    expect(ready?.layers[0]?.upper.startsWith(disk)).toBe(true)
    expect(runs[0]?.uppers[0]?.entries).toEqual(['f', 'locked'])
    // Everything is gone afterwards, also directories that no user may enter.
    expect(readdirSync(disk)).toEqual([])
  })

  it('a scope root that is no directory is refused', async () => {
    const root = join(place(as), 'none')
    const { failure, runs } = await drive({ as, root, scripts: ['true'] })
    expect(failure).toMatchObject({ code: 'sandbox.root', at: root })
    expect(runs).toEqual([])
  })

  it('a working directory that cannot be entered is refused', async () => {
    const root = place(as)
    const { failure } = await drive({ as, root, cwd: join(root, 'none'), scripts: ['true'] })
    expect(failure).toMatchObject({ code: 'sandbox.cwd' })
  })
})

describe('mounts below a root', () => {
  /** Root may mount; the mount is seen by this one process only. */
  const mounting = (at: string): readonly string[] => [
    ...['unshare', '-m', 'sh', '-c'],
    'mount -t tmpfs x "$0" && echo mounted > "$0/f" && exec "$@"',
    at,
  ]

  it('a scope root with one is refused', async () => {
    const root = place('root')
    mkdirSync(join(root, 'a/mnt'), { recursive: true })
    const wrapper = mounting(join(root, 'a/mnt'))
    const { failure } = await drive({ as: 'root', root, wrapper, scripts: ['true'] })
    expect(failure).toMatchObject({ code: 'sandbox.scope_mount', at: root })
  })

  it('a watched root is covered around it, and what is not covered is said', async () => {
    const home = place('root')
    for (const name of ['a/mnt', 'b', 'project']) mkdirSync(join(home, name), { recursive: true })
    writeFileSync(join(home, 'file'), 'x')
    const { ready, runs } = await drive({
      as: 'root',
      root: join(home, 'project'),
      request: { watchedRoots: [home] },
      wrapper: mounting(join(home, 'a/mnt')),
      scripts: [
        'echo 1 > made; echo 2 > ../b/made; cat ../a/mnt/f; ' +
          '(echo 3 > ../top) 2>/dev/null || echo refused; (echo 4 > ../a/mnt/x) 2>/dev/null || echo refused',
      ],
    })
    expect(ready?.layers.map(({ root }) => root)).toEqual([join(home, 'b'), join(home, 'project')])
    expect(runs[0]?.stdout).toBe('mounted\nrefused\nrefused\n')
    expect(ready?.controls.find(({ name }) => name === 'read_only')?.detail).toBe(
      [home, join(home, 'a'), join(home, 'a/mnt')].join(' '),
    )
  })
})

describe('other owners', () => {
  it('a foreign scope root is reported beforehand', async () => {
    const root = place('root')
    const { failure } = await drive({ as: 'user', root, scripts: ['true'] })
    expect(failure).toMatchObject({ code: 'sandbox.unmapped_owner', at: root })
    expect(failure?.message).toContain(`\`${root}\` belongs to user 0`)
  })

  it('root works on files of others with the full map', async () => {
    const root = place('root')
    writeFileSync(join(root, 'theirs'), 'theirs', { mode: 0o600 })
    chownSync(join(root, 'theirs'), TEST_UID, TEST_UID)
    const { runs, ready } = await drive({
      as: 'root',
      root,
      request: { allOwners: true },
      scripts: [
        'cat theirs; echo more >> theirs; stat -c %u theirs; touch mine; chown 1778 mine; stat -c %u mine; ' +
          'mount -t tmpfs x /tmp 2>/dev/null && echo mounted; mknod node b 1 1 2>/dev/null && echo node; ' +
          '(: >> /proc/sys/kernel/core_pattern) 2>/dev/null && echo wrote; cat /etc/shadow; ' +
          'unshare -U true 2>/dev/null && echo userns; grep CapEff /proc/self/status',
      ],
    })
    expect(ready?.controls[0]).toEqual({ name: 'user_namespace', profile: 'full_map' })
    expect(runs[0]?.stdout).toBe(`theirs${TEST_UID}\n1778\nCapEff:\t00000000000000db\n`)
    expect(runs[0]?.uppers[0]?.entries).toEqual(['mine', 'theirs'])
    expect(readFileSync(join(root, 'theirs'), 'utf8')).toBe('theirs')
  })
})

describe('attributes of overlays', () => {
  it.each(WHO)('on a scope root of %s are refused', async (as) => {
    const root = place(as)
    execFileSync('setfattr', ['-n', 'user.overlay.opaque', '-v', 'y', root])
    const { failure } = await drive({ as, root, scripts: ['true'] })
    expect(failure).toMatchObject({ code: 'sandbox.overlay_attributes', at: root })
  })
})

describe('places that come and go', () => {
  it('do not keep a sandbox from being opened, and stay hidden', async () => {
    const root = place('root')
    const file = join(root, 'flickers')
    // As long as the opener lives, whose number the shell had before it.
    const flicker = 'while kill -0 $$; do echo SECRET > "$0"; rm "$0"; done'
    const wrapper = ['sh', '-c', `(${flicker}) >/dev/null 2>&1 & exec "$@"`, file]
    for (let round = 0; round < 3; round++) {
      const { failure, runs } = await drive({
        as: 'root',
        root,
        wrapper,
        request: { hidden: [file] },
        scripts: ['true'],
      })
      expect(failure).toBe(null)
      expect(runs[0]?.outcome.exitCode).toBe(0)
    }
  })
})
