/** Reports of an agent's hooks. */
import { describe, expect, it } from 'vitest'
import { ToolReports } from './tool-reports.ts'

const EDIT = { tool: 'Write', kind: 'edit', call: 'c1', paths: ['a.txt'], arguments: { x: 1 } }

describe('reports', () => {
  it('declares the file of an edit tool only while no other call runs', () => {
    const reports = new ToolReports('/w')
    expect(reports.take({ ...EDIT, boundary: 'before' })).toEqual({ kind: 'begun' })
    expect(reports.isOpen).toBe(true)
    const alone = reports.take({ ...EDIT, boundary: 'after' })
    expect(alone).toMatchObject({ kind: 'ended', tool: { name: 'Write', paths: ['/w/a.txt'] } })
    expect(reports.isOpen).toBe(false)
    reports.take({ ...EDIT, boundary: 'before' })
    reports.take({ boundary: 'before', tool: 'Bash', kind: 'shell', call: 'c2' })
    const other = reports.take({ ...EDIT, boundary: 'after' })
    expect(other).toMatchObject({ kind: 'ended', tool: { name: 'Write', call_id: 'c1' } })
    expect(other).not.toHaveProperty('tool.paths')
  })

  it('ends all calls when the agent stops', () => {
    const reports = new ToolReports('/w')
    reports.take({ ...EDIT, boundary: 'before' })
    expect(reports.take({ boundary: 'stop' })).toEqual({ kind: 'ended', tool: undefined })
    expect(reports.isOpen).toBe(false)
  })

  it('refuses what is no report, and ignores fields of other types', () => {
    const reports = new ToolReports('/w')
    expect(() => reports.take('x')).toThrow('no object')
    expect(() => reports.take({ boundary: 'never' })).toThrow('no boundary')
    const odd = { boundary: 'after', tool: 'T', paths: [1, ''], call: 7, model: {}, kind: 'x' }
    expect(reports.take(odd)).toMatchObject({ kind: 'ended', tool: { name: 'T' } })
  })
})
