/**
 * The translators of hooks: recorded inputs of real hosts (spec/vectors/hosts, one file a host, written
 * by `WRIT_RECORD=1 npm run hosts`), inputs of documented hosts, and the answers in each host's words.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { HOSTS, type HookAnswer, hostNamed, type ToolReport, ticketLine } from './index.ts'

interface Vectors {
  readonly host: string
  readonly version: string | null
  readonly cases: readonly {
    readonly event: string | null
    readonly input: unknown
    readonly report: ToolReport
  }[]
  readonly answers: readonly {
    readonly answer: HookAnswer
    readonly case: number
    readonly printed: { readonly stdout: unknown; readonly stderr: string; readonly status: number }
  }[]
}

const FOLDER = 'spec/vectors/hosts'
const FILES = readdirSync(FOLDER).map(
  (file) => JSON.parse(readFileSync(`${FOLDER}/${file}`, 'utf8')) as Vectors,
)

it('has vectors for every host', () => {
  expect(FILES.map(({ host }) => host).sort()).toEqual(HOSTS.map(({ name }) => name).sort())
})

describe.each(FILES.map((file) => [file.host, file] as const))('%s', (name, vectors) => {
  const host = hostNamed(name)
  if (host === null) throw new Error(name)

  it('reads every recorded input', () => {
    for (const { event, input, report } of vectors.cases) {
      expect(host.hooks.read(input, event)).toEqual(report)
    }
    const seen = new Set(vectors.cases.map(({ report }) => report.boundary))
    expect(seen).toContain('before')
    expect(vectors.cases.map(({ report }) => report.kind)).toContain('shell')
    expect(vectors.cases.map(({ report }) => report.kind)).toContain('edit')
    if (host.tested.length > 0) {
      expect(vectors.version).toBe(host.tested[0])
      expect([...seen].sort()).toEqual(Object.keys(host.hooks.events).sort())
    }
  })

  it('prints every answer', () => {
    const kinds = new Set(vectors.answers.map(({ answer }) => answer.kind))
    expect([...kinds].sort()).toEqual(['deny', 'feedback', 'pass', 'rewrite'])
    for (const { answer, case: at, printed } of vectors.answers) {
      const report = vectors.cases[at]?.report
      if (report === undefined) throw new Error(`${name} has no case ${at}`)
      const { stdout, ...rest } = host.hooks.print(answer, report)
      expect({ ...rest, stdout: asValue(stdout) }).toEqual(printed)
    }
  })

  it('never rewrites a tool that is no shell', () => {
    const edit = vectors.cases.find(({ report }) => report.kind === 'edit')?.report
    if (edit === undefined) throw new Error(name)
    const { stdout, stderr, status } = host.hooks.print(
      { kind: 'rewrite', command: 'writ x' },
      edit,
    )
    const isDenied = status === 2 || /"deny"|"cancel":true|"kind":"rewrite"/.test(stdout + stderr)
    expect(isDenied).toBe(true)
  })

  it('reads nothing else', () => {
    const none = [
      null,
      [],
      'text',
      7,
      {},
      { hook_event_name: 'x' },
      { boundary: 'x' },
      { __proto__: null },
    ]
    for (const input of none) expect(host.hooks.read(input, null)).toBeNull()
  })
})

/** One JSON object and a line feed, or text. */
function asValue(stdout: string): unknown {
  return stdout.startsWith('{') ? JSON.parse(stdout) : stdout
}

it('the ticket line holds nothing that a shell interprets', () => {
  expect(ticketLine('/opt/writ', 'a'.repeat(32))).toBe(`/opt/writ exec --ticket ${'a'.repeat(32)}`)
})
