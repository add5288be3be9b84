/**
 * The lists: that they are well formed, and that what they promise is what they do.
 *
 * Patterns that were read are kept for the same list and the same homes, and for no others.
 */
import { describe, expect, it } from 'vitest'
import { parseGlob } from '../../contracts/index.ts'
import { PathSet, UNBOUNDED } from '../paths/path-set.ts'
import {
  absolutePatterns,
  compiledLists,
  DEFAULT_LISTS,
  ephemeralFault,
  knownAgent,
  listsDigest,
  listsText,
  placedPaths,
  readLists,
  sandboxEnvironment,
  withEphemeral,
} from './lists.ts'

const HOMES = ['/home/ann']

const patterns = [
  ...DEFAULT_LISTS.ephemeral,
  ...DEFAULT_LISTS.deferred.flatMap((row) => [...row.patterns, ...(row.except ?? [])]),
]

describe('the lists', () => {
  it.each(patterns)('%s is a glob', (pattern) => {
    for (const absolute of absolutePatterns([pattern], HOMES)) {
      expect(parseGlob(absolute)).not.toBe(null)
    }
    expect(ephemeralFault(pattern)).toBe(null)
  })

  it('name nothing twice', () => {
    for (const list of [DEFAULT_LISTS.ephemeral, DEFAULT_LISTS.hidden, DEFAULT_LISTS.agents]) {
      expect(new Set(list).size).toBe(list.length)
    }
  })

  it('keep no place that a user would miss among the ephemeral ones', () => {
    const dropped = new PathSet(absolutePatterns(DEFAULT_LISTS.ephemeral, HOMES), UNBOUNDED)
    for (const path of [
      '/home/ann',
      '/home/ann/.ssh/id',
      '/w/src/a.ts',
      '/w/.git/index',
      '/w/dist/a',
    ]) {
      expect(dropped.find(path), path).toBe(null)
    }
  })

  it('hide keys and tokens', () => {
    const hidden = placedPaths(DEFAULT_LISTS.hidden, HOMES, '/w')
    for (const path of ['/home/ann/.ssh', '/home/ann/.aws', '/etc/shadow']) {
      expect(hidden).toContain(path)
    }
    expect(hidden.some((path) => /\*(?!$)/.test(path) || path.includes('~'))).toBe(false)
  })

  it('are identified by a digest that any change changes', () => {
    const digest = listsDigest(DEFAULT_LISTS)
    expect(listsDigest(withEphemeral(DEFAULT_LISTS, []))).toBe(digest)
    expect(listsDigest(withEphemeral(DEFAULT_LISTS, ['**/.turbo/**']))).not.toBe(digest)
    expect(readLists(listsText(DEFAULT_LISTS))).toEqual(DEFAULT_LISTS)
  })

  it.each([
    ['**/.turbo/**', null],
    ['~/.x/**', null],
    ['/var/x/*', null],
    ['build/**', 'form'],
    ['a**b', 'form'],
    ['/**', 'too_wide'],
    ['~/**', 'too_wide'],
    ['**/*', 'too_wide'],
  ])('an added place %s is judged', (pattern, fault) => {
    expect(ephemeralFault(pattern)).toBe(fault)
  })
})

describe('the environment of a rehearsal', () => {
  it('hands on names of the list and nothing else', () => {
    const environment = sandboxEnvironment(DEFAULT_LISTS, {
      PATH: '/bin',
      LC_ALL: 'C',
      AWS_SECRET_ACCESS_KEY: 'x',
      GITHUB_TOKEN: 'x',
      SSH_AUTH_SOCK: '/run/x',
      DBUS_SESSION_BUS_ADDRESS: 'x',
      LD_PRELOAD: 'x',
      WRIT_TOKEN: 'x',
      TZ: undefined,
    })
    expect(environment['PATH']).toBe('/bin')
    expect(environment['LC_ALL']).toBe('C')
    for (const name of ['AWS_SECRET_ACCESS_KEY', 'GITHUB_TOKEN', 'SSH_AUTH_SOCK', 'LD_PRELOAD']) {
      expect(environment).not.toHaveProperty(name)
    }
    expect(environment).not.toHaveProperty('WRIT_TOKEN')
    expect(environment).not.toHaveProperty('TZ')
  })

  it('keeps programs quiet', () => {
    const environment = sandboxEnvironment(DEFAULT_LISTS, { GIT_OPTIONAL_LOCKS: '1' })
    expect(environment).toMatchObject({
      GIT_OPTIONAL_LOCKS: '0',
      PYTHONDONTWRITEBYTECODE: '1',
      NO_UPDATE_NOTIFIER: '1',
      GIT_CONFIG_KEY_0: 'gc.autoDetach',
      GIT_CONFIG_VALUE_0: 'false',
    })
    const count = Number(environment['GIT_CONFIG_COUNT'])
    expect(environment).toHaveProperty(`GIT_CONFIG_KEY_${count - 1}`)
    expect(environment).not.toHaveProperty(`GIT_CONFIG_KEY_${count}`)
  })
})

describe('known agents', () => {
  it.each([
    [['bash', 'claude'], 'claude'],
    [['node', 'codex.js'], 'codex'],
    [['Cursor.AppImage'], 'cursor'],
    [['bash', 'sshd', 'systemd'], null],
    [['claudette'], null],
    [[], null],
  ])('%j', (names, agent) => {
    expect(knownAgent(DEFAULT_LISTS, names)).toBe(agent)
  })
})

const more = withEphemeral(DEFAULT_LISTS, ['**/thrown-away/**'])

const finds = (lists: typeof more, homes: readonly string[], path: string): boolean =>
  compiledLists(lists, homes).ephemeral.find(path) !== null

it('is read once', () => {
  const first = compiledLists(DEFAULT_LISTS, ['/home/ann'])
  expect(compiledLists(DEFAULT_LISTS, ['/home/ann'])).toBe(first)
})

it('another list is another one', () => {
  expect(finds(DEFAULT_LISTS, ['/home/ann'], '/w/thrown-away/x')).toBe(false)
  expect(finds(more, ['/home/ann'], '/w/thrown-away/x')).toBe(true)
})

it('other homes are others', () => {
  expect(finds(DEFAULT_LISTS, ['/home/ann'], '/home/ann/.cache/x')).toBe(true)
  expect(finds(DEFAULT_LISTS, ['/home/bob'], '/home/ann/.cache/x')).toBe(false)
  expect(finds(DEFAULT_LISTS, ['/home/bob'], '/home/bob/.cache/x')).toBe(true)
})
