/**
 * `kill -9` of `writ flow run` and `resume`, and of the `writ approve` by which a human lets the effects
 * become real: the example of two agents ends as without a kill, and the approval is recorded and
 * carried out once. How many are killed is data: `WRIT_FLOW_GATE_KILLS`.
 */
import { execFileSync, spawn } from 'node:child_process'
import { closeSync, cpSync, existsSync, openSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { type Json, Place } from '../cli-gate/place.ts'

const KILLS = Number(process.env['WRIT_FLOW_GATE_KILLS'] ?? 3)
const SEED = Number(process.env['WRIT_SEED'] ?? Date.now() % 2 ** 31)
const KILLS_A_ROUND_MAX = 6
const APPROVALS_KILLED = 0.5

const LAWS = `laws:
  - policy_id: ASK_PROGRAMS
    tier: 2
    policy_expr: creates('src/**')
    priority: 60
    override_mode: merge
    violation_action: confirm
`
const passphrase = 'correct horse battery staple'
const RUN = ['flow', 'run', 'plan.json', '--participants', 'participants.yaml', '--json']
const NODE = '5d0e2a10-0000-4000-8000-000000000003'

beforeAll(() => {
  execFileSync(process.execPath, ['tools/build.mjs'])
}, 300_000)

/** A home whose laws ask a human before programs become real. */
function askingPlace(): Place {
  const place = new Place('kills').init(passphrase)
  cpSync('examples/flows/two-agents', place.project, { recursive: true })
  place.write('.writ/laws.yaml', LAWS)
  const accepted = place.writ(['laws', 'accept', '--yes', '--pass-fd', '3'], { passphrase })
  expect(accepted.status, accepted.err).toBe(0)
  writeFileSync(join(place.folder, 'secret'), `${passphrase}\n`)
  return place
}

interface Ended {
  readonly runId: string | null
  readonly wasKilled: boolean
  readonly json: Json
}

/** Descriptor 3 has the passphrase. */
function call(place: Place, words: readonly string[], killAfterMs: number | null): Promise<Ended> {
  const [program, ...rest] = place.argv(words)
  const secret = openSync(join(place.folder, 'secret'), 'r')
  const stdio = ['ignore', 'pipe', 'pipe', secret] as const
  const child = spawn(program, rest, { cwd: place.project, env: place.env(), stdio: [...stdio] })
  closeSync(secret)
  return new Promise((resolve) => {
    const timer = killAfterMs === null ? null : setTimeout(() => child.kill('SIGKILL'), killAfterMs)
    let [out, err] = ['', '']
    child.stdout?.on('data', (part: Buffer) => {
      out += part.toString('utf8')
    })
    child.stderr?.on('data', (part: Buffer) => {
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

/** One run to its end; gives how many were killed. */
async function walk(place: Place, chance: () => number): Promise<number> {
  let [killed, runId] = [0, null as string | null]
  for (;;) {
    const killMs = killed < KILLS_A_ROUND_MAX ? 300 + chance() * 3_000 : null
    const words = runId === null ? RUN : ['flow', 'resume', runId, '--json']
    const last = await call(place, words, killMs)
    runId ??= last.runId
    if (last.wasKilled) killed++
    // It may have died before its first fact.
    if (last.json.error?.code === 'flow.unknown_run') runId = null
    else if (last.json.status === 'WAITING') killed += await approve(place, chance)
    else if (!last.wasKilled) {
      expect([last.json.status, last.json]).toEqual(['DONE', last.json])
      return killed
    }
  }
}

/** Says yes to what waits; 1 when that was cut off. */
async function approve(place: Place, chance: () => number): Promise<number> {
  const [asked] = place.pending()
  if (asked === undefined) return 0
  const killMs = chance() < APPROVALS_KILLED ? 200 + chance() * 1_000 : null
  const words = ['approve', asked.id, '--json', '--pass-fd', '3']
  const { wasKilled, json } = await call(place, words, killMs)
  if (!wasKilled) expect([json.promoted, json]).toEqual([true, json])
  return wasKilled ? 1 : 0
}

function payloads(place: Place, type: string): Json[] {
  const { facts } = place.writ(['log', '--type', type, '--json']).json
  return facts.map(({ record }: Json) => record.payload)
}

it(`ends the same after ${KILLS} kills, seed ${SEED}`, async () => {
  let [state, killed] = [SEED, 0]
  const chance = (): number => {
    state = (state * 1664525 + 1013904223) % 2 ** 32
    return state / 2 ** 32
  }
  while (killed < KILLS) {
    const place = askingPlace()
    try {
      killed += await walk(place, chance)
      expect(place.text('src/count.mjs')).toContain('filter')
      const folder = join(place.project, 'artifacts')
      const [run = ''] = readdirSync(folder)
      const versions = [1, 2].map((at) => existsSync(join(folder, run, NODE, `${at}`)))
      expect(versions).toEqual([false, true])
      const answers = payloads(place, 'confirmation_v1').map(({ answer }) => answer)
      const acts = payloads(place, 'promotion_v1').map(({ status }) => status)
      expect([answers, acts.filter((status) => status === 'APPLIED').length]).toEqual([
        ['APPROVED'],
        1,
      ])
      const replay = place.writ(['replay', '--json']).json
      expect([replay.ok, replay.differences]).toEqual([true, []])
    } finally {
      place.remove()
    }
  }
}, 1_800_000)
