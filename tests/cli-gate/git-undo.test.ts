/** Acts of git can be undone also after a later `git status`, which rewrites the index. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Place } from './place.ts'

let place: Place

vi.setConfig({ testTimeout: 120_000 })

beforeEach(() => {
  place = new Place('git-undo', { runs: 'warm' }).init()
  git('init', '-q')
  git('config', 'user.name', 'ann')
  git('config', 'user.email', 'ann@example.org')
  place.write('.gitignore', '.writ\n')
  place.write('f', 'one\n')
  git('add', '.')
  git('commit', '-qm', 'first')
  const { status, err } = place.exec(['--yes'], 'echo two > f; git commit -qam second')
  expect([status, err]).toEqual([0, ''])
})

afterEach(() => place.remove())

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: place.project, env: place.env(), encoding: 'utf8' })
}

const index = (): Buffer => readFileSync(join(place.project, '.git', 'index'))

it('after `git status`, which writes the index again', () => {
  const promoted = index()
  git('status', '--short')
  expect(index().equals(promoted)).toBe(false)
  expect(place.writ(['undo', '--json'])).toMatchObject({ status: 0, json: { verified: true } })
  expect(place.text('f')).toBe('one\n')
  expect([git('log', '--format=%s').trim(), git('status', '--short')]).toEqual(['first', ''])
})

it('several at once, each from where the one after it leaves the index', () => {
  const { status } = place.exec(['--yes'], 'echo three > f; git commit -qam third')
  expect(status).toBe(0)
  git('status', '--short')
  expect(place.writ(['rollback', '--since', '1h', '--json'])).toMatchObject({ status: 0 })
  expect(place.text('f')).toBe('one\n')
  expect([git('log', '--format=%s').trim(), git('status', '--short')]).toEqual(['first', ''])
})

it('but not over what another process has put into the index', () => {
  place.write('g', 'new\n')
  git('add', 'g')
  const ended = place.writ(['undo', '--json'])
  expect([ended.status, ended.json.error.code]).toEqual([1, 'rollback.conflict'])
  expect(place.text('f')).toBe('two\n')
})
