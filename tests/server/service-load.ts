/**
 * Proposals that are under way while a service is disturbed, and what must hold of them afterwards (H-8):
 * each acknowledged one is on the ledger once, each is decided or left without any effect, none is half promoted.
 */
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Json } from '../cli-gate/place.ts'
import type { RawAnswer, ServicePlace } from './service-place.ts'

const WAIT_MS = 120_000

interface Proposed {
  readonly id: string
  readonly files: readonly [string, string]
  readonly body: string
  /** What the service said before it was disturbed; null if it said nothing. */
  answer: RawAnswer | null
}

export class ServiceLoad {
  readonly #place: ServicePlace
  readonly #token: string
  readonly #example: Json
  readonly #all: Proposed[] = []
  acknowledged = 0
  promoted = 0
  undecided = 0

  constructor(place: ServicePlace, token: string) {
    this.#place = place
    this.#token = token
    this.#example = place.writ(['propose', '--example', 'COMMAND_EXECUTION']).json
  }

  /** Proposes so many small commands at once, each of which makes two files. Ends with the last answer. */
  async propose(count: number): Promise<void> {
    const made = Array.from({ length: count }, () => this.#make())
    this.#all.push(...made)
    await Promise.all(
      made.map(async (one) => {
        one.answer = await this.#send(one).catch(() => null)
        if (one.answer !== null && one.answer.status < 300) this.acknowledged += 1
      }),
    )
  }

  /**
   * Asks again for all that are open, under their keys, until each is decided. One that the service left
   * undecided has changed nothing, and is proposed again as another.
   */
  async settle(): Promise<void> {
    const until = Date.now() + WAIT_MS + this.#all.length * 2_000
    for (const one of this.#all.splice(0)) {
      const before = one.answer
      let answer = await this.#send(one)
      for (; !isDecided(answer) && !isLeft(answer) && Date.now() < until; await pause(200))
        answer = await this.#send(one)
      const status = isLeft(answer) ? 'undecided' : answer.json.status
      const said = `${one.id}: ${answer.status} ${answer.text.slice(0, 400)}`
      expect(['promoted', 'blocked', 'failed', 'undecided'], said).toContain(status)
      // What was acknowledged stays so.
      if (before?.status === 200) expect([one.id, status]).toEqual([one.id, before.json.status])
      await this.#expectOnce(one, status)
      if (status === 'promoted') this.promoted += 1
      if (status !== 'undecided') continue
      this.undecided += 1
      const again = this.#make()
      const second = await this.#send(again)
      expect(second.json.status, second.text).toBe('promoted')
      await this.#expectOnce(again, 'promoted')
    }
  }

  async #expectOnce({ id, files }: Proposed, status: string): Promise<void> {
    const there = files.map((name) => existsSync(join(this.#place.project, name)))
    expect(there, `${id} is ${status}`).toEqual(Array(2).fill(status === 'promoted'))
    if (status === 'promoted') {
      for (const name of files)
        expect(readFileSync(join(this.#place.project, name), 'utf8')).toBe(`${id}\n`)
    }
    const { json } = await this.#ask('GET', `/v1/streams/main/facts?action=${id}&limit=100`)
    const types = json.facts.map(({ record }: Json) => record.type)
    const applied = json.facts.filter(({ record }: Json) => record.payload?.status === 'APPLIED')
    expect([id, types.filter((type: string) => type === 'proposal_v1').length]).toEqual([id, 1])
    expect([id, applied.length]).toEqual([id, status === 'promoted' ? 1 : 0])
  }

  #make(): Proposed {
    const id = randomUUID()
    const files = [`${id}-a.txt`, `${id}-b.txt`] as const
    const create = files.map((name) => join(this.#place.project, name))
    const { descriptor, operation } = this.#example
    const effects = { ...descriptor.effects, filesystem: { create, modify: [], delete: [] } }
    const script = files.map((name) => `echo ${id} > ${name}`).join('; ')
    const body = JSON.stringify({
      descriptor: { ...descriptor, action_id: id, effects },
      operation: { ...operation, argv: ['sh', '-c', script] },
    })
    return { id, files, body, answer: null }
  }

  #send({ id, body }: Proposed): Promise<RawAnswer> {
    return this.#ask('POST', '/v1/actions', { 'idempotency-key': id, prefer: 'wait=60' }, body)
  }

  #ask(method: string, path: string, headers: Json = {}, body?: string): Promise<RawAnswer> {
    const own = {
      ...headers,
      authorization: `Bearer ${this.#token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    }
    return this.#place.raw({
      method,
      path,
      headers: own,
      ...(body === undefined ? {} : { body }),
    })
  }
}

function isDecided({ status, json }: RawAnswer): boolean {
  return status === 200 && json.status !== 'waiting' && json.status !== 'unknown'
}

function isLeft({ json }: RawAnswer): boolean {
  return json?.code === 'api.outcome_unknown'
}
