/** Which change of a question is opened first, how paths are named, and what is said of "always" and npm. */
import { describe, expect, it } from 'vitest'
import {
  changedScripts,
  firstOpened,
  grantedPlace,
  inOrder,
  named,
  type QuestionChange,
  type WholeQuestion,
  whyNoAlways,
} from './question.ts'

function change(path: string, more: Partial<QuestionChange> = {}): QuestionChange {
  return { path, change: 'deleted', kind: 'file', deferred: false, ...more }
}

describe('the change that is opened first', () => {
  const folder = change('/w/notes', { kind: 'directory' })
  const file = change('/w/notes/ideas.txt')

  it('is the one that runs by itself later, although deletions are listed before it', () => {
    const hook = change('/w/package.json', { change: 'modified', deferred: true })
    expect(firstOpened(inOrder([folder, file, hook]))).toBe(hook.path)
  })

  it('is else the first that has a text', () => {
    expect(firstOpened(inOrder([folder, file]))).toBe(file.path)
    expect(firstOpened([folder])).toBeNull()
  })
})

it('a directory is named with a slash', () => {
  expect(named(change('/w/notes', { kind: 'directory' }), '/w/')).toBe('notes/')
  expect(named(change('/w/a.txt'), '/w/')).toBe('a.txt')
})

/** Only what the functions read. */
function question(more: object): WholeQuestion {
  const asked_by = { agent: 'writer', session: 'one' }
  return {
    always: null,
    approvals: null,
    asked_by,
    changes: [],
    ...more,
  } as unknown as WholeQuestion
}

describe('the place of a grant by always', () => {
  const place = (glob: string, ...paths: string[]): string | null =>
    grantedPlace(question({ always: { glob }, changes: paths.map((path) => change(path)) }))

  it('is a whole path', () => {
    expect(place('hours.txt', '/w/hours.txt')).toBe('/w/hours.txt')
    expect(place('docs/*', '/w/docs/a.txt', '/w/docs/b.txt')).toBe('/w/docs/')
    expect(place('docs/**', '/w/docs/a.txt', '/w/docs/b/c.txt')).toBe('/w/docs/')
  })

  it('is not guessed where names repeat', () => {
    expect(place('docs/*', '/docs/w/docs/a.txt')).toBeNull()
    expect(place('docs/*', '/w/docs/a.txt', '/w/b/docs/a.txt')).toBeNull()
    expect(place('a/*', '/a/a/x')).toBeNull()
    expect(place('hours.txt', '/w/hours.txt', '/w/b/hours.txt')).toBeNull()
  })
})

it('a question says why "always" is no answer', () => {
  const hook = change('/w/package.json', { change: 'modified', deferred: true })
  expect(whyNoAlways(question({ always: { glob: 'a' } }))).toBeNull()
  expect(whyNoAlways(question({ approvals: { needed: 2 } }))).toBe('not_several')
  expect(whyNoAlways(question({ asked_by: { agent: null, session: null } }))).toBe('not_agent')
  expect(whyNoAlways(question({ changes: [hook, change('/w/a')] }))).toBe('not_deleted')
  expect(whyNoAlways(question({ changes: [hook] }))).toBe('not_later')
  expect(whyNoAlways(question({}))).toBe('not')
})

it('scripts of a manifest are named if they changed, those of an installation first', () => {
  const manifest = (scripts: object): string => JSON.stringify({ scripts })
  const after = manifest({ start: 'b', test: 't', postinstall: 'node update.js' })
  expect(changedScripts(manifest({ start: 'a', test: 't' }), after)).toEqual([
    { script: 'postinstall', isInstall: true },
    { script: 'start', isInstall: false },
  ])
  expect(changedScripts(null, '{"scripts": ')).toEqual([])
})
