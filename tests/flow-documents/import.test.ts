/** Tables of edges read as flows, and written back as they were. */
import { describe, expect, it } from 'vitest'
import { checkDocument } from '../../src/contracts/index.ts'
import { checkFlow, classCounts, exportTable, importTable } from '../../src/flow/index.ts'
import { ORIGINAL_COUNTS, originalTable } from './table.ts'

const OPTIONS = { flowId: 'table', title: 'A table' }
const read = (text: string, side?: unknown) => importTable(text, side, OPTIONS)
describe('a table of the original’s size', () => {
  const text = originalTable()

  it('is read whole, is a flow, and has nothing that refuses it', () => {
    const { flow, findings } = read(text)
    if (flow === null) throw new Error('not read')
    expect(findings).toEqual([])
    expect(flow.edges).toHaveLength(146)
    expect(classCounts(flow.edges)).toEqual(ORIGINAL_COUNTS)
    expect(checkDocument(flow)).toMatchObject({ valid: true, contract: 'flow_v1' })
    const { violations } = checkFlow(flow)
    expect(violations).toEqual([])
  })

  it.each(['\r\n', '\n', '\r'])('is written back to the byte (%j)', (newline) => {
    const original = originalTable(newline)
    const { flow } = read(original)
    expect(flow === null ? '' : exportTable(flow)).toBe(original)
  })
})
