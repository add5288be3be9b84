/** Which change of a question is opened first, and how its path is named. */
import { describe, expect, it } from 'vitest'
import { firstOpened, inOrder, named, type QuestionChange } from './question.ts'

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
