/** Twenty runs of one workspace, in processes of their own: each ends as it would alone. */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { type Json, Place } from '../cli-gate/place.ts'
import { script, TOOL } from './scripts.ts'

const RUNS = 20

beforeAll(() => {
  execFileSync(process.execPath, ['tools/build.mjs'])
}, 300_000)

/** Two who make one new folder in parallel, and one who reads what they left. */
const FLOW = {
  type: 'flow_v1',
  flow_id: 'side',
  title: 'Side by side',
  nodes: [
    ...['a', 'b'].map((node_id) => ({
      node_id,
      kind: 'WORK',
      title: node_id,
      phase_id: 'P1',
      actor: 'w',
      executor: { command: ['node', 'work.mjs', node_id] },
      max_attempts: 1,
    })),
    {
      node_id: 'z',
      kind: 'WORK',
      title: 'z',
      phase_id: 'P2',
      actor: 'w',
      executor: { command: ['node', 'read.mjs'] },
      inputs: [
        { from: 'a', as: 'one' },
        { from: 'b', as: 'other' },
      ],
      max_attempts: 1,
    },
  ],
  edges: ['a', 'b'].map((source) => ({
    edge_id: `${source}z`,
    source,
    target: 'z',
    class: 'Sync',
    join: 'AND',
  })),
}

const WORK = script(`${TOOL}const [, , name] = process.argv
mkdirSync('made/' + input.run_id, { recursive: true })
writeFileSync('made/' + input.run_id + '/' + name + '.txt', name)
answer({ result_type: 'ARTIFACT', artifact: { name: 'out', format: 'md', content: input.run_id + ' ' + name } })`)

const READ =
  script(`${TOOL}const texts = input.inputs.filter(({ name }) => name).map(({ path }) => readFileSync(path, 'utf8'))
answer({ result_type: 'ARTIFACT', artifact: { name: 'both', format: 'json', content: JSON.stringify(texts) } })`)

function started(place: Place): Promise<Json> {
  const [program, ...words] = place.argv(['flow', 'run', 'flow.json', '--json', '--parallel', '2'])
  const child = spawn(program, words, { cwd: place.project, env: place.env() })
  let out = ''
  child.stdout.on('data', (part: Buffer) => {
    out += part.toString('utf8')
  })
  return new Promise((resolve) => child.on('close', () => resolve(JSON.parse(out))))
}

it(`${RUNS} at once`, async () => {
  const place = new Place('side').init()
  try {
    writeFileSync(join(place.project, 'flow.json'), JSON.stringify(FLOW))
    writeFileSync(join(place.project, 'work.mjs'), WORK)
    writeFileSync(join(place.project, 'read.mjs'), READ)
    const runs = await Promise.all(Array.from({ length: RUNS }, () => started(place)))
    expect(runs.filter(({ status }) => status !== 'DONE')).toEqual([])
    expect(runs.flatMap(({ findings }) => findings)).toEqual([])
    for (const { run_id } of runs) {
      const folder = join(place.project, 'artifacts', `run-${run_id.slice(-12)}`)
      expect(readdirSync(folder).sort()).toEqual(['a', 'b', 'z'])
      const both = JSON.parse(readFileSync(join(folder, 'z/1/both.json'), 'utf8'))
      expect(both).toEqual([`${run_id} a`, `${run_id} b`])
      expect(existsSync(join(place.project, 'made', run_id, 'b.txt'))).toBe(true)
      const log = join(place.project, '.writ', 'runs', run_id, 'orchestration_log.md')
      expect(readFileSync(log, 'utf8')).toContain(run_id)
    }
    const replay = place.writ(['replay', '--json']).json
    expect([replay.ok, replay.differences]).toEqual([true, []])
    expect(place.writ(['ledger', 'verify', '--json']).json.ok).toBe(true)
  } finally {
    place.remove()
  }
}, 600_000)
