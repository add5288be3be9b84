/** A project with a home of writ, and an agent in a session of it that does what a bench tells it. */
import { execFileSync, spawn } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

export const WRIT = join(process.cwd(), 'bin/writ.cjs')
const AGENT = 'while IFS= read -r line; do eval "$line"; echo "done: $line"; done'
const AUTHOR = ['-c', 'user.name=ann', '-c', 'user.email=ann@example.org']

/** With these files, committed; `work` gets the place, which is removed after it. */
export async function withPlace(files, work) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'writ-bench-')))
  try {
    const [project, home, state] = ['project', 'home', 'state'].map((name) => join(folder, name))
    for (const made of [project, home]) mkdirSync(made)
    for (const [name, text] of files) {
      mkdirSync(dirname(join(project, name)), { recursive: true })
      writeFileSync(join(project, name), text)
    }
    const env = { ...process.env, HOME: home, XDG_STATE_HOME: state, NO_COLOR: '1' }
    const place = { folder, project, state, env }
    run(place, 'git', ['init', '-q'])
    // Git would pack the many new objects in the background, next to what is measured.
    run(place, 'git', ['config', 'gc.auto', '0'])
    run(place, 'git', ['config', 'maintenance.auto', 'false'])
    run(place, 'git', ['add', '-A'])
    run(place, 'git', [...AUTHOR, 'commit', '-qm', 'start'])
    run(place, process.execPath, [WRIT, 'init', '--no-pass', '--name', 'ann'])
    return await work(place)
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

export function commit(place, message) {
  run(place, 'git', ['add', '-A'])
  run(place, 'git', [...AUTHOR, '-c', 'core.fsync=all', 'commit', '-qm', message])
}

export function run({ project, env }, program, args) {
  execFileSync(program, args, { cwd: project, env, stdio: ['ignore', 'ignore', 'pipe'] })
}

export function timed(work) {
  const started = performance.now()
  work()
  return (performance.now() - started) / 1000
}

/** How often a second, by the fastest. */
export function rate(seconds) {
  return 1 / Math.min(...seconds)
}

/** An agent that runs one line after another in a session. */
export class LineAgent {
  child
  #place
  #control = null
  #out = ''
  #heard = () => undefined

  constructor(place) {
    this.#place = place
    const words = [WRIT, 'run', '--settle', 'never', '--', 'bash', '-c', AGENT]
    const { project, env } = place
    const stdio = ['pipe', 'pipe', 'ignore']
    this.child = spawn(process.execPath, words, { cwd: project, env, stdio })
    this.child.stdout.on('data', (chunk) => {
      this.#out += chunk
      this.#heard()
    })
    this.child.once('exit', () => this.#heard())
  }

  async does(line) {
    this.#out = ''
    this.child.stdin.write(`${line}\n`)
    while (!this.#out.includes(`done: ${line}`)) {
      if (this.child.exitCode !== null) throw new Error('the session ended')
      await new Promise((resolve) => {
        this.#heard = resolve
      })
    }
    return this.#out
  }

  /** How long a command takes by the clock inside, with the start of its process. */
  async seconds(command) {
    const line = `a=$(date +%s%N); ${command}; s=$?; echo took $(($(date +%s%N) - a)) $s`
    const [, took, status] = /took (\d+) (\d+)/.exec(await this.does(line))
    if (status !== '0') throw new Error(`${command} ended with ${status} inside`)
    return Number(took) / 1e9
  }

  /** Asks the process of the session itself to settle, without the start of a command. */
  async settle() {
    this.#control ??= this.#findControl()
    const answer = await new Promise((resolve, reject) => {
      const socket = createConnection({ path: this.#control })
      let text = ''
      socket.once('error', reject)
      socket.on('data', (chunk) => {
        text += chunk
      })
      socket.once('end', () => resolve(text))
      socket.write('{"order":"settle"}\n')
    })
    const { ok, answer: settled, message } = JSON.parse(answer)
    if (!ok) throw new Error(message)
    return settled
  }

  /** The path of a socket may have 107 bytes; through an open directory it has fewer. */
  #findControl() {
    const homes = join(this.#place.state, 'writ')
    const found = readdirSync(homes, { recursive: true }).find((name) => name.endsWith('/control'))
    return `/proc/self/fd/${openSync(dirname(join(homes, found)), 'r')}/control`
  }

  ends() {
    this.child.stdin.end()
    return new Promise((resolve) => {
      this.child.once('exit', resolve)
    })
  }
}
