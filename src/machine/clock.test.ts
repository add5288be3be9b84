/** Deadlines and jumps, on clocks that tests set. */
import { describe, expect, it } from 'vitest'
import { type Clock, Deadline, JumpWatch, SYSTEM_CLOCK } from './clock.ts'

class SetClock implements Clock {
  wall = 1_800_000_000_000
  monotonic = 5_000

  nowMs(): number {
    return this.wall
  }

  elapsedMs(): number {
    return this.monotonic
  }

  pass(ms: number): void {
    this.wall += ms
    this.monotonic += ms
  }
}

describe('a deadline', () => {
  it('comes when its time has passed', () => {
    const clock = new SetClock()
    const deadline = new Deadline(1_000, clock)
    clock.pass(999)
    expect([deadline.isOver(), deadline.leftMs()]).toEqual([false, 1])
    clock.pass(1)
    expect([deadline.isOver(), deadline.leftMs()]).toEqual([true, 0])
  })

  it('is not put off by a wall clock that is set back', () => {
    const clock = new SetClock()
    const deadline = Deadline.at(clock.wall + 60_000, clock)
    clock.wall -= 3_600_000
    clock.pass(60_000)
    expect(deadline.isOver()).toBe(true)
  })

  it('comes early when the wall clock is set forward, or the machine slept', () => {
    const clock = new SetClock()
    const deadline = new Deadline(60_000, clock)
    clock.wall += 60_000
    expect(deadline.isOver()).toBe(true)
  })

  it('that lies in the past is over', () => {
    expect(Deadline.at(SYSTEM_CLOCK.nowMs() - 1).isOver()).toBe(true)
  })
})

describe('the watch', () => {
  it('is silent while both clocks agree, and about small corrections', () => {
    const clock = new SetClock()
    const watch = new JumpWatch(clock)
    for (let round = 0; round < 10; round++) {
      clock.pass(3_600_000)
      clock.wall += 59_000
      expect(watch.look()).toBe(null)
    }
  })

  it.each([90_000, -90_000, 86_400_000])('tells a jump by %d ms once', (by) => {
    const clock = new SetClock()
    const watch = new JumpWatch(clock)
    clock.pass(500)
    const expectedMs = clock.wall
    clock.wall += by
    expect(watch.look()).toEqual({ expectedMs, foundMs: expectedMs + by })
    clock.pass(500)
    expect(watch.look()).toBe(null)
  })
})
