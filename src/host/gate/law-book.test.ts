/** The laws of a home: accepted or not, read once, and refused when they cannot be judged by. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { digestBytes } from '../../base/index.ts'
import { DEFAULT_LAWS } from '../../policy/index.ts'
import type { KnownHome } from '../home/known-home.ts'
import { createKey, makeCurrent } from '../ledger/keys.ts'
import { openLawBook } from './law-book.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-law-book-'))
  makeCurrent(join(folder, 'keys'), createKey(join(folder, 'keys'), 'writ/x'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

function home(text: string, registered = text): KnownHome {
  writeFileSync(join(folder, 'laws.yaml'), text)
  const [laws, registeredLaws] = [digestBytes(text), digestBytes(registered)]
  return { directory: folder, id: 'x', state: folder, laws, registeredLaws }
}

// Only the laws that need no result are asked, so nothing of a rehearsal is there.
const VALUES = {
  proposal: {
    descriptor: { action_id: 'a', risk_level: 'LOW' },
    operation: { type: 'FILE_READ', path: '/a/b' },
  },
  risk: 'CRITICAL',
  result: null,
  changes: null,
  context: {
    now: '2026-01-01T00:00:00.000Z',
    actor: 'a',
    actor_kind: 'ai',
    workspace: '/a',
    host: 'h',
    recent_rollbacks: 0,
  },
  home: '/home/a',
} as never

async function broken(text: string, registered?: string): Promise<readonly string[]> {
  const book = await openLawBook(home(text, registered))
  return book.judge('before', VALUES, new Set()).map(({ policy_id }) => policy_id)
}

describe('the law book', () => {
  it('judges by the accepted laws, from the text and from what was kept of it alike', async () => {
    expect(await broken(DEFAULT_LAWS)).toEqual(['NO_CRITICAL'])
    const kept = readFileSync(join(folder, 'laws.json'), 'utf8')
    expect(kept).toContain(digestBytes(DEFAULT_LAWS))
    expect(await broken(DEFAULT_LAWS)).toEqual(['NO_CRITICAL'])
  })

  it('keeps nothing of another text', async () => {
    await broken(DEFAULT_LAWS)
    const other = DEFAULT_LAWS.replaceAll('NO_CRITICAL', 'NONE_SUCH')
    expect(await broken(other)).toEqual(['NONE_SUCH'])
    writeFileSync(join(folder, 'laws.json'), '{')
    expect(await broken(other)).toEqual(['NONE_SUCH'])
  })

  it('obeys nothing of a text that nobody accepted', async () => {
    const book = await openLawBook(home(DEFAULT_LAWS, 'laws: []\n'))
    expect(book.isChanged).toBe(true)
    expect(book.judge('before', VALUES, new Set())).toEqual([])
  })

  it('lets nothing through by laws that cannot be read', async () => {
    expect(await broken('laws: [{')).toEqual(['LAWS_FILE'])
  })
})
