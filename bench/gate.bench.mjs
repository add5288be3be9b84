/**
 * The gate: start of `writ exec`, a rehearsal, and the whole lifecycle, against `node -e 0`, the bare
 * pipeline of namespaces and overlay, a shell that makes the same changes, and the sandbox-runtime of
 * npm. Rates a second; a goal of "at most 1.3 times as long" is a ratio of 0.77.
 *
 * Needs Linux with user namespaces and bubblewrap. The part of an ordinary user runs in a child.
 */
import { spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { row } from './measure.mjs'

export const title = 'gate (per second; more is better)'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const WRIT = join(ROOT, 'bin', 'writ.cjs')
const USER = { uid: 1777, gid: 1777 }
const TURNS = 40

export async function measure() {
  const rows = [
    ...(await exec()),
    ...(await rehearsals('root')),
    ...(await building()),
    ...(await lifecycle()),
  ]
  if (process.getuid() === 0) rows.push(...asUser())
  return rows
}

/** Everything that the doors of some rooms offer. */
async function rooms(...names) {
  const doors = names.map((name) => import(join(ROOT, 'dist', name, 'index.js')))
  return Object.assign({}, ...(await Promise.all(doors)))
}

function folderFor(name) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `writ-bench-${name}-`)))
  chmodSync(folder, 0o755)
  return folder
}

/** The best of many turns, all in turns, so that a busy moment hits them alike. In milliseconds. */
async function bestTimes(works, turns = TURNS) {
  const best = Object.fromEntries(
    Object.keys(works).map((name) => [name, Number.POSITIVE_INFINITY]),
  )
  for (let turn = 0; turn < turns; turn++) {
    for (const [name, work] of Object.entries(works)) {
      const started = performance.now()
      await work()
      best[name] = Math.min(best[name], performance.now() - started)
    }
  }
  return best
}

function run(program, args, options = {}) {
  return new Promise((resolved, rejected) => {
    const child = spawn(program, args, { stdio: 'ignore', ...options })
    child.once('error', rejected)
    child.once('exit', (status) => {
      if (status === 0) resolved()
      else rejected(new Error(`${program} ended with ${status}`))
    })
  })
}

function perSecond(ms) {
  return 1000 / ms
}

