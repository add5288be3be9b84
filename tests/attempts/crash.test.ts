/**
 * `kill -9` at any moment of a promotion of a held attempt, of a drop, and of a finish: after
 * the next process it is done as a whole or not at all, and never twice.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { WHO } from '../sandbox/drive.ts'
import { Ground, type Json, type StepOrder } from './steps.ts'

const ROUNDS = Number(process.env['WRIT_ATTEMPT_KILLS'] ?? 2)
const DROPS = ROUNDS - 1
const FILES = 60
const isWhole = process.env['WRIT_ATTEMPT_MATRIX'] === 'whole'

function attempt(name: string, command: string, writes = ['**']): readonly StepOrder[] {
  return [
    { do: 'begin', name, writes },
    { do: 'run', name, command },
    { do: 'finish', name },
  ]
}

/** Spread over the time that a promotion takes, from before its start to after its end. */
function momentMs(round: number): number {
  return Math.round((round / ROUNDS) ** 2 * 140)
}

/** After a point the files are as before the next one, so the slice dies before each, and after the last. */
function momentsOf(point: string): readonly ('before' | 'after')[] {
  return isWhole || point === 'recorded' ? ['before', 'after'] : ['before']
}

describe.each(WHO)('as %s', (who) => {
  it('a promotion is finished or begun again, and done once', { timeout: 120_000 }, async () => {
    const ground = new Ground(who)
    for (let round = 0; round < ROUNDS; round++) {
      const name = `p${round}`
      const isAsked = round % 2 === 1
      const write = `mkdir d${round}; for n in $(seq ${FILES}); do echo ${round} > d${round}/$n; echo ${round} > s$n; done`
      const hook = isAsked ? `; echo ${round} > .envrc` : ''
      await ground.steps(...attempt(name, `${write}${hook}`, ['**', '.envrc']))
      await ground.run([{ do: 'held' }, { do: 'promote', name, answer: 'yes' }], {
        killAfterMs: momentMs(round),
      })
      const done = await ground.steps(
        { do: 'promote', name, answer: 'yes' },
        { do: 'promote', name },
        { do: 'facts', type: 'promotion_v1', name },
      )
      const [again, last, facts] = done.filter((each) => 'ok' in each)
      expect(again?.ok, JSON.stringify(again?.ok.decision)).toMatchObject({ promoted: true })
      expect(last?.ok).toMatchObject({ promoted: true })
      const files = Array.from({ length: FILES }, (_, index) => [
        ground.text(`d${round}/${index + 1}`),
        ground.text(`s${index + 1}`),
      ])
      expect(new Set(files.flat())).toEqual(new Set([`${round}\n`]))
      const applied = facts?.ok.filter(({ status }: Json) => status === 'APPLIED')
      expect(applied).toHaveLength(1)
    }
  })

  const points =
    who === 'root'
      ? ['plan', 'intent', 'take', 'put', 'applied', 'record', 'recorded']
      : ['intent', 'put', 'record']
  /** One attempt for each death, all of them run by one process before the first is promoted. */
  const ground = new Ground(who)
  beforeAll(async () => {
    const names = points.flatMap((point) => momentsOf(point).map((moment) => `${point}-${moment}`))
    for (const name of names) ground.write(`${name}.old`, 'old\n')
    await ground.steps(
      ...names.flatMap((name) => attempt(name, `echo ${name} > ${name}.old; echo x > ${name}.new`)),
    )
  }, 60_000)

  it.each(points)('killed at %s', { timeout: 60_000 }, async (point) => {
    for (const moment of momentsOf(point)) {
      const name = `${point}-${moment}`
      await ground.run([{ do: 'promote', name }], { killAt: { point, moment } })
      const done = await ground.steps(
        { do: 'promote', name },
        { do: 'facts', type: 'promotion_v1', name },
      )
      expect(done[0]?.ok, JSON.stringify(done[0])).toMatchObject({ promoted: true })
      expect([ground.text(`${name}.old`), ground.text(`${name}.new`)]).toEqual([`${name}\n`, 'x\n'])
      const statuses = done[1]?.ok.map(({ status }: Json) => status)
      // Where nothing was touched yet there is nothing to take back: it is promoted as if untried.
      expect(statuses).toEqual(['APPLIED'])
    }
  })
})

/** The same code ends them for every user: one of them will do. */
describe('as root alone', () => {
  const who = 'root'

  it('a drop is a drop', { timeout: 60_000 }, async () => {
    const ground = new Ground(who)
    for (let round = 0; round < DROPS; round++) {
      const name = `d${round}`
      await ground.steps(...attempt(name, `echo ${round} > x${round}`))
      await ground.run([{ do: 'held' }, { do: 'drop', name }], { killAfterMs: round * 15 })
      const done = await ground.steps({ do: 'drop', name }, { do: 'promote', name }, { do: 'held' })
      expect(done[1]?.ok).toMatchObject({ decision: { code: 'attempt.dropped' }, promoted: false })
      expect([done[2]?.ok, existsSync(join(ground.project, `x${round}`))]).toEqual([[], false])
    }
  })

  it('an attempt that never ended is no attempt', { timeout: 60_000 }, async () => {
    const ground = new Ground(who)
    for (let round = 0; round < ROUNDS; round++) {
      const name = `f${round}`
      const writes = `for n in $(seq 200); do echo ${round} > $n; done`
      await ground.run(attempt(name, writes), { killAfterMs: 60 + round * 80 })
      const [held, promoted] = await ground.run([{ do: 'held' }, { do: 'promote', name }])
      // Either it was finished before the end came, and can be promoted, or nothing is known of it.
      if (held?.ok.length === 0)
        expect(promoted?.failure).toMatchObject({ code: 'attempt.unknown' })
      else expect(promoted?.ok).toMatchObject({ promoted: true })
    }
  })
})
