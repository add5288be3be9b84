/** What `getfattr` prints is read back byte for byte, and sorted into kept, foreign and none of ours. */
import { describe, expect, it } from 'vitest'
import type { RawPath } from '../gate/index.ts'
import { listUnder, parseAttributes } from './attributes.ts'

function parse(text: string, layer: 'upper' | 'real' = 'upper') {
  return Object.fromEntries(parseAttributes(text, layer))
}

describe('parsing', () => {
  it('undoes the quoting of paths, names and values', () => {
    const text = '# file: /d\\012\\134x\xff\nuser.a\\075b=0x3D0a\nuser.none=0x\nuser.bare\n\n'
    expect(parse(text)).toEqual({
      '/d\n\\x\xff': {
        kept: [
          ['user.a=b', '3d0a'],
          ['user.bare', ''],
          ['user.none', ''],
        ],
        foreign: [],
      },
    })
  })

  it('keeps one block for each path', () => {
    const found = parse('# file: /a\nuser.x=0x31\n\n# file: /b\nuser.x=0x32\n\n')
    expect(Object.keys(found)).toEqual(['/a', '/b'])
    expect(found['/b' as RawPath]?.kept).toEqual([['user.x', '32']])
  })
})

describe('sorting', () => {
  it.each([
    ['user.x', 'upper', 'kept'],
    ['system.posix_acl_access', 'upper', 'kept'],
    ['system.posix_acl_default', 'real', 'kept'],
    ['security.capability', 'upper', 'kept'],
    ['security.selinux', 'upper', 'none'],
    ['security.other', 'upper', 'foreign'],
    ['trusted.x', 'real', 'foreign'],
    ['user.overlay.opaque', 'upper', 'none'],
    ['trusted.overlay.opaque', 'upper', 'none'],
    ['user.overlay.opaque', 'real', 'foreign'],
    ['user.overlay.overlay.opaque', 'upper', 'foreign'],
  ] as const)('%s in %s is %s', (name, layer, want) => {
    const found = parse(`# file: /a\n${name}=0x00\n\n`, layer)['/a' as RawPath]
    expect(found?.kept.length).toBe(want === 'kept' ? 1 : 0)
    expect(found?.foreign).toEqual(want === 'foreign' ? [name] : [])
  })
})

it('takes what a list grants the owner from the mode', () => {
  const rest = 'ffffffff04000400ffffffff10000400ffffffff20000000ffffffff'
  const list = listUnder(0o240, ['system.posix_acl_access', `0200000001000700${rest}`])
  expect(list).toEqual(['system.posix_acl_access', `0200000001000200${rest}`])
  expect(listUnder(0o240, ['user.x', `0200000001000700${rest}`])[1]).toContain('01000700')
})