/** A process of its own, from start to end. */
async function exec() {
  const folder = folderFor('exec')
  const project = join(folder, 'project')
  mkdirSync(join(folder, 'home'), { recursive: true })
  mkdirSync(project)
  const env = { ...process.env, HOME: join(folder, 'home'), XDG_STATE_HOME: join(folder, 'state') }
  try {
    await run(process.execPath, [WRIT, 'init', '--no-pass'], { cwd: project, env })
    const best = await bestTimes(
      {
        node: () => run(process.execPath, ['-e', '0'], { cwd: project, env }),
        exec: () => run(process.execPath, [WRIT, 'exec', '--', 'true'], { cwd: project, env }),
      },
      20,
    )
    return [
      row(
        'writ exec -- true',
        'writ',
        perSecond(best.exec),
        'node -e 0',
        perSecond(best.node),
        null,
      ),
    ]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const PIPELINE = `mount -t tmpfs -o size=64m writ "$1/t" && mkdir "$1/t/u" "$1/t/w" &&
cd "$2" && mount -t overlay writ -o userxattr,lowerdir=.,upperdir="$1/t/u",workdir="$1/t/w" "$1/m" && cd / &&
exec bwrap --unshare-user --uid "$3" --gid "$4" --disable-userns --unshare-pid --unshare-net --unshare-ipc \
--unshare-uts --ro-bind / / --dev /dev --proc /proc --tmpfs /tmp --tmpfs /run --bind "$1/m" "$2" --chdir "$2" \
--clearenv --setenv PATH /usr/bin:/bin --cap-drop ALL --new-session --die-with-parent -- true`

/** Rehearsals of \`true\`, with their diff, in a process that lives on. */
async function rehearsals(who) {
  const { createDriver, scanLayers, makeMarker } = await rooms('sandbox', 'tree')
  const folder = folderFor('rehearse')
  const scope = join(folder, 'scope')
  for (const name of ['scope', 't', 'm', 'place']) mkdirSync(join(folder, name))
  const request = {
    scopeRoots: [scope],
    watchedRoots: [],
    hidden: [],
    caps: { cpuMs: 10_000, memoryMb: 256, diskMb: 64, durationMs: 10_000, processes: 128 },
    sockets: 'inside',
    allOwners: false,
  }
  const rehearse = async () => {
    const sandboxId = randomUUID()
    const marker = makeMarker(join(folder, 'place'), sandboxId, [scope], Date.now)
    const sandbox = await driver.open({ ...request, sandboxId })
    try {
      const outcome = await sandbox.run({
        argv: ['true'],
        cwd: scope,
        env: { PATH: '/usr/bin:/bin' },
        stdin: 'empty',
        terminal: null,
        onOutput: () => {},
        abort: new AbortController().signal,
      })
      if (outcome.exitCode !== 0) throw new Error('the rehearsal failed')
      await scanLayers(sandbox.layers, {
        marker,
        commandStartedAtMs: outcome.startedAtMs,
        maxBytes: 1 << 26,
        pathBytesMax: 4095,
        scopeRoots: [scope],
        isRoot: process.getuid() === 0,
        exclude: [],
      })
    } finally {
      void sandbox.close()
    }
  }
  const driver = createDriver()
  const ids = [String(process.getuid()), String(process.getgid())]
  try {
    const best = await bestTimes({
      pipeline: () => run('unshare', ['-Umr', 'sh', '-c', PIPELINE, 'sh', folder, scope, ...ids]),
      rehearsal: rehearse,
    })
    const goal = who === 'root' ? 1.6 : 1.3
    return [
      row(
        `rehearsal of true with diff, ${who}`,
        'writ',
        perSecond(best.rehearsal),
        'unshare+overlay+bwrap',
        perSecond(best.pipeline),
        1 / goal,
      ),
    ]
  } finally {
    await driver.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const BUILD = 'for f in *.c; do cc -O1 -c "$f" -o "$f.o" || exit 1; done; cc -o all *.o'

/** The same build outside and in a sandbox over the tree; how long opening takes is not in it. */
async function building() {
  const { createDriver } = await rooms('sandbox')
  const folder = folderFor('build')
  const driver = createDriver()
  const env = { PATH: '/usr/bin:/bin' }
  try {
    for (let index = 0; index < 20; index++) {
      const body =
        index === 0 ? 'int main(void){return 0;}' : `int f${index}(int a){return a*${index};}`
      writeFileSync(
        join(folder, `f${index}.c`),
        `#include <stdio.h>\n#include <stdlib.h>\n${body}\n`,
      )
    }
    const inside = async () => {
      const sandbox = await driver.open({
        sandboxId: randomUUID(),
        scopeRoots: [folder],
        watchedRoots: [],
        hidden: [],
        caps: { cpuMs: 60_000, memoryMb: 1_024, diskMb: 128, durationMs: 60_000, processes: 256 },
        sockets: 'inside',
        allOwners: false,
      })
      try {
        const started = performance.now()
        const { exitCode } = await sandbox.run({
          argv: ['sh', '-c', BUILD],
          cwd: folder,
          env,
          stdin: 'empty',
          terminal: null,
          onOutput: () => {},
          abort: new AbortController().signal,
        })
        if (exitCode !== 0) throw new Error('the build failed')
        return performance.now() - started
      } finally {
        await sandbox.close()
      }
    }
    let [best, bare] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    for (let turn = 0; turn < 5; turn++) {
      best = Math.min(best, await inside())
      const started = performance.now()
      await run('sh', ['-c', BUILD], { cwd: folder, env })
      bare = Math.min(bare, performance.now() - started)
      for (let index = 0; index < 20; index++)
        rmSync(join(folder, `f${index}.c.o`), { force: true })
    }
    return [
      row('a build in the sandbox', 'writ', perSecond(best), 'outside', perSecond(bare), 1 / 1.3),
    ]
  } finally {
    await driver.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const CHANGES = Array.from({ length: 10 }, (_, index) => `cp seed.txt made-${index}.txt`).join('; ')

/** Admit, rehearse, compare, decide, promote ten files, record durably; against the bare commands. */
async function lifecycle() {
  const host = await rooms('home', 'store', 'sandbox', 'service')
  const folder = folderFor('lifecycle')
  const project = join(folder, 'project')
  mkdirSync(join(folder, 'home'))
  mkdirSync(join(project, 'work'), { recursive: true })
  writeFileSync(join(project, 'work', 'seed.txt'), 'seed\n')
  const principal = { kind: 'human', id: 'ann', namespace: 'local' }
  const around = {
    cwd: project,
    env: { PATH: process.env.PATH, XDG_STATE_HOME: join(folder, 'state') },
    userDirectory: join(folder, 'home'),
    userName: 'ann',
  }
  const { home } = await host.makeHome(around, null, { principal, source: 'bench' })
  const ledger = await host.openLedger({ directory: home.state })
  const gate = await host.openGate({
    home,
    ledger,
    caller: { principal, streams: null, proof: 'none' },
    stream: 'main',
    stateRoot: host.stateRoot(around),
    userDirectory: around.userDirectory,
    environment: around.env,
    ancestors: [],
    hasPasskey: false,
    driver: host.createDriver({ disks: [join(home.state, 'stage')] }),
    nowMs: Date.now,
  })
  const clean = () => {
    for (let index = 0; index < 10; index++)
      rmSync(join(project, 'work', `made-${index}.txt`), { force: true })
  }
  try {
    const best = await bestTimes({
      clean,
      bare: () => run('sh', ['-c', CHANGES], { cwd: join(project, 'work') }),
      cleanAgain: clean,
      wait: () => new Promise((resolve) => setTimeout(resolve, 80)),
      gate: async () => {
        const answer = await gate.propose(proposal(project), {
          door: 'propose',
          declaredByApproval: false,
          dryRun: false,
          confirm: async () => ({ kind: 'wait' }),
          abort: new AbortController().signal,
        })
        if (!answer.promoted) throw new Error(JSON.stringify(answer.decision))
      },
    })
    const peer = await runtimeTime(folder)
    return [
      row(
        'whole lifecycle, 10 files promoted',
        'writ',
        perSecond(best.gate),
        'sh alone, unchecked',
        perSecond(best.bare),
        1 / 4,
      ),
      row(
        'whole lifecycle, 10 files promoted',
        'writ',
        perSecond(best.gate),
        'sandbox-runtime -c true',
        peer,
        peer === null ? null : 10,
      ),
    ]
  } finally {
    await gate.close()
    await ledger.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function proposal(project) {
  const work = join(project, 'work')
  return {
    descriptor: {
      descriptor_version: '1.0',
      action_id: randomUUID(),
      created_at: new Date().toISOString(),
      created_by: 'ai',
      intent_summary: 'Make ten files.',
      action_type: 'COMMAND_EXECUTION',
      risk_level: 'MEDIUM',
      scope: {
        filesystem: { paths: [work], recursive: true },
        network: { required: false },
        ui: { required: false },
      },
      resources: {
        max_cpu_ms: 10_000,
        max_memory_mb: 256,
        max_disk_mb: 64,
        max_duration_ms: 10_000,
      },
      preconditions: { paths_exist: [work], network_available: false, user_idle: false },
      effects: {
        filesystem: { create: [`${work}/made-*.txt`], modify: [], delete: [] },
        network: false,
        system_state_change: false,
      },
      sandbox: { required: true, sandbox_type: 'container', allow_network: false, max_runs: 1 },
      rollback: { supported: true, rollback_type: 'filesystem_snapshot', rollback_scope: 'scope' },
      confirmation: { required: false, reason: '', cooldown_on_repeat: false },
      audit: { log: true, log_level: 'SUMMARY', retain_days: 1 },
    },
    operation: { type: 'COMMAND_EXECUTION', argv: ['sh', '-c', CHANGES], cwd: work },
  }
}

/** Runs a second of the peer's command line; null when it cannot run here. */
async function runtimeTime(folder) {
  const program = join(ROOT, 'node_modules', '@anthropic-ai', 'sandbox-runtime', 'dist', 'cli.js')
  const call = () => run(process.execPath, [program, '-c', 'true'], { cwd: folder })
  try {
    await call()
    return perSecond((await bestTimes({ call }, 8)).call)
  } catch {
    return null
  }
}

/** The same rehearsals by an ordinary user, in a child that gives its rows as JSON. */
function asUser() {
  const folder = folderFor('user')
  chownSync(folder, USER.uid, USER.gid)
  const script = `import('${import.meta.url}').then(async ({ measureAsUser }) => console.log(JSON.stringify(await measureAsUser())))`
  const { stdout, stderr, status } = spawnSync(process.execPath, ['-e', script], {
    ...USER,
    cwd: '/',
    env: { PATH: process.env.PATH, HOME: folder, TMPDIR: folder },
    encoding: 'utf8',
    timeout: 300_000,
  })
  rmSync(folder, { recursive: true, force: true })
  if (status !== 0) throw new Error(`the part of an ordinary user failed: ${stderr}`)
  return JSON.parse(stdout)
}

export function measureAsUser() {
  return rehearsals('user')
}
