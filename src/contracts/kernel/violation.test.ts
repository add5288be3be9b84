/** Reports: complete, ordered, without repeats, and bounded. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareCodePoints } from '../../base/index.ts'
import { Report } from './violation.ts'

describe('Report', () => {
  it('is valid while nothing was added', () => {
    const report = new Report()
    expect(report.isEmpty).toBe(true)
    expect(report.finish()).toEqual({ valid: true, violations: [] })
  })

  it('lists by path in code-point order, then by code', () => {
    const report = new Report()
    report.add('task.required', '/\u{1f600}', 'm')
    report.add('task.required', '/\ufffd', 'm')
    report.add('task.required', '/b', 'm')
    report.add('task.forbid_key', '/b', 'm')
    report.add('task.required', '/a/9', 'm')
    report.add('task.required', '/a/10', 'm')
    report.add('task.required', '', 'm')
    expect(report.finish().violations.map(({ path, code }) => `${path} ${code}`)).toEqual([
      ' task.required',
      '/a/10 task.required',
      '/a/9 task.required',
      '/b task.forbid_key',
      '/b task.required',
      '/\ufffd task.required',
      '/\u{1f600} task.required',
    ])
  })

  it('does not depend on the order of telling, and tells a thing once', () => {
    const row = fc.tuple(
      fc.constantFrom('task.required', 'task.bounds', 'task.forbid_key'),
      fc.constantFrom('', '/a', '/a/b', '/b', '/\ufffd', '/😀'),
    )
    fc.assert(
      fc.property(fc.array(row), (rows) => {
        const lists = [rows, rows.toReversed()].map((order) => {
          const report = new Report()
          for (const [code, path] of order) report.add(code as 'task.required', path, 'm')
          return report.finish().violations
        })
        expect(lists[0]).toEqual(lists[1])
        const keys = (lists[0] ?? []).map(({ code, path }) => `${path}\n${code}`)
        expect(new Set(keys).size).toBe(keys.length)
        expect(new Set(keys)).toEqual(new Set(rows.map(([code, path]) => `${path}\n${code}`)))
        expect(keys).toEqual([...keys].sort(compareCodePoints))
      }),
    )
  })

  it('has a hint only where there is one', () => {
    const report = new Report()
    report.add('task.required', '/a', 'm', null)
    report.add('task.required', '/b', 'm', 'h')
    expect(report.finish().violations).toEqual([
      { code: 'task.required', path: '/a', message: 'm' },
      { code: 'task.required', path: '/b', message: 'm', hint: 'h' },
    ])
  })
})

describe('bounded answers', () => {
  it('stops listing when the paths have grown absurd, and stays invalid', () => {
    const report = new Report()
    const long = `/${'k'.repeat(40_000_000)}`
    report.add('task.required', long, 'm')
    for (let index = 0; index < 100; index++) report.add('task.bounds', `${long}/${index}`, 'm')
    expect(report.finish()).toMatchObject({ valid: false, violations: [{ code: 'task.required' }] })
  })

  it('lists a hundred thousand violations of ordinary length', () => {
    const report = new Report()
    for (let index = 0; index < 100_000; index++) {
      report.add('task.forbid_key', `/meta/some/where/deep/${index}/priority`, 'm')
    }
    expect(report.finish().violations.length).toBe(100_000)
  })

  it('guesses, until enough names were looked at', () => {
    const report = new Report()
    expect(report.guess('isuer', ['issuer', 'target'])).toBe('did you mean `issuer`?')
    expect(report.guess('isuer', [])).toBeNull()
    const many = Array.from({ length: 20_000 }, (_, index) => `n${index}`)
    expect(report.guess('isuer', [...many, 'issuer'])).toBeNull()
    expect(report.guess('isuer', ['issuer'])).toBeNull()
  })
})
