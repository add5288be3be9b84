/** Where a proposal reaches, and where that really is. */
import { describe, expect, it } from 'vitest'
import type { Proposal, RootFacts } from '../../contracts/index.ts'
import { actionIdsOf, leavesOf, literalPart, pathsToResolve, RealPaths } from './places.ts'

function proposal(id: string, children?: readonly Proposal[]): Proposal {
  // Only what is read of it.
  const one = {
    descriptor: {
      action_id: id,
      scope: { filesystem: { paths: ['/w', '/v/*/src'] } },
      effects: { filesystem: { create: ['/w/a/b'], modify: [], delete: ['/w/l/*.log'] } },
      preconditions: { paths_exist: ['/w/p'] },
    },
    ...(children === undefined
      ? {
          operation: {
            type: 'FILE_MOVE',
            from: '/w/f',
            to: '/w/t/f',
            compensation: { type: 'FILE_READ', path: '/w/c' },
          },
        }
      : { children }),
  }
  return one as unknown as Proposal
}

describe('parts of a proposal', () => {
  const tree = proposal('A', [proposal('B'), proposal('C', [proposal('D')])])

  it('leaves run in order, each with its place', () => {
    expect(leavesOf(tree).map(({ place }) => place)).toEqual([
      '/children/0',
      '/children/1/children/0',
    ])
    expect(leavesOf(proposal('A'))).toHaveLength(1)
  })

  it('every id counts', () => {
    expect(actionIdsOf(tree)).toEqual(['a', 'b', 'c', 'd'])
  })
})

describe('paths to resolve', () => {
  it('roots without wildcards, and the directories of everything else', () => {
    expect(pathsToResolve(proposal('A'))).toEqual({
      roots: ['/v', '/w'],
      others: ['/w/a', '/w/c', '/w/f', '/w/l', '/w/p', '/w/t', '/w/t/f'],
    })
  })

  it.each([
    ['/w/a', '/w/a'],
    ['/w/a/*.log', '/w/a'],
    ['/w/a*/b', '/w'],
    ['/*', '/'],
    ['/**', '/'],
  ])('the literal part of %s is %s', (glob, part) => {
    expect(literalPart(glob)).toBe(part)
  })
})

describe('real paths', () => {
  const root = { declared: '/w', real: '/data/w' } as RootFacts
  const real = new RealPaths({
    roots: [root],
    real_paths: [
      { declared: '/w/link', real: '/data/w/dir' },
      { declared: '/top', real: '/' },
    ],
  })

  it.each([
    ['/w/a', '/data/w/a'],
    ['/w/*.log', '/data/w/*.log'],
    ['/w/**', '/data/w/**'],
    ['/w/link/a', '/data/w/dir/a'],
    ['/w/link/*', '/data/w/dir/*'],
    ['/w/link', '/data/w/link'],
    ['/w2/a', '/w2/a'],
    ['/x', '/x'],
    ['/top/etc', '/etc'],
  ])('%s speaks of %s', (glob, wanted) => {
    expect(real.translate(glob)).toBe(wanted)
  })

  it('follows the last name where it is asked to', () => {
    expect(real.follow('/w/link')).toBe('/data/w/dir')
    expect(real.follow('/w')).toBe('/data/w')
  })
})
