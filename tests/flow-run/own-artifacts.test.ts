/** Artifacts lie in the folder of their run, and what a flow says of `artifacts/NODE` holds there. */
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { artifact, edge, flowOf, worker } from './acceptance/scene.ts'
import type { RunPlace } from './place.ts'
import { placeEach } from './place-each.ts'
import { script, TOOL } from './scripts.ts'

let place: RunPlace

placeEach('artifacts', (made) => {
  place = made
})

/** Every file below `artifacts` that it can read, and what it was given. */
const LOOK = script(`${TOOL}const seen = []
function look(path) {
  try { for (const name of readdirSync(path)) look(path + '/' + name) }
  catch (error) {
    if (error.code !== 'ENOTDIR') return
    try { seen.push(readFileSync(path, 'utf8')) } catch {}
  }
}
look('artifacts')
${artifact('JSON.stringify({ seen, inputs: input.inputs })')}`)

const BAN = {
  actor: 'director',
  resource_path: 'artifacts/a/**',
  access_mode: 'read',
  access_allowed: false,
} as const

it('a ban on artifacts/NODE hides those of this run and of runs before', async () => {
  place.write('a.mjs', script(`${TOOL}${artifact("'secret of ' + input.run_id")}`))
  place.write('b.mjs', LOOK)
  const nodes = [worker('a'), worker('b', { actor: 'director' })]
  const free = await place.run(flowOf(nodes, [edge('a', 'b')]))
  const first = JSON.parse(place.read(`${free.state.artifacts}/b/1/out.md`))
  expect(first.seen).toEqual([`secret of ${free.runId}`])
  const bound = await place.run(flowOf(nodes, [edge('a', 'b')], { access_rules: [BAN] }))
  expect(bound.status).toBe('DONE')
  expect(bound.state.artifacts).not.toBe(free.state.artifacts)
  const text = place.read(`${bound.state.artifacts}/b/1/out.md`)
  expect(JSON.parse(text).inputs).toEqual([])
  expect(JSON.parse(text).seen.filter((one: string) => one.startsWith('secret'))).toEqual([])
}, 60_000)

it('required files and evidence below artifacts/NODE are those of the run', async () => {
  place.write(
    'a.mjs',
    script(`${TOOL}${artifact('JSON.stringify({ bugs: 0 })').replace("'md'", "'json'")}`),
  )
  place.write('b.mjs', script(`${TOOL}${artifact("'after'")}`))
  const nodes = [worker('a', { required_files: ['artifacts/a/1/out.json'] }), worker('b')]
  const guard = {
    guard_expr: 'state.bugs == 0',
    guard_evidence_source: 'artifacts/a/1/out.json:bugs',
  }
  const state = { fields: { bugs: { type: 'int' as const, initial: 9 } } }
  const run = await place.run(flowOf(nodes, [edge('a', 'b', guard)], { state }))
  expect([run.status, run.state.fields['bugs']]).toEqual(['DONE', 0])
}, 60_000)

it('nothing is made through a link in the place of the folder', async () => {
  const elsewhere = join(place.folder, 'elsewhere')
  mkdirSync(elsewhere)
  symlinkSync(elsewhere, join(place.workspace, 'artifacts'))
  place.write('a.mjs', script(`${TOOL}${artifact("'x'")}`))
  const run = place.run(flowOf([worker('a', { max_attempts: 1 })], []))
  await expect(run).rejects.toMatchObject({ fault: { code: 'diff.unsupported' } })
  expect(readdirSync(elsewhere)).toEqual([])
}, 60_000)
