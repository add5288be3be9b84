/** The examples of proposals: every kind is a valid document, and the page about them runs as shown. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ACTION_KINDS } from '../../src/contracts/index.ts'
import { Place } from './place.ts'

vi.setConfig({ testTimeout: 120_000 })
let place: Place

beforeAll(() => {
  place = new Place('example', { runs: 'warm' }).init()
}, 180_000)

afterAll(() => {
  place?.remove()
})

const PAGE = readFileSync('docs/proposals.md', 'utf8')

function block(language: string): string {
  const found = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(PAGE)?.[1]
  if (found === undefined) throw new Error(`docs/proposals.md has no ${language} block`)
  return found
}

const printed = (kind: string) => place.writ(['propose', '--example', kind])

/** Kinds whose tools every machine has, with the files that they need. */
const RUN: Readonly<Record<string, readonly string[]>> = {
  FILE_READ: ['README.md'],
  FILE_WRITE: [],
  FILE_DELETE: ['note.txt'],
  FILE_MOVE: ['note.txt'],
  DIRECTORY_CREATE: [],
  DIRECTORY_DELETE: ['reports/one'],
  COMMAND_EXECUTION: [],
  CONFIG_CHANGE: [],
  MULTI_STEP_COMPOSITE: [],
}

describe('an example of a proposal', () => {
  it.each(ACTION_KINDS)('%s is a valid document', (kind) => {
    const { out, status } = printed(kind)
    expect(status).toBe(0)
    const checked = place.writ(['check', '--as', 'proposal_v1', '-', '--json'], { input: out })
    expect(checked.json).toMatchObject({ valid: true })
  })

  it.each(Object.entries(RUN))('%s would be promoted', (kind, files) => {
    for (const file of files) place.write(file)
    if (kind === 'CONFIG_CHANGE') place.write('settings.json', '{"port": 80}\n')
    const { out } = printed(kind)
    const ended = place.writ(['propose', '--dry-run', '-', '--json'], { input: out })
    expect(ended.json, ended.out + ended.err).toMatchObject({ decision: { decision: 'PROMOTE' } })
  })

  it('names the kinds when it does not know one', () => {
    const { status, err } = printed('FILE_WRIT')
    expect(status).toBe(2)
    expect(err).toContain('did you mean FILE_WRITE?')
  })
})

describe('docs/proposals.md', () => {
  it('runs as shown', () => {
    const fresh = new Place('page', { runs: 'warm' }).init()
    try {
      const lines = block('sh').trim().split('\n')
      expect(lines.length).toBeGreaterThan(3)
      for (const line of lines) {
        const program = `writ() { ${process.execPath} ${fresh.program} "$@"; }; ${line}`
        const order = { cwd: fresh.project, env: fresh.env(), encoding: 'utf8' } as const
        expect(() => execFileSync('sh', ['-c', program], order), line).not.toThrow()
        if (line === 'writ propose proposal.json') expect(fresh.has('note.txt')).toBe(true)
      }
      expect(fresh.has('note.txt')).toBe(false)
    } finally {
      fresh.remove()
    }
  })

  it('shows the document that is printed', () => {
    const { json } = printed('FILE_WRITE')
    const text = JSON.stringify(json).replaceAll(place.project, '/home/ann/shop')
    const { descriptor, operation } = JSON.parse(text)
    const shown = JSON.parse(block('json'))
    const { action_id, created_at } = shown.descriptor
    expect({ descriptor: { ...descriptor, action_id, created_at }, operation }).toEqual(shown)
  })
})

describe('answers in words', () => {
  it('a read prints what it read, a command what it said', () => {
    place.write('README.md', 'the text of it\n')
    const read = printed('FILE_READ').out
    expect(place.writ(['propose', '-'], { input: read }).out).toContain('the text of it\n')
    const example = printed('COMMAND_EXECUTION').json
    example.operation.argv = ['sh', '-c', 'echo said; date > today.txt']
    const file = join(place.folder, 'said.json')
    writeFileSync(file, JSON.stringify(example))
    expect(place.writ(['propose', file]).out).toContain('said\n')
  })
})
