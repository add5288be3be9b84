/**
 * What people do in sessions next to the same outside: a build, a run of tests, `npm install`; and what a
 * session itself costs over time: a settle with nothing to settle, and memory after many settles.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { row } from './measure.mjs'
import { LineAgent, rate, run, timed, withPlace } from './sessions-place.mjs'

const ROUNDS = 2
const SETTLES = Number(process.env.WRIT_BENCH_SETTLES ?? 1_000)
const FIRST_SETTLES = 10
const EMPTY_ROUNDS = 40
const MODULES = join(process.cwd(), 'node_modules')
/** Packages of this checkout, packed: nothing is fetched. */
const PACKAGES = ['typescript', 'yaml', 'typebox', 'esbuild', 'diff', 'croner']

export async function workRows() {
  return withPlace(workFiles(), async (place) => {
    const dependencies = packPackages(place)
    const manifest = { name: 'work', version: '1.0.0', private: true, dependencies }
    const install =
      'rm -rf node_modules package-lock.json; ' +
      `echo '${JSON.stringify(manifest)}' > package.json; ` +
      'npm install --offline --ignore-scripts --no-audit --no-fund --loglevel=error --cache ./.npm'
    const works = {
      'a build': [`node ${join(MODULES, 'typescript/bin/tsc')} -p .`, 1 / 1.1],
      'a run of tests': ['node --test tests >/dev/null', 1 / 1.1],
      'npm install': [install, 1 / 1.2],
    }
    const agent = new LineAgent(place)
    const rows = []
    await agent.does('true')
    for (const [name, [command, goal]] of Object.entries(works)) {
      const [inside, outside] = [[], []]
      for (let round = 0; round < ROUNDS; round++) {
        outside.push(timed(() => run(place, 'bash', ['-c', command])))
        inside.push(await agent.seconds(command))
      }
      rows.push(row(`${name}, times/s`, 'inside', rate(inside), 'outside', rate(outside), goal))
    }
    await agent.ends()
    return rows
  })
}

/** TypeScript with types to compare, and tests that start a process each. */
function* workFiles() {
  const options = {
    rootDir: 'src',
    outDir: 'out',
    strict: true,
    target: 'es2022',
    module: 'nodenext',
  }
  const compilerOptions = { ...options, moduleResolution: 'nodenext', types: [] }
  yield ['tsconfig.json', JSON.stringify({ compilerOptions, include: ['src'] })]
  yield ['.gitignore', 'node_modules\nout\n.npm\n']
  for (let file = 0; file < 150; file++) {
    const before = file === 0 ? '' : `import { f${file - 1} } from './m${file - 1}.js'\n`
    const inner = file === 0 ? 'x.length' : `f${file - 1}(x.map(String))`
    const body = `export function f${file}(x: readonly string[]): number { return ${inner} + ${file} }\n`
    yield [`src/m${file}.ts`, before + body]
  }
  for (let file = 0; file < 12; file++) {
    const text = `const t=require('node:test');for(let i=0;i<50;i++)t.test('t'+i,()=>{JSON.parse(JSON.stringify(Array.from({length:2000},(_, n)=>({n}))))})\n`
    yield [`tests/t${file}.test.cjs`, text]
  }
}

function packPackages(place) {
  const vendor = join(place.folder, 'vendor')
  mkdirSync(vendor)
  const found = PACKAGES.map((name) => {
    const words = ['pack', join(MODULES, name), '--ignore-scripts', '--pack-destination', vendor]
    const { status, stdout, stderr } = spawnSync('npm', [...words, '--loglevel=error'], {
      cwd: place.folder,
      env: place.env,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`npm pack ${name}: ${stderr}`)
    return [name, stdout.trim().split('\n').at(-1)]
  })
  // Inside the project, since a session sees no other place of /tmp.
  run(place, 'cp', ['-r', vendor, join(place.project, 'vendor')])
  return Object.fromEntries(found.map(([name, file]) => [name, `file:vendor/${file}`]))
}

export async function settleRows() {
  return withPlace([['a.txt', 'a\n']], async (place) => {
    const agent = new LineAgent(place)
    await agent.does('true')
    await agent.settle()
    const [empty, spawned] = [[], []]
    for (let round = 0; round < EMPTY_ROUNDS; round++) {
      spawned.push(timed(() => spawnSync('true')))
      const started = performance.now()
      await agent.settle()
      empty.push((performance.now() - started) / 1000)
    }
    const memory = {}
    for (let count = 1; count <= SETTLES; count++) {
      await agent.does(`echo ${count} > a.txt`)
      const { promoted } = await agent.settle()
      if (promoted?.promoted !== true) throw new Error(`settle ${count} promoted nothing`)
      if (count === FIRST_SETTLES || count === SETTLES) memory[count] = residentMb(agent.child.pid)
    }
    await agent.ends()
    return [
      row(
        'settle with nothing pending, from the order to the answer of the session, times/s',
        'settle',
        rate(empty),
        'spawn true',
        rate(spawned),
        0.5,
      ),
      // The smaller the better: the ratio is turned around.
      row(
        `memory of \`writ run\`, 1/GB, after ${SETTLES} settles`,
        'then',
        1024 / memory[SETTLES],
        `after ${FIRST_SETTLES}`,
        1024 / memory[FIRST_SETTLES],
        1 / 1.2,
      ),
    ]
  })
}

function residentMb(pid) {
  const [, kb] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(kb) / 1024
}
