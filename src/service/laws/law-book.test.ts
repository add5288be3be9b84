/** The laws of a home: accepted or not, read once, and refused when they cannot be judged by. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { digestBytes, FaultError, fault } from '../../base/index.ts'
import type { KnownHome } from '../../home/known-home.ts'
import { DEFAULT_LAWS } from '../../policy/index.ts'
import { keyFromSeed, newSeed, sealOf } from '../../store/keys/ed25519.ts'
import { type Bodies, type LawLedger, openLawBook } from './law-book.ts'

const SEAL = sealOf(keyFromSeed(newSeed()))
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-law-book-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true, force: true })
})

function home(text: string, registered = text): KnownHome {
  writeFileSync(join(folder, 'laws.yaml'), text)
  const [laws, registeredLaws] = [digestBytes(text), digestBytes(registered)]
  return { directory: folder, id: 'x', state: folder, laws, registeredLaws, layered: false }
}

/** What was accepted is kept as a body, or lost. */
function ledger(...texts: readonly string[]): LawLedger {
  const objects: Bodies = {
    get: async (digest) => {
      const text = texts.find((one) => digestBytes(one) === digest)
      if (text === undefined) throw new FaultError(fault('body.missing', digest, null))
      return Buffer.from(text)
    },
  }
  return { objects, seal: async () => SEAL }
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
  const book = await openLawBook(home(text, registered), ledger())
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

  it('goes on by the accepted laws while the file is another one', async () => {
    const book = await openLawBook(home('laws: []\n', DEFAULT_LAWS), ledger(DEFAULT_LAWS))
    expect([book.isLost, book.unaccepted]).toEqual([false, digestBytes('laws: []\n')])
    expect(book.digest).toBe(digestBytes(DEFAULT_LAWS))
    const outcomes = book.judge('before', VALUES, new Set())
    expect(outcomes.map(({ policy_id }) => policy_id)).toEqual(['NO_CRITICAL'])
  })

  it('obeys nothing of a text that no human accepted where the accepted one is lost', async () => {
    const book = await openLawBook(home(DEFAULT_LAWS, 'laws: []\n'), ledger())
    expect(book.isLost).toBe(true)
    expect(book.judge('before', VALUES, new Set())).toEqual([])
  })

  it('reads a file over the default laws, unless it was accepted before there were layers', async () => {
    const text = 'laws: []\n'
    const ids = async (layered: boolean) => {
      const book = await openLawBook({ ...home(text), layered }, ledger())
      return book.judge('before', VALUES, new Set()).map(({ policy_id }) => policy_id)
    }
    expect(await ids(true)).toEqual(['NO_CRITICAL'])
    expect(await ids(false)).toEqual([])
  })

  it('lets nothing through by laws that cannot be read', async () => {
    expect(await broken('laws: [{')).toEqual(['LAWS_FILE'])
  })
})
