/** What scrolling costs the page, in processor time of its thread, so that a busy machine changes little. */
import type { Page } from 'playwright-core'

const STEPS = 100
const WHEEL = 400
/** Looked at after each step of the wheel. */
const FRAMES = 3
const NOTHING_MS = 0.3

export interface FrameCosts {
  /** Milliseconds of script, style and layout that 95 of 100 frames stay below. */
  readonly p95: number
  /** Milliseconds of all tasks of the busiest frame, which no single task exceeds. */
  readonly busiest: number
}

/** Scrolls what is under the pointer, and reads after each frame what it cost. */
export async function frameCosts(page: Page): Promise<FrameCosts> {
  const session = await page.context().newCDPSession(page)
  await session.send('Performance.enable', { timeDomain: 'threadTicks' })
  const spent = async (): Promise<{ work: number; tasks: number }> => {
    const { metrics } = await session.send('Performance.getMetrics')
    const of = (name: string): number =>
      1000 * (metrics.find((one) => one.name === name)?.value ?? 0)
    return {
      work: of('ScriptDuration') + of('RecalcStyleDuration') + of('LayoutDuration'),
      tasks: of('TaskDuration'),
    }
  }
  const [work, tasks] = [[] as number[], [] as number[]]
  for (let step = 0; step < STEPS; step += 1) {
    let before = await spent()
    await page.mouse.wheel(0, WHEEL)
    for (let frame = 0; frame < FRAMES; frame += 1) {
      await page.evaluate('new Promise((done) => requestAnimationFrame(done))')
      const after = await spent()
      // A frame in which nothing was drawn is none.
      if (after.work - before.work > NOTHING_MS) work.push(after.work - before.work)
      tasks.push(after.tasks - before.tasks)
      before = after
    }
  }
  await session.detach()
  const p95 = work.toSorted((left, right) => left - right)[Math.floor(work.length * 0.95)] ?? 0
  return { p95, busiest: Math.max(...tasks) }
}
