/** The document under repair. */
import { describe, expect, it } from 'vitest'
import { Items, ObjectDraft, Repairs } from './draft.ts'

function draftOf(source: Record<string, unknown>): ObjectDraft {
  return new ObjectDraft(Object.freeze(source), '', new Repairs())
}

describe('Draft', () => {
  it('is the source itself until something changes, and a copy after that', () => {
    const source = { a: 1 }
    const draft = draftOf(source)
    draft.set('a', 1, 'rule')
    expect(draft.object).toBe(source)
    draft.set('a', 2, 'rule')
    expect(draft.object).toEqual({ a: 2 })
    expect(source).toEqual({ a: 1 })
    expect(draft.repairs.list).toEqual([{ path: '/a', from: 1, to: 2, rule: 'rule' }])
  })

  it('writes null for what was not there', () => {
    const draft = draftOf({})
    draft.set('a/b', 2, 'rule')
    expect(draft.repairs.list).toEqual([{ path: '/a~1b', from: null, to: 2, rule: 'rule' }])
  })

  it('reads the first alias that has a value, and leaves the others', () => {
    const draft = draftOf({ x: null, y: 1, z: 2 })
    expect(draft.rename('a', ['x', 'y', 'z'], 'rule')).toBe('y')
    expect(draft.object).toEqual({ a: 1, x: null, z: 2 })
    expect(draft.rename('a', ['z'], 'rule')).toBeNull()
    expect(draft.repairs.list).toEqual([{ path: '/y', from: 'y', to: 'a', rule: 'rule' }])
  })

  it('sees own keys only, and keeps those with famous names', () => {
    const draft = draftOf(JSON.parse('{"__proto__":{"a":1}}'))
    expect(draft.get('a')).toBeUndefined()
    expect(draft.get('toString')).toBeUndefined()
    expect(draft.has('constructor')).toBe(false)
    draft.set('b', 1, 'rule')
    expect(Object.keys(draft.object)).toEqual(['__proto__', 'b'])
  })
})

describe('Items', () => {
  it('gives every repair the place its item has at that time', () => {
    const list = [1, { id: 'a' }, { id: 'b' }, null, { id: 'c' }]
    const document = draftOf({ list })
    const items = new Items(document, 'list', list)
    items.filter((item) => item.get('id') !== 'a', 'gone')
    items.append({ id: 'd' }, 'added')
    items.drafts[1]?.set('id', 'C', 'rule')
    items.close()
    expect(document.object).toEqual({ list: [{ id: 'b' }, { id: 'C' }, { id: 'd' }] })
    expect(document.repairs.list.map(({ rule, path }) => `${rule} ${path}`)).toEqual([
      'plan.item_dropped /list/0',
      'plan.item_dropped /list/2',
      'gone /list/0',
      'added /list/2',
      'rule /list/1/id',
    ])
  })

  it('leaves a list alone that did not change', () => {
    const list = [{ id: 'a' }]
    const document = draftOf({ list })
    const items = new Items(document, 'list', list)
    items.filter(() => true, 'gone')
    items.close()
    expect(document.object['list']).toBe(list)
  })
})
