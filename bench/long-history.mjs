/**
 * Homes with a long history: a few acts are really made (one without effects, one that is promoted,
 * one that is blocked, one that is taken back), and their records are recorded again and again under
 * new ids, intents and digests, as if they had been made by as many commands.
 */
import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const WRIT = join(ROOT, 'bin', 'writ.cjs')
const BATCH = 40
/** Between one fact and the next: a busy day has a thousand of them. */
const APART_MS = 60_000
/** Acts that were taken back within a day make laws ask. */
const SINCE_MS = 2 * 24 * 60 * 60 * 1000

/** The surroundings of a home in a folder of its own. */
export function placeOf(folder) {
  const project = join(folder, 'project')
  mkdirSync(join(folder, 'home'), { recursive: true })
  mkdirSync(project, { recursive: true })
  const env = { ...process.env, HOME: join(folder, 'home'), XDG_STATE_HOME: join(folder, 'state') }
  return { project, env }
}

export function writ({ project, env }, args, status = 0) {
  const ended = spawnSync(process.execPath, [WRIT, ...args], {
    cwd: project,
    env,
    encoding: 'utf8',
    timeout: 600_000,
  })
  if (ended.status === status) return ended.stdout
  throw new Error(`writ ${args.join(' ')} ended with ${ended.status}: ${ended.stderr}`)
}

/** A home with at least `size` facts in its stream; how many there are is the answer. */
export async function makeHistory(folder, size) {
  const place = placeOf(folder)
  writ(place, ['init', '--no-pass'])
  const acts = realActs(place)
  if (size === 0) return 0
  const { openHome } = await import(join(ROOT, 'dist', 'home', 'index.js'))
  const { openLedger } = await import(join(ROOT, 'dist', 'store', 'index.js'))
  const around = {
    cwd: place.project,
    env: place.env,
    userDirectory: place.env.HOME,
    userName: 'ann',
  }
  const home = openHome(around, null)
  const ledger = await openLedger({ directory: home.state })
  try {
    const head = await ledger.store.head('main')
    let count = head.size
    for (let turn = 0; count < size; turn++) {
      const entries = Array.from({ length: BATCH }, (_, index) =>
        again(acts[(turn * BATCH + index) % acts.length], SINCE_MS + (size - count) * APART_MS),
      ).flat()
      const recorded = await ledger.recordAll(entries)
      if (!recorded.ok) throw new Error(JSON.stringify(recorded.violations[0]))
      count += entries.length
    }
    return count
  } finally {
    await ledger.close()
  }
}

/** The records of acts that were made, act by act. */
function realActs(place) {
  const made = ['exec', '--write', '*.txt', '--', 'sh', '-c', 'echo one > made.txt']
  writ(place, ['exec', '--', 'true'])
  writ(place, made)
  writ(place, ['exec', '--', 'false'], 1)
  writ(place, ['undo'])
  const lines = writ(place, ['log', '--jsonl', '--limit', '500']).trim().split('\n')
  const facts = lines.map((line) => JSON.parse(line)).sort((one, other) => one.seq - other.seq)
  const acts = new Map()
  for (const { principal, source, record } of facts) {
    const payload = record.payload
    if (payload === undefined) continue
    const id = payload.action_id ?? payload.descriptor?.action_id ?? payload.action_ids?.[0]
    if (id === undefined) continue
    const entry = { principal, source, record: { type: record.type, payload } }
    acts.set(id, [...(acts.get(id) ?? []), entry])
  }
  return [...acts].map(([id, entries]) => ({ id, entries }))
}

const DIGEST = /sha256:[0-9a-f]{64}/g
const MOMENT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g

/** The same act, so long ago: its own id, and digests that follow from the old ones and it. */
function again({ id, entries }, agoMs) {
  const fresh = newId(Date.now() - agoMs)
  const earlier = (moment) => new Date(Date.parse(moment) - agoMs).toISOString()
  const digests = new Map()
  const digestOf = (old) => {
    if (!digests.has(old)) {
      const hash = createHash('sha256').update(old).update(fresh).digest('hex')
      digests.set(old, `sha256:${hash}`)
    }
    return digests.get(old)
  }
  const rollback = newId(Date.now() - agoMs)
  return entries.map(({ principal, source, record }, index) => {
    const payload = JSON.parse(
      JSON.stringify(record.payload)
        .replaceAll(id, fresh)
        .replace(DIGEST, digestOf)
        .replace(MOMENT, earlier),
    )
    if (payload.rollback_id !== undefined) payload.rollback_id = rollback
    return {
      stream: 'main',
      source,
      principal,
      record: { type: record.type, payload },
      idempotencyKey: `${record.type}/${fresh}/${index}`,
    }
  })
}

let counter = 0

/** Time-ordered, as commands make them. */
function newId(atMs) {
  counter = (counter + 1) & 0xfff
  const time = Math.floor(atMs).toString(16).padStart(12, '0')
  const rest = randomBytes(8).toString('hex')
  const low = counter.toString(16).padStart(3, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${low}-9${rest.slice(0, 3)}-${rest.slice(3, 15)}`
}
