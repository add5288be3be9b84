/** The room that staged bytes of questions share, and how much of it one actor gets. */
import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Change, RawPath } from '../../gate/index.ts'
import type { KnownHome } from '../../home/index.ts'
import type { Principal } from '../../ledger/index.ts'
import { holderOf, reserveHeld, reserveRoom, stageOf, stagePlaces } from './stage-place.ts'

const MEGABYTE = 1024 ** 2
const BOT: Principal = { kind: 'ai', id: 'bot', namespace: 'local' }
const OTHER: Principal = { kind: 'ai', id: 'other', namespace: 'local' }
const ANN: Principal = { kind: 'human', id: 'ann', namespace: 'local' }

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-room-'))
  mkdirSync(join(folder, '.writ'))
  mkdirSync(join(folder, 'state'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function added(size: number): Change {
  const after = {
    kind: 'file' as const,
    mode: 0o644,
    size,
    digest: null,
    target: null,
    attributes: [],
    owner: null,
    mtimeNs: '0',
    linkGroup: null,
  }
  return { path: '/made' as RawPath, before: null, after }
}

function home(): KnownHome {
  return {
    directory: join(folder, '.writ'),
    state: join(folder, 'state'),
    id: 'x',
    laws: '',
    registeredLaws: '',
    layered: true,
  }
}

function freshStage(): string {
  const [place = ''] = stagePlaces(home())
  return stageOf(place, randomUUID())
}

/** As the host does: a stage that is refused is removed. */
function removing(stage: string, reserve: () => void): void {
  try {
    reserve()
  } catch (error) {
    rmSync(stage, { recursive: true })
    throw error
  }
}

function ask(principal: Principal, bytes: number, questionQuotaMb = 8): void {
  const caller = { principal, streams: null, proof: 'none' as const }
  const stage = freshStage()
  removing(stage, () => {
    reserveRoom({ home: home(), caller }, stage, [added(bytes)], { questionQuotaMb })
  })
}

function hold(bytes: number, run: string | null = null, questionQuotaMb = 8): string {
  const stage = freshStage()
  const place = { home: home(), stream: 'main' }
  removing(stage, () => reserveHeld(place, stage, [added(bytes)], { questionQuotaMb }, run))
  return stage
}

describe('the room for questions', () => {
  it('leaves half of it to others than one actor', () => {
    ask(BOT, 3 * MEGABYTE)
    expect(() => ask(BOT, 2 * MEGABYTE)).toThrow(
      /ai:bot@local.*half of `question_quota_mb`.*writ inbox/,
    )
  })

  it('leaves a quarter of it to persons, however many actors ask', () => {
    ask(BOT, 4 * MEGABYTE)
    ask(OTHER, 2 * MEGABYTE)
    expect(() => ask(OTHER, MEGABYTE)).toThrow(/all actors.*three quarters.*writ inbox/)
    expect(() => ask(ANN, 2 * MEGABYTE)).not.toThrow()
  })

  it('is another one for what flows hold, of the same size', () => {
    hold(7 * MEGABYTE)
    expect(() => ask(ANN, 8 * MEGABYTE)).not.toThrow()
    expect(() => hold(2 * MEGABYTE)).toThrow(/runs of flows hold 7 MB.*writ flow status/)
  })

  it('is whole for a person, and shared by all', () => {
    ask(BOT, 4 * MEGABYTE)
    ask(ANN, 4 * MEGABYTE)
    expect(() => ask(ANN, MEGABYTE)).toThrow(/`question_quota_mb` allows 8 MB in all/)
  })

  it('holds so many questions of one actor, however small', () => {
    for (let asked = 0; asked < 50; asked += 1) ask(BOT, 1)
    expect(() => ask(BOT, 1)).toThrow(/50 questions waiting.*writ deny/)
    expect(() => ask(OTHER, 1)).not.toThrow()
    expect(() => ask(ANN, 1)).not.toThrow()
  })
})

describe('a held stage', () => {
  it('names the run that holds it', () => {
    expect([hold(1, 'run-1'), hold(1)].map(holderOf)).toEqual([
      { stream: 'main', run: 'run-1' },
      null,
    ])
  })

  it('names no run if the machine stopped while its mark was written', () => {
    const stage = hold(1, 'run-1')
    truncateSync(join(stage, 'held'), 9)
    expect(holderOf(stage)).toBeNull()
  })
})
