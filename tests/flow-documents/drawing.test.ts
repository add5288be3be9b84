/** Drawings: nothing a flow says becomes a part of the drawing, and the same flow has the same bytes. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EDGE_CLASSES, type Flow } from '../../src/contracts/index.ts'
import { cutText, widthOf, wrapText } from '../../src/flow/drawing/drawing.ts'
import { GROUNDS, LINES } from '../../src/flow/drawing/theme.ts'
import { drawingOf, importTable, toDot, toMermaid, toSvg } from '../../src/flow/index.ts'
import { runs } from '../arbitrary/runs.ts'
import { originalTable } from './table.ts'

function flowOf(titles: readonly string[], labels: readonly string[]): Flow {
  const nodes = titles.map((title, index) => ({
    node_id: `n${index}${title}`,
    kind: (['WORK', 'CHECK', 'GOAL'] as const)[index % 3] ?? 'WORK',
    title,
    phase_id: 'P',
    actor: 'a',
    max_attempts: 1,
  }))
  const edges = labels.map((label, index) => ({
    edge_id: `e${index}${label}`,
    source: nodes[index % nodes.length]?.node_id ?? '',
    target: nodes[(index + 1) % nodes.length]?.node_id ?? '',
    class: EDGE_CLASSES[index % EDGE_CLASSES.length] ?? 'Meta',
    label,
    guard_expr: label === '' ? 'true' : label,
  }))
  return { type: 'flow_v1', flow_id: 'f', title: titles[0] ?? '', nodes, edges }
}

const HOSTILE = [
  '"]; click n0 "javascript:alert(1)" %%',
  '</text><script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '"] -> evil [label="',
  '\\"] evil \\N \\G',
  '`x` #quot; &amp; end subgraph',
  '|"x"| --> y',
  'a\nb\r\n---\ntitle: x',
  '\u202egnp.exe\u200b\u0000',
  '标签：阶段 7A，“完成”',
  "' onload='x",
]
const hostile = fc.oneof(fc.constantFrom(...HOSTILE), fc.string({ unit: 'binary' }), fc.string())
const flows = fc
  .tuple(fc.array(hostile, { minLength: 2, maxLength: 6 }), fc.array(hostile, { maxLength: 10 }))
  .map(([titles, labels]) => flowOf(titles, labels))

describe('SVG', () => {
  /** Elements and attributes that our drawings have; any other one came from outside. */
  const ELEMENT = /^(?:svg|style|title|defs|marker|path|rect|circle|text|g)$/
  const ATTRIBUTE =
    /^(?:xmlns|viewBox|width|height|role|aria-label|font-family|font-size|font-weight|id|refX|refY|markerWidth|markerHeight|markerUnits|orient|d|fill|class|x|y|cx|cy|r|transform|stroke|stroke-width|stroke-dasharray|marker-end|text-anchor)$/

  function inspect(svg: string): readonly string[] {
    const strange: string[] = []
    const open: string[] = []
    for (const [, close, name = '', attributes = '', self] of svg.matchAll(
      /<(\/?)([^\s>/]+)((?:\s+[^\s=>]+="[^"<]*")*)\s*(\/?)>/g,
    )) {
      if (!ELEMENT.test(name)) strange.push(name)
      for (const [, key = ''] of attributes.matchAll(/\s+([^\s=]+)="[^"]*"/g))
        if (!ATTRIBUTE.test(key)) strange.push(key)
      if (close === '/') {
        if (open.pop() !== name) strange.push(`/${name}`)
      } else if (self !== '/') open.push(name)
    }
    const texts = svg.replace(/<(?:\/?)[^\s>/]+(?:\s+[^\s=>]+="[^"<]*")*\s*\/?>/g, '')
    if (/[<>]/.test(texts)) strange.push('a bare bracket')
    if (/&(?!#\d+;)/.test(svg)) strange.push('a bare ampersand')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not occur in XML
    if (/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(svg) || !svg.isWellFormed())
      strange.push('no XML')
    return [...strange, ...open]
  }

  it('is well-formed and holds nothing but what we draw', async () => {
    await fc.assert(
      fc.asyncProperty(flows, async (flow) => {
        const problems = [
          { level: 'error' as const, code: 'x', path: '/nodes/0', message: HOSTILE[1] ?? '' },
        ]
        const svg = await toSvg(drawingOf(flow, { at: [flow.nodes[0]?.node_id ?? ''], problems }))
        expect(inspect(svg)).toEqual([])
        expect(svg).not.toContain('<script')
      }),
      { numRuns: runs(60) },
    )
  })

  it('is the same to the byte, also of a large table, and marks place and findings', async () => {
    const { flow } = importTable(originalTable(), undefined, { flowId: 't', title: '表' })
    if (flow === null) throw new Error('not read')
    const options = {
      at: ['P3_阶段'],
      captions: new Map([['P3_阶段', 'running, 2 attempts']]),
      problems: [
        {
          level: 'warning' as const,
          code: 'flow.dead_end',
          path: '/nodes/2/node_id',
          message: 'm',
        },
        { level: 'error' as const, code: 'flow.cycle', path: '/edges/0', message: 'm' },
        { level: 'error' as const, code: 'flow.required', path: '/title', message: 'm' },
      ],
    }
    const [one, other] = await Promise.all([
      toSvg(drawingOf(flow, options)),
      toSvg(drawingOf(flow, options)),
    ])
    expect(one).toBe(other)
    expect(inspect(one)).toEqual([])
    expect(
      one.match(/<path class="(?:Progress|Gate|Decision|Exception|Loop|Rollback|Sync|Meta)"/g),
    ).toHaveLength(146)
    expect(one.match(/class="here"/g)).toHaveLength(1)
    expect(one.match(/<g class="error">/g)).toHaveLength(1)
    expect(one.match(/<g class="warning">/g)).toHaveLength(1)
    for (const text of ['running, 2 attempts', 'flow.required /title: m', 'the run is here'])
      expect(one).toContain(text)
  })

  it('draws what is too large for a fine layout too', async () => {
    const titles = Array.from({ length: 3_000 }, (_, index) => `n${index}`)
    const svg = await toSvg(drawingOf(flowOf(titles, titles)))
    expect(svg.match(/<g class="(?:WORK|CHECK|GOAL)">/g)).toHaveLength(3_000)
    expect(svg).not.toContain('NaN')
  })
})

describe('Mermaid and DOT', () => {
  it('every line of Mermaid is one of ours', () => {
    const line =
      /^(?:---|title: ".*"|flowchart TD| {2}n\d+(?:\["|\{\{"|\(\[")[^"`<>;[\]{}|&]*(?:#\d+;[^"`<>;[\]{}|&]*|<br\/>[^"`<>;[\]{}|&]*)*"(?:\]|\}\}|\]\))| {2}n\d+ -->\|"[^"`<>[\]{}|&]*"\| n\d+| {2}subgraph legend\["Legend"\]| {4}direction LR| {4}k\d\[" "\] -->\|"\w+"\| l\d\["[\w ,]+"\]| {2}end| {2}linkStyle [\d,]+ stroke:#\w+,stroke-width:[\d.]+px(?:,stroke-dasharray:[\d ]+)?| {2}classDef \w+ [\w:#,-]+(?: 2)?| {2}class [n\d,]+ \w+)$/
    fc.assert(
      fc.property(flows, (flow) => {
        const text = toMermaid(drawingOf(flow, { at: [flow.nodes[1]?.node_id ?? ''] }))
        const strange = text
          .trimEnd()
          .split('\n')
          .filter((one) => !line.test(one))
        expect(strange).toEqual([])
      }),
    )
  })

  it('every string of DOT ends where we end it', () => {
    fc.assert(
      fc.property(flows, (flow) => {
        const text = toDot(drawingOf(flow, { at: [flow.nodes[1]?.node_id ?? ''] }))
        const bare = text.replace(/"(?:[^"\\]|\\["\\n])*"/g, 'S')
        const line =
          /^(?:digraph flow \{| {2}(?:graph|node|edge) \[[\w=, ]+\]| {2}n\d+ \[[\w=, ]+\]| {2}n\d+ -> n\d+ \[[\w=, .]+\]| {2}subgraph cluster_legend \{| {4}label=S| {4}[kl]\d (?:-> l\d )?\[[\w=, .]+\]| {2}\}|\})$/
        expect(
          bare
            .trimEnd()
            .split('\n')
            .filter((one) => !line.test(one)),
        ).toEqual([])
      }),
    )
  })

  it('show the place, the findings and a legend', () => {
    const flow = flowOf(['甲', '乙'], ['x', 'y', 'z'])
    const problems = [
      { level: 'error' as const, code: 'flow.cycle', path: '/edges/0', message: 'closes' },
    ]
    const drawing = drawingOf(flow, { at: [flow.nodes[1]?.node_id ?? ''], problems })
    expect(toMermaid(drawing)).toContain('n1{{"▶ 乙')
    expect(toMermaid(drawing)).toContain('-->|"✖ e0x x"|')
    expect(toDot(drawing)).toContain('penwidth=4')
    expect(toDot(drawing)).toContain('flow.cycle: closes')
    expect(toDot(drawing)).toContain('cluster_legend')
  })
})

describe('the look', () => {
  const light = (hex: string): number => {
    const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
      const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255
      return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const contrast = (one: string, other: string): number => {
    const [high = 0, low = 0] = [light(one), light(other)].sort((a, b) => b - a)
    return (high + 0.05) / (low + 0.05)
  }

  it('every class is visible on light and dark, and no two have the same line', () => {
    for (const { colour } of Object.values(LINES)) {
      expect(contrast(colour, GROUNDS.light)).toBeGreaterThan(3)
      expect(contrast(colour, GROUNDS.dark)).toBeGreaterThan(3)
    }
    const lines = Object.values(LINES).map(({ dashes, width }) => `${dashes} ${width}`)
    expect(new Set(lines).size).toBe(8)
    expect(new Set(Object.values(LINES).map(({ colour }) => colour)).size).toBe(8)
  })
})

describe('texts', () => {
  it('Chinese is twice as wide, marks have no width', () => {
    expect([
      widthOf('abc'),
      widthOf('阶段'),
      widthOf('é'),
      widthOf('e\u0301'),
      widthOf('，'),
    ]).toEqual([3, 4, 1, 1, 2])
  })

  it('are broken at spaces, Chinese anywhere, and cut with a sign', () => {
    expect(wrapText('one two three four', 9, 3)).toEqual(['one two', 'three', 'four'])
    expect(wrapText('阶段完成之后进入下一步', 8, 2)).toEqual(['阶段完成', '之后进…'])
    expect(cutText('abcdef', 4)).toBe('abc…')
    expect(cutText('abcd', 4)).toBe('abcd')
  })

  it('never exceed their width', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.integer({ min: 4, max: 30 }),
        (text, columns) => {
          for (const line of wrapText(text, columns, 3))
            expect(widthOf(line)).toBeLessThanOrEqual(columns)
          expect(widthOf(cutText(text, columns))).toBeLessThanOrEqual(columns)
        },
      ),
    )
  })
})
