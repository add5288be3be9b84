/**
 * `npm run bench [NAME…]`: runs the benches under bench/, prints one table with ratios against the
 * peers of the same run, and writes bench/results/<name>.json. A goal that is missed is marked and
 * makes the exit status 1.
 */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { prepare, ROOT } from './setup.mjs'

await prepare()
const wanted = process.argv.slice(2)
const files = readdirSync(join(ROOT, 'bench')).filter((file) => file.endsWith('.bench.mjs'))
let missed = 0
for (const file of files) {
  const name = file.replace('.bench.mjs', '')
  if (wanted.length > 0 && !wanted.includes(name)) continue
  const { title, measure } = await import(join(ROOT, 'bench', file))
  const rows = await measure()
  missed += print(title, rows)
  const machine = { node: process.version, cores: cpus().length, model: cpus()[0]?.model }
  mkdirSync(join(ROOT, 'bench', 'results'), { recursive: true })
  writeFileSync(
    join(ROOT, 'bench', 'results', `${name}.json`),
    `${JSON.stringify({ name, machine, rows }, null, 2)}\n`,
  )
}
process.exit(missed === 0 ? 0 : 1)

function print(title, rows) {
  const table = rows.map(({ what, ours, oursValue, theirs, theirsValue, ratio, goal }) => [
    what,
    oursValue === null ? ours : `${ours} ${amount(oursValue)}`,
    `${theirs} ${theirsValue === null ? 'not run' : amount(theirsValue)}`,
    ratio === null ? '' : `${ratio.toFixed(2)}×`,
    goal === null ? '' : `≥ ${goal.toFixed(2)}× ${ratio >= goal ? 'met' : 'MISSED'}`,
  ])
  const head = ['what', 'writ', 'beside', 'ratio', 'goal']
  const widths = head.map((_, column) =>
    Math.max(...[head, ...table].map((cells) => cells[column].length)),
  )
  console.log(`\n${title}`)
  for (const cells of [head, ...table])
    console.log(cells.map((cell, column) => cell.padEnd(widths[column])).join('  '))
  return rows.filter(({ ratio, goal }) => goal !== null && ratio < goal).length
}

function amount(value) {
  if (value >= 1e6) return `${(value / 1e6).toFixed(2)} M`
  if (value >= 1e3) return `${(value / 1e3).toFixed(1)} k`
  return value.toFixed(1)
}
