/**
 * Sessions of coding agents: what they cost next to the same work outside, and how often a person is
 * asked. Counts come from the corpora of tests/corpus: routine work, all of it in one session, and
 * scripts with a hidden effect. `WRIT_BENCH_FILES` sets the size of the tree.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { notRun, row } from './measure.mjs'
import { gatewayRows } from './sessions-gateway.mjs'
import { commit, LineAgent, rate, run, timed, WRIT, withPlace } from './sessions-place.mjs'
import { settleRows, workRows } from './sessions-work.mjs'

export const title = 'sessions'

const FILES = Number(process.env.WRIT_BENCH_FILES ?? 50_000)
const FOLDER_FILES = 500
const ROUNDS = 5
const CHANGED = 10

/** `WRIT_BENCH_ONLY` names parts, for trying one: tree, work, settle, gateway, turns, corpus. */
const PARTS = {
  tree: speedRows,
  work: workRows,
  settle: settleRows,
  gateway: gatewayRows,
  turns: turnRows,
  corpus: corpusRows,
}

export async function measure() {
  const only = process.env.WRIT_BENCH_ONLY?.split(',') ?? Object.keys(PARTS)
  const rows = []
  for (const name of only) rows.push(...(await PARTS[name]()))
  return rows
}

async function speedRows() {
  return withPlace(manyFiles(), async (place) => {
    const starts = startTimes(place)
    const agent = new LineAgent(place)
    const times = { outside: [], overlay: [], cold: [], inside: [], settles: [], commits: [] }
    const overlay = bareOverlay(place)
    const status = 'git status --porcelain >/dev/null'
    await agent.does('true')
    for (let round = 0; round < ROUNDS; round++) {
      times.outside.push(timed(() => run(place, 'git', ['status', '--porcelain'])))
      if (overlay !== null) times.overlay.push(timed(() => run(overlay, 'bash', ['-c', status])))
      times.cold.push(await agent.seconds(status))
      times.inside.push(await agent.seconds(status))
      await agent.does(changeText(round))
      times.settles.push(timed(() => run(place, process.execPath, [WRIT, 'session', 'settle'])))
      // The settle before has left the change in the tree.
      times.commits.push(timed(() => commit(place, `round ${round}`)))
    }
    await agent.ends()
    overlay?.unmount()
    const outside = ['outside', rate(times.outside)]
    return [
      row(
        'start of a session, starts/s',
        'writ run -- true',
        rate(starts.run),
        'writ exec -- true',
        rate(starts.exec),
        1 / 1.5,
      ),
      row(
        `git status on ${FILES} files, times/s`,
        'inside',
        rate(times.inside),
        ...outside,
        1 / 1.5,
      ),
      overlay === null
        ? notRun('the same on an overlay without writ: the part of the kernel', 'it needs root')
        : row(
            'the same on an overlay without writ: the part of the kernel',
            'overlay',
            rate(times.overlay),
            ...outside,
            null,
          ),
      row('the same right after a settle', 'inside', rate(times.cold), ...outside, null),
      row(
        `settle of ${CHANGED} files among ${FILES}, times/s`,
        'writ session settle',
        rate(times.settles),
        'git add, git commit with fsync',
        rate(times.commits),
        1 / 1.5,
      ),
    ]
  })
}

/** The tree below an empty overlay, which is what a session adds to it at least; null where it cannot be. */
function bareOverlay(place) {
  const [upper, work, project] = ['upper', 'work', 'merged'].map((name) => join(place.folder, name))
  for (const made of [upper, work, project]) mkdirSync(made)
  const options = `lowerdir=${place.project},upperdir=${upper},workdir=${work},index=off,metacopy=off`
  const { status } = spawnSync('mount', ['-t', 'overlay', 'bench', '-o', options, project])
  if (status !== 0) return null
  return { ...place, project, unmount: () => spawnSync('umount', [project]) }
}

function* manyFiles() {
  for (let file = 0; file < FILES; file++) {
    yield [`d${Math.floor(file / FOLDER_FILES)}/f${file}.txt`, `${file}\n`]
  }
}

function startTimes(place) {
  const times = { run: [], exec: [] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of ['run', 'exec']) {
      times[name].push(timed(() => run(place, process.execPath, [WRIT, name, '--', 'true'])))
    }
  }
  return times
}

/** The same change, so that both write as much. */
function changeText(round) {
  const files = Array.from({ length: CHANGED }, (_, at) => `d${at}/f${at * FOLDER_FILES}.txt`)
  return `for f in ${files.join(' ')}; do echo ${round} >> $f; done`
}

async function turnRows() {
  const rows = []
  for (const name of ['claude-code', 'codex']) {
    const what = `a whole scripted turn of ${name}, times/s`
    const found = await programResult('tests/agents/turn-times.program.ts', [name])
    if (found.missing === true) {
      rows.push(notRun(what, `${name} is not installed (npm run hosts)`))
      continue
    }
    const { inside, outside } = found
    rows.push(row(what, 'inside', 1 / inside, 'outside', 1 / outside, 1 / 1.2))
  }
  return rows
}

async function corpusRows() {
  const { routine, hidden } = await programResult('tests/corpus/session.program.ts', [])
  const plain = routine.filter(({ isAsking }) => !isAsking)
  const asking = routine.filter(({ isAsking }) => isAsking)
  const quiet = (tasks) => tasks.filter(({ questions }) => questions === 0).length
  const passed = routine.filter(({ blocked }) => !blocked).length
  const kept = hidden.filter(({ isPromoted }) => !isPromoted).length
  return [
    row(
      'routine tasks without deletions or `ask` paths',
      'without a question',
      quiet(plain),
      'tasks',
      plain.length,
      0.9,
    ),
    row('other routine tasks', 'without a question', quiet(asking), 'tasks', asking.length, null),
    row('routine tasks', 'not blocked', passed, 'tasks', routine.length, null),
    row('hidden effects', 'not made real', kept, 'tasks', hidden.length, 1),
  ]
}

/** Runs a program, which is TypeScript and so is built first, and reads the JSON that it prints. */
async function programResult(file, words) {
  const folder = join(process.cwd(), '.cache', `sessions-${process.pid}`)
  const outfile = join(folder, 'program.mjs')
  await build({
    entryPoints: [file],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
  })
  try {
    const { status, stdout } = spawnSync(process.execPath, [outfile, ...words], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 1 << 28,
    })
    if (status !== 0) throw new Error(`${file} ended with ${status}`)
    return JSON.parse(stdout)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
