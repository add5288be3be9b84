/**
 * `npm run corpus [NAME…]`: the corpora whole, or the tasks whose ids begin with a name: scripts with a
 * hidden side effect, and routine work. Prints what was found, missed and asked, by user, and writes
 * bench/results/corpus.json when everything was run. A miss or an alarm that is not known makes the exit
 * status 1.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { prepare, ROOT } from './setup.mjs'

await prepare()
const only = process.argv.slice(2)
const started = performance.now()
const parallel = Number(process.env.WRIT_CORPUS_PARALLEL ?? Math.max(2, availableParallelism()))
const lines = await collect(await bundle(), { only, parallel })
const seconds = Math.round((performance.now() - started) / 1000)
const users = [...new Set(lines.map(({ user }) => user))]
const rows = users.map((user) => summary(lines.filter((line) => line.user === user)))
for (const [index, user] of users.entries()) print(user, rows[index])
console.log(`${seconds} s`)
if (only.length === 0) write()
process.exit(lines.length > 0 && lines.every(isGood) ? 0 : 1)

/** The program is TypeScript, which Node starts from JavaScript only. */
async function bundle() {
  const { build } = await import('esbuild')
  const folder = join(ROOT, '.cache', `corpus-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const outfile = join(folder, 'corpus.mjs')
  await build({
    entryPoints: [join(ROOT, 'tests/corpus/corpus.program.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'error',
  })
  return outfile
}

async function collect(program, order) {
  const child = spawn(process.execPath, [program, JSON.stringify(order)], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const lines = []
  const ended = new Promise((resolved) => child.on('close', resolved))
  for await (const text of createInterface({ input: child.stdout })) {
    const line = JSON.parse(text)
    lines.push(line)
    const faults = line.kind === 'hidden' ? line.wrong : line.limit === null ? line.alarms : []
    console.log(`${isGood(line) ? 'ok  ' : 'FAIL'} ${line.user}  ${line.id}`)
    for (const fault of faults) console.log(`       ${fault}`)
    if (line.limit) console.log(`       known: ${line.limit}`)
    if (line.broken) console.log(`       the task does not work: ${line.broken}`)
  }
  const status = await ended
  if (status !== 0) {
    console.error(`writ: the program of the corpora ended with ${status}`)
    process.exit(4)
  }
  return lines
}

function isGood(line) {
  if (line.kind === 'hidden') return line.wrong.length === 0
  return line.broken === null && line.alarms.length > 0 === (line.limit !== null)
}

function summary(lines) {
  const hidden = lines.filter(({ kind }) => kind === 'hidden')
  const routine = lines.filter(({ kind }) => kind === 'routine')
  const missed = hidden.filter(({ found }) => Object.values(found).includes(null))
  // Refused without a trace is no harm done, but nobody saw it either.
  const isSeen = (how) => typeof how === 'string' && how !== 'refused'
  const ways = (way) => hidden.filter(({ found }) => isSeen(found[way])).length
  const refused = hidden.filter(({ found }) => Object.values(found).includes('refused')).length
  const sum = (way) => routine.reduce((total, { prompts }) => total + prompts[way], 0)
  return {
    hidden: hidden.length,
    real: hidden.filter(({ isReal }) => isReal).length,
    found: hidden.length - missed.length - refused,
    refused,
    foundDeclared: ways('declared'),
    foundUndeclared: ways('undeclared'),
    foundProposed: ways('proposed'),
    missed: missed.map(({ id }) => id),
    twins: hidden.filter(({ twin }) => twin === null).length,
    routine: routine.length,
    falseAlarms: routine.filter(({ alarms }) => alarms.length > 0).map(({ id }) => id),
    promptsDeclared: sum('declared'),
    promptsUndeclared: sum('undeclared'),
  }
}

function print(user, row) {
  const per = (count) => (row.routine === 0 ? '' : `, ${(count / row.routine).toFixed(2)} a task`)
  console.log(`
as ${user}
  hidden side effects        ${row.hidden}, real without writ ${row.real}
  found                      ${row.found} (declared ${row.foundDeclared}, undeclared ${row.foundUndeclared}, proposed by an agent ${row.foundProposed})
  refused, nothing to show   ${row.refused}
  missed                     ${row.missed.length} ${row.missed.join(' ')}
  honest twins let through   ${row.twins}
  routine tasks              ${row.routine}
  false alarms               ${row.falseAlarms.length} ${row.falseAlarms.join(' ')}
  questions, declared        ${row.promptsDeclared}${per(row.promptsDeclared)}
  questions, not declared    ${row.promptsUndeclared}${per(row.promptsUndeclared)}`)
}

function write() {
  const machine = { node: process.version, cores: cpus().length, model: cpus()[0]?.model }
  const byUser = Object.fromEntries(users.map((user, index) => [user, rows[index]]))
  const tasks = lines.map(({ alarms, wrong, broken, ...line }) => line)
  mkdirSync(join(ROOT, 'bench', 'results'), { recursive: true })
  writeFileSync(
    join(ROOT, 'bench', 'results', 'corpus.json'),
    `${JSON.stringify({ name: 'corpus', machine, seconds, users: byUser, tasks }, null, 2)}\n`,
  )
}
