/**
 * Times a whole scripted turn of a real coding agent, inside a session and outside, and prints one JSON
 * document: `{ inside, outside }` in seconds, or `{ missing }` if the agent is not installed.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { startStandIn } from '../../src/hooks/doctor/stand-in.ts'
import { makeTrialPlace, prepareTrial, runTrial } from '../../src/hooks/doctor/trial.ts'
import { hostNamed } from '../../src/hosts/index.ts'
import { runInstalled } from '../../src/machine/index.ts'
import { programOf } from './programs.ts'

const ROUNDS = 2
const LIMIT_MS = 120_000
const WRIT = resolve('bin/writ.cjs')
const COMMANDS = ['echo one > one.txt; ls', 'echo two > two.txt; cat one.txt', 'git status --short']
const MADE = ['one.txt', 'two.txt']

function installed(name: string): readonly string[] | null {
  try {
    return programOf(name)
  } catch {
    return null
  }
}

async function timesOf(name: string, program: readonly string[]) {
  const host = hostNamed(name)
  if (host?.trial == null) throw new Error(`${name} cannot be tried`)
  const { trial } = host
  const folder = mkdtempSync(join(tmpdir(), 'writ-turns-'))
  const times: Record<'inside' | 'outside', number[]> = { inside: [], outside: [] }
  try {
    const place = makeTrialPlace(folder)
    const git = (...words: readonly string[]): string =>
      execFileSync('git', [...words], { cwd: place.project, encoding: 'utf8' })
    git('init', '-q')
    writeFileSync(join(place.project, 'a.txt'), 'a\n')
    prepareTrial(host, place, 'http://127.0.0.1:9')
    const state = join(folder, 'state')
    const env = { PATH: process.env['PATH'] ?? '', HOME: place.home, XDG_STATE_HOME: state }
    const writ = (words: readonly string[], input = ''): void => {
      const { status, stderr } = spawnSync(process.execPath, [WRIT, ...words], {
        cwd: place.project,
        env,
        input,
        encoding: 'utf8',
      })
      if (status !== 0) throw new Error(`writ ${words.join(' ')}: ${stderr}`)
    }
    writ(['init', '--no-pass', '--name', 'ann'])
    for (const { key } of host.endpoints) {
      for (const key_name of key.variables.slice(0, 1))
        writ(['secret', 'set', key_name], 'key-of-ann\n')
    }
    for (let round = 0; round < ROUNDS; round++) {
      for (const side of ['outside', 'inside'] as const) {
        const model = await startStandIn([
          ...COMMANDS.map((command) => trial.shell(command)),
          { text: 'done' },
        ])
        const { url } = model
        const words = trial.arguments({ url: '', project: '.' })
        const argv = [process.execPath, WRIT, 'run', '--model-url', url, '--', ...program, ...words]
        if (side === 'outside') prepareTrial(host, place, url)
        // The turn before made them: what is there already is no change that a session could promote.
        for (const name of MADE) rmSync(join(place.project, name), { force: true })
        const started = performance.now()
        const end =
          side === 'inside'
            ? await runInstalled({ argv, cwd: place.project, variables: env, limitMs: LIMIT_MS })
            : await runTrial({
                host,
                program,
                place,
                url,
                arguments: trial.open,
                variables: {},
                limitMs: LIMIT_MS,
              })
        times[side].push((performance.now() - started) / 1000)
        await model.close()
        if (end.status !== 0) throw new Error(`${name} ${side}: ${end.stderr}${end.stdout}`)
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  return { inside: Math.min(...times.inside), outside: Math.min(...times.outside) }
}

const [, , name = ''] = process.argv
const program = installed(name)
const found = program === null ? { missing: true } : await timesOf(name, program)
process.stdout.write(`${JSON.stringify(found)}\n`)
