/** What counts as a difference between two outputs, and what does not. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { deltaOf } from './delta.ts'

function text(before: string, after: string, format = 'md') {
  return deltaOf({ format, content: before }, { format, content: after })
}

describe('differences', () => {
  it.each([
    ['the order of lines', 'a\nb', 'b\na'],
    ['blank lines and line ends', 'a\nb', 'a\r\n\r\n\n b '],
    ['runs of white space', 'a  b', 'a\tb'],
    ['characters that show nothing', 'same', 'sa\u00adme\u200b\u200b'],
  ])('are not %s', (_, before, after) => {
    expect(text(before, after)).toEqual({ by: 'lines', isEqual: true, added: 0, removed: 0 })
  })

  it('of characters that show nothing counted by earlier rules', () => {
    const [before, after] = ['same', 'same\u200b'].map((content) => ({ format: 'md', content }))
    if (before !== undefined && after !== undefined)
      expect(deltaOf(before, after, 4).isEqual).toBe(false)
  })

  it('are counted by lines, each as often as it occurs', () => {
    expect(text('a\na\nb', 'a\nc')).toEqual({ by: 'lines', isEqual: false, added: 1, removed: 2 })
  })

  it('of JSON are those of its canonical form, and of broken JSON those of its bytes', () => {
    expect(text('{"a":1,"b":[]}', '{ "b": [], "a": 1.0 }', 'json').isEqual).toBe(true)
    expect(text('[1,2]', '[2,1]', 'json').isEqual).toBe(false)
    expect(text('{', '{ ', 'json')).toMatchObject({ by: 'bytes', isEqual: false })
  })

  it('of anything else, and between kinds, are those of the bytes', () => {
    expect(text('a\nb', 'b\na', 'pdf')).toMatchObject({ by: 'bytes', isEqual: false })
    expect(deltaOf({ format: 'md', content: '1' }, { format: 'json', content: '1' })).toMatchObject(
      {
        by: 'bytes',
        isEqual: true,
      },
    )
  })

  it('are none between a text and itself, shuffled', () => {
    const lines = fc.array(fc.stringMatching(/^[a-c ]{0,4}$/), { maxLength: 12 })
    fc.assert(
      fc.property(lines, lines, (one, other) => {
        expect(text(one.join('\n'), one.toReversed().join('\n')).isEqual).toBe(true)
        const { added, removed } = text(one.join('\n'), other.join('\n'))
        const back = text(other.join('\n'), one.join('\n'))
        expect([back.added, back.removed]).toEqual([removed, added])
      }),
    )
  })
})
