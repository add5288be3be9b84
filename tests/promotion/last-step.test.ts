/**
 * What has to happen last and cannot be taken back (G-22): it happens when every byte is in place and
 * before that is final. When it fails, everything is put back; after a crash in between, the caller, who
 * knows the outcome, says which way recovery goes.
 */
import { describe, expect, it } from 'vitest'
import { runProgram } from '../ledger/program.ts'
import type { ActInput } from './act.program.ts'
import { codeOf, hasJournals, makeRig, promoteIn, type Rig, recoverIn } from './rig.ts'
import { factsOf, fileRecording, makeScene, type Scene, unlikeNew, unlikeOld } from './scene.ts'

async function inScene(work: (rig: Rig, scene: Scene) => Promise<void>): Promise<void> {
  const rig = makeRig('last-step')
  try {
    await work(rig, await makeScene(rig))
  } finally {
    rig.remove()
  }
}

/** Ends a promotion with everything in place and nothing said about it. */
async function interrupt(rig: Rig, scene: Scene): Promise<void> {
  const input: ActInput = { base: rig.base, act: 'promote', rehearsed: scene.file }
  let at = -1
  await inScene(async (other, { file }) => {
    const asked = { ...input, base: other.base, rehearsed: file }
    const { lines } = await runProgram('tests/promotion/act.program.ts', asked)
    at = lines.indexOf('applied before')
  })
  expect(at).toBeGreaterThan(0)
  await runProgram('tests/promotion/act.program.ts', { ...input, dieAt: at })
  expect(unlikeNew(rig, scene)).toEqual([])
}

describe('the last step', () => {
  it('sees everything in place, and its failure puts everything back', async () => {
    await inScene(async (rig, scene) => {
      let seen: readonly string[] | null = null
      const code = await codeOf(
        promoteIn(rig, scene.rehearsed, {
          beforeDone: async () => {
            seen = unlikeNew(rig, scene)
            throw Object.assign(new Error('refused'), { code: 'EIO' })
          },
        }),
      )
      expect({ seen, code }).toEqual({ seen: [], code: 'promote.failed' })
      expect(unlikeOld(rig, scene)).toEqual([])
      expect(hasJournals(rig)).toBe(false)
    })
  })

  it.each([
    [false, 'REVERTED'],
    [true, 'APPLIED'],
  ])('after a crash: may finish is %s, so it is %s', async (mayFinish, status) => {
    await inScene(async (rig, scene) => {
      await interrupt(rig, scene)
      const asked: string[] = []
      await recoverIn(rig, {
        ...fileRecording(rig),
        mayFinish: async (id) => {
          asked.push(id)
          return mayFinish
        },
      })
      const { actionId } = scene.rehearsed
      expect(asked).toEqual([actionId])
      expect(factsOf(rig).get(`promotion/${actionId}`)?.status).toBe(status)
      const found = mayFinish ? unlikeNew(rig, scene) : unlikeOld(rig, scene)
      expect({ found, open: hasJournals(rig) }).toEqual({ found: [], open: false })
    })
  })
})
