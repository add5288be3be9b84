/**
 * `kill -9` of `writ flow run` and `resume` over the real gate: the example of two agents ends as if
 * nobody had disturbed it. How many are killed is data: `WRIT_FLOW_GATE_KILLS`.
 */
import { execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { type Json, Place } from '../cli-gate/place.ts'

const KILLS = Number(process.env['WRIT_FLOW_GATE_KILLS'] ?? 4)
const SEED = Number(process.env['WRIT_SEED'] ?? Date.now() % 2 ** 31)
const KILLS_A_ROUND_MAX = 3

beforeAll(() => {
  execFileSync(process.execPath, ['tools/build.mjs'])
}, 300_000)

interface Ended {
  readonly runId: string | null
  readonly wasKilled: boolean
  readonly json: Json
}

function walk(place: Place, words: readonly string[], killAfterMs: number | null): Promise<Ended> {
  const [program, ...rest] = place.argv(['flow', ...words, '--json'])
  return new Promise((resolve) => {
    const child = spawn(program, rest, { cwd: place.project, env: place.env() })
    const timer = killAfterMs === null ? null : setTimeout(() => child.kill('SIGKILL'), killAfterMs)
    let [out, err] = ['', '']
    child.stdout.on('data', (part: Buffer) => {
      out += part.toString('utf8')
    })
    child.stderr.on('data', (part: Buffer) => {
      err += part.toString('utf8')
    })
    child.on('close', (_code, signal) => {
      if (timer !== null) clearTimeout(timer)
      const runId = /^run-[0-9a-f-]{36}$/m.exec(err)?.[0] ?? null
      const wasKilled = signal === 'SIGKILL'
      resolve({ runId, wasKilled, json: wasKilled || out === '' ? { err } : JSON.parse(out) })
    })
  })
}

it(`ends the same after ${KILLS} kills, seed ${SEED}`, async () => {
  let [state, killed] = [SEED, 0]
  const chance = (): number => {
    state = (state * 1664525 + 1013904223) % 2 ** 32
    return state / 2 ** 32
  }
  const run = ['run', 'plan.json', '--participants', 'participants.yaml']
  for (let round = 0; killed < KILLS; round++) {
    const place = new Place('kills').init()
    try {
      cpSync('examples/flows/two-agents', place.project, { recursive: true })
      let last: Ended = { runId: null, wasKilled: true, json: null }
      let runId: string | null = null
      for (let kill = 0; last.wasKilled; kill++) {
        const killMs = kill < KILLS_A_ROUND_MAX ? 300 + chance() * 4_000 : null
        last = await walk(place, runId === null ? run : ['resume', runId], killMs)
        if (last.wasKilled) killed++
        runId ??= last.runId
        // It may have died before its first fact.
        if (last.json?.error?.code === 'flow.unknown_run') {
          last = { ...last, wasKilled: true }
          runId = null
        }
      }
      expect([round, last.json.status, last.json]).toEqual([round, 'DONE', last.json])
      const program = readFileSync(join(place.project, 'src/count.mjs'), 'utf8')
      expect(program).toContain('filter')
      const node = 'artifacts/5d0e2a10-0000-4000-8000-000000000003'
      expect([1, 2].map((at) => existsSync(join(place.project, node, `${at}`)))).toEqual([
        false,
        true,
      ])
      const replay = place.writ(['replay', '--json']).json
      expect([replay.ok, replay.differences]).toEqual([true, []])
    } finally {
      place.remove()
    }
  }
}, 1_800_000)
