/**
 * Everyday commands on a long history, against the same ones on a home that was just made, as whole
 * processes and in turns. A goal of "at most 1.3 times as long" is a ratio of 0.77. Needs Linux with
 * user namespaces and bubblewrap.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeHistory, placeOf, writ } from './long-history.mjs'
import { row } from './measure.mjs'

const PEAK = fileURLToPath(new URL('peak.mjs', import.meta.url))

const FACTS = Number(process.env.WRIT_BENCH_HISTORY ?? 100_000)
const TURNS = 12
const GOAL = 1 / 1.3

export const title = `everyday commands after ${FACTS} facts (a second; more is better)`

const FLOW = {
  type: 'flow_v1',
  flow_id: 'one-step',
  title: '',
  nodes: [
    {
      node_id: 'one',
      kind: 'WORK',
      title: '',
      phase_id: 'P',
      actor: 'writer',
      executor: { command: ['sh', 'writer.sh'] },
      max_attempts: 1,
    },
  ],
  edges: [],
}
const ARTIFACT = { name: 'note', format: 'md', content: 'done' }
/** A participant has to do something: it asks for one act, and delivers. */
const WRITER = `printf '{"operation":{"type":"COMMAND_EXECUTION","argv":["true"],"cwd":"%s"}}\\n' "$PWD" >&3
read -r answer <&3
cat <<'END'
${JSON.stringify({ result_type: 'ARTIFACT', artifact: ARTIFACT })}
END
`

const COMMANDS = {
  'writ exec -- true': ['exec', '--', 'true'],
  'writ inbox': ['inbox'],
  'writ doctor': ['doctor'],
  'writ flow run, one step': ['flow', 'run', 'flow.json'],
}

export async function measure() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-bench-history-')))
  try {
    const homes = { long: join(folder, 'long'), empty: join(folder, 'empty') }
    await makeHistory(homes.long, FACTS)
    await makeHistory(homes.empty, 0)
    const places = Object.fromEntries(
      Object.entries(homes).map(([name, home]) => [name, prepared(placeOf(home))]),
    )
    // The first command folds everything, once.
    const first = timed(places.long, ['exec', '--', 'true'])
    const best = bestTimes(places)
    return [
      ...Object.keys(COMMANDS).map((what) =>
        row(what, 'long', 1000 / best.long[what], 'new', 1000 / best.empty[what], GOAL),
      ),
      row(
        'writ exec -- true',
        'with what is kept',
        1000 / best.long['writ exec -- true'],
        'the first, from all facts',
        1000 / first,
        null,
      ),
      ...memory(places),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function prepared(place) {
  writeFileSync(join(place.project, 'flow.json'), JSON.stringify(FLOW))
  writeFileSync(join(place.project, 'writer.sh'), WRITER)
  return place
}

/** In milliseconds; all in turns, so that a busy moment hits them alike. */
function bestTimes(places) {
  const best = {}
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [what, args] of Object.entries(COMMANDS)) {
      for (const [name, place] of Object.entries(places)) {
        best[name] ??= {}
        const took = timed(place, args)
        best[name][what] = Math.min(best[name][what] ?? took, took)
      }
    }
  }
  return best
}

function timed(place, args) {
  const started = performance.now()
  writ(place, args)
  return performance.now() - started
}

/** How many would fit into a gigabyte at the peak of their resident memory. */
function memory(places) {
  const peak = ({ project, env }) => {
    const { stderr } = spawnSync(process.execPath, [PEAK, 'inbox'], {
      cwd: project,
      env,
      encoding: 'utf8',
      timeout: 120_000,
    })
    return Number(/^peak (\d+)$/m.exec(stderr)?.[1])
  }
  const [long, empty] = [peak(places.long), peak(places.empty)]
  return [row('writ inbox, peaks in a GB', 'long', 1024 / long, 'new', 1024 / empty, GOAL)]
}
