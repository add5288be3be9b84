/**
 * Sessions of coding agents: what they cost next to the same work outside, and how often a person is
 * asked. Counts come from the corpora of tests/corpus: routine work, all of it in one session, and
 * scripts with a hidden effect. `WRIT_BENCH_FILES` sets the size of the tree.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { row } from './measure.mjs'

export const title = 'sessions'

const FILES = Number(process.env.WRIT_BENCH_FILES ?? 50_000)
const FOLDER_FILES = 500
const ROUNDS = 5
const CHANGED = 10
const WRIT = ['bin/writ.cjs'].map((file) => join(process.cwd(), file))
const AGENT = 'while IFS= read -r line; do eval "$line"; echo "done: $line"; done'

export async function measure() {
  return [...(await speedRows()), ...(await corpusRows())]
}

async function speedRows() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-bench-')))
  try {
    const place = makePlace(folder)
    const starts = startTimes(place)
    const agent = new LineAgent(place)
    const inside = []
    const outside = []
    const settles = []
    const commits = []
    await agent.does('true')
    for (let round = 0; round < ROUNDS; round++) {
      outside.push(timed(() => run(place, 'git', ['status', '--porcelain'])))
      inside.push(await agent.seconds('git status --porcelain >/dev/null'))
      await agent.does(changeText(round))
      settles.push(timed(() => run(place, process.execPath, [...WRIT, 'session', 'settle'])))
      commits.push(timedCommit(place, round))
    }
    await agent.ends()
    const rate = (list) => 1 / Math.min(...list)
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
        rate(inside),
        'outside',
        rate(outside),
        1 / 1.5,
      ),
      row(
        `settle of ${CHANGED} files among ${FILES}, times/s`,
        'writ session settle',
        rate(settles),
        'git add, git commit with fsync',
        rate(commits),
        1 / 1.5,
      ),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

function makePlace(folder) {
  const project = join(folder, 'project')
  const home = join(folder, 'home')
  mkdirSync(project)
  mkdirSync(home)
  for (let file = 0; file < FILES; file++) {
    const at = join(project, `d${Math.floor(file / FOLDER_FILES)}`)
    if (file % FOLDER_FILES === 0) mkdirSync(at)
    writeFileSync(join(at, `f${file}.txt`), `${file}\n`)
  }
  const env = { ...process.env, HOME: home, XDG_STATE_HOME: join(folder, 'state'), NO_COLOR: '1' }
  const place = { project, env }
  const author = ['-c', 'user.name=ann', '-c', 'user.email=ann@example.org']
  run(place, 'git', ['init', '-q'])
  run(place, 'git', ['add', '-A'])
  run(place, 'git', [...author, 'commit', '-qm', 'start'])
  run(place, process.execPath, [...WRIT, 'init', '--no-pass', '--name', 'ann'])
  return place
}

function run({ project, env }, program, args) {
  execFileSync(program, args, { cwd: project, env, stdio: ['ignore', 'ignore', 'pipe'] })
}

function timed(work) {
  const started = performance.now()
  work()
  return (performance.now() - started) / 1000
}

function startTimes(place) {
  const times = { run: [], exec: [] }
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of ['run', 'exec']) {
      times[name].push(timed(() => run(place, process.execPath, [...WRIT, name, '--', 'true'])))
    }
  }
  return times
}

/** The same change, so that both write as much. */
function changeText(round) {
  const files = Array.from({ length: CHANGED }, (_, at) => `d${at}/f${at * FOLDER_FILES}.txt`)
  return `for f in ${files.join(' ')}; do echo ${round} >> $f; done`
}

/** The settle before has left the change in the tree. */
function timedCommit(place, round) {
  const words = ['-c', 'user.name=ann', '-c', 'user.email=ann@example.org', '-c', 'core.fsync=all']
  return timed(() => {
    run(place, 'git', ['add', '-A'])
    run(place, 'git', [...words, 'commit', '-qm', `round ${round}`])
  })
}

/** An agent that runs one line after another in a session. */
class LineAgent {
  #child
  #out = ''
  #heard = () => undefined

  constructor({ project, env }) {
    const words = [...WRIT, 'run', '--settle', 'never', '--', 'bash', '-c', AGENT]
    const stdio = ['pipe', 'pipe', 'ignore']
    this.#child = spawn(process.execPath, words, { cwd: project, env, stdio })
    this.#child.stdout.on('data', (chunk) => {
      this.#out += chunk
      this.#heard()
    })
    this.#child.once('exit', () => this.#heard())
  }

  async does(line) {
    this.#out = ''
    this.#child.stdin.write(`${line}\n`)
    while (!this.#out.includes(`done: ${line}`)) {
      if (this.#child.exitCode !== null) throw new Error('the session ended')
      await new Promise((resolve) => {
        this.#heard = resolve
      })
    }
    return this.#out
  }

  /** How long a command takes by the clock inside, with the start of its process. */
  async seconds(command) {
    const out = await this.does(`a=$(date +%s%N); ${command}; echo took $(($(date +%s%N) - a))`)
    return Number(/took (\d+)/.exec(out)[1]) / 1e9
  }

  ends() {
    this.#child.stdin.end()
    return new Promise((resolve) => {
      this.#child.once('exit', resolve)
    })
  }
}

async function corpusRows() {
  const { routine, hidden } = await corpus()
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

/** The program is TypeScript, which Node starts from JavaScript only. */
async function corpus() {
  const folder = join(process.cwd(), '.cache', `sessions-${process.pid}`)
  const outfile = join(folder, 'session.mjs')
  await build({
    entryPoints: ['tests/corpus/session.program.ts'],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
  })
  try {
    const { status, stdout } = spawnSync(process.execPath, [outfile], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      maxBuffer: 1 << 28,
    })
    if (status !== 0) throw new Error(`the corpora in sessions ended with ${status}`)
    return JSON.parse(stdout)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
