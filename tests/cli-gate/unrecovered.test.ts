/**
 * While an interrupted promotion waits for a choice, other acts are refused. What was refused is never
 * carried out: not by the recovery, and not by a later command.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dying } from './dying.ts'
import { type Json, Place } from './place.ts'

const FILES = [...Array(10).keys()].map((each) => `f${each}`)
const SCRIPT = `for i in ${FILES.join(' ')}; do echo new > $i; done`

let place: Place
beforeEach(() => {
  place = new Place('unrecovered', { runs: 'warm' }).init()
  place.write('important', 'keep\n')
})
afterEach(() => place.remove())

function facts(type: string): Json[] {
  const { facts: found } = place.writ(['log', '--type', type, '--json']).json
  return found.map((fact: Json) => fact.record.payload)
}

/** Kills a promotion when five of its ten files are in place. */
function interrupt(): void {
  const env = dying('linkSync /stage/[^/]+/u5$')
  expect(place.exec(['--yes'], SCRIPT, { env }).status).toBe(null)
  expect(inPlace()).toHaveLength(5)
}

function inPlace(): readonly string[] {
  return FILES.filter((name) => place.has(name))
}

/** Another program writes a file that the promotion has not put in place; the command's id and path. */
function conflict(): { readonly id: string; readonly path: string } {
  const path = place.write(FILES.find((name) => !place.has(name)) ?? '', 'foreign\n')
  const { waiting } = place.writ(['recover', '--json']).json
  expect(waiting).toMatchObject([{ paths: [path] }])
  return { id: waiting[0].id, path }
}

describe('an act that is refused while a recovery waits for a choice', () => {
  it.each([
    ['revert', ['exec', '--yes', '--', 'rm', 'important']],
    ['finish', ['exec', '--yes', '--', 'rm', 'important']],
    ['revert', ['exec', '--write', '.', '--delete', '.', '--', 'rm', 'important']],
  ])(
    'is not carried out by recover --%s, nor later',
    (direction, argv) => {
      interrupt()
      const { id, path } = conflict()
      const before = facts('proposal_v1').length
      const refused = place.writ(argv)
      expect([refused.status, refused.err]).toEqual([
        125,
        expect.stringContaining('`writ recover`'),
      ])
      expect(facts('proposal_v1')).toHaveLength(before)
      const ended = place.writ(['recover', id, `--${direction}`, '--keep', path])
      expect(ended.status, ended.err).toBe(0)
      expect(ended.out).not.toContain('carried out now')
      const isBack = direction === 'revert'
      const count = isBack
        ? '5 paths put back as before'
        : '9 paths put in place, 1 path as you chose'
      expect(ended.out).toContain(`${count}; no other act was touched`)
      expect(inPlace()).toHaveLength(isBack ? 1 : 10)
      for (const command of [['recover'], ['inbox'], ['exec', '--', 'true']]) place.writ(command)
      expect(place.text('important')).toBe('keep\n')
    },
    120_000,
  )

  it('waits on in the inbox where its question was open before', () => {
    expect(place.exec([], 'rm important').status).toBe(75)
    const [question] = place.pending()
    interrupt()
    const { id, path } = conflict()
    expect(place.writ(['approve', question.id, '--yes']).status).toBe(1)
    expect(facts('confirmation_v1')).toHaveLength(1)
    expect(place.writ(['recover', id.slice(0, 13), '--revert', '--keep', path]).status).toBe(0)
    expect(place.text('important')).toBe('keep\n')
    expect(place.pending()).toHaveLength(1)
    expect(place.writ(['approve', question.id, '--yes']).status).toBe(0)
    expect(place.has('important')).toBe(false)
  }, 120_000)
})

describe('a promotion whose process died with half of its files in place', () => {
  it('is marked by log and show, and recover says what it completed', () => {
    interrupt()
    const listed = place.writ(['log'])
    expect(listed.out).toMatch(/ interrupted /)
    expect(listed.err).toContain('`writ recover` ends it')
    const [{ action_id }] = facts('decision_v1')
    expect(place.writ(['show', action_id]).out).toMatch(/^Act \S+ {2}interrupted\n/)
    const { out } = place.writ(['recover'])
    expect(out).toMatch(/^promoted {2}\S+: sh -c 'for i in .*': approved before, interrupted, and/)
    expect(out).toContain('carried out now: 10 paths; `writ rollback')
    expect(inPlace()).toHaveLength(10)
    const after = place.writ(['log'])
    expect([after.out, after.err]).toEqual([expect.stringMatching(/ promoted /), ''])
    expect(place.writ(['recover']).out).toMatch(/^nothing to recover/)
  }, 120_000)

  it('is in the JSON of recover with its command and counts', () => {
    interrupt()
    const { waiting, finished } = place.writ(['recover', '--json']).json
    expect(waiting).toEqual([])
    expect(finished).toMatchObject([{ promoted: true, approved: true, code: null, paths: 10 }])
    expect(finished[0].command).toMatch(/^sh -c 'for i/)
  }, 120_000)
})

describe('an undo whose process died with half of its files restored', () => {
  it('is completed by recover, which says so', () => {
    expect(place.exec(['--yes'], SCRIPT).status).toBe(0)
    const env = dying('renameSync /f5$')
    expect(place.writ(['undo'], { env }).status).toBe(null)
    expect(place.writ(['log']).err).toContain('`writ recover` ends it')
    expect(place.writ(['recover']).out).toMatch(/its undo was interrupted and is complete now: 10/)
    expect(inPlace()).toEqual([])
  }, 120_000)
})
