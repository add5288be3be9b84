/** Which artifacts of others are mounted read-only, and which only the stage is judged for. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { sealedArtifacts } from './sealed-artifacts.ts'

const workspace = mkdtempSync(join(tmpdir(), 'writ-sealed-artifacts-'))
afterAll(() => rmSync(workspace, { recursive: true }))

const FOLDER = 'artifacts/run-0123456789ab'

it('mounts earlier attempts and nodes that were begun, at most sixteen, and seals all', () => {
  const others = Array.from({ length: 40 }, (_, index) => ({
    nodeId: `n${index}`,
    entries: index % 2,
  }))
  const own = { workspace, folder: FOLDER, nodeId: 'own', attempt: 2, nodes: others }
  const [whole] = sealedArtifacts(own)
  const begun = Array.from({ length: 15 }, (_, index) => `${FOLDER}/n${2 * index + 1}`)
  expect(whole?.places).toEqual([`${FOLDER}/own/1`, ...begun])
  expect([whole?.patterns, whole?.own]).toEqual([
    ['artifacts/run-*/**', `${FOLDER}/**`],
    `${FOLDER}/own/2`,
  ])
})
