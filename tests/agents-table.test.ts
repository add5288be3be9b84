/**
 * The table of agents in docs/sessions.md says what the adapters and the doctor's results say. With
 * WRIT_RECORD=1 the table is written.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type AgentHost, HOSTS } from '../src/hosts/index.ts'
import { AGENT_NAMES } from './agents/programs.ts'

const PAGE = 'docs/sessions.md'
const [BEGIN, END] = [
  '<!-- agents: written by tests/agents-table.test.ts -->',
  '<!-- agents end -->',
]

const DOCTOR: Readonly<Record<string, Readonly<Record<string, string>>>> = JSON.parse(
  readFileSync('tests/agents/doctor.json', 'utf8'),
).ends

const HEAD = [
  '| agent | in a session | reports to a session | hooks do not cover | keys | wrapped, with a broken hook |',
  '|---|---|---|---|---|---|',
]

function row(host: AgentHost): string {
  const cells = [inSession(host), reported(host), unreported(host), keys(host), broken(host)]
  return `| ${host.title} | ${cells.join(' | ')} |`
}

function inSession({ name, tested }: AgentHost): string {
  if (!AGENT_NAMES.includes(name)) return 'not tried'
  return `whole turns, ${tested.join(', ')}`
}

function reported({ hooks }: AgentHost): string {
  if (!hooks.modes.includes('session')) return 'nothing; changes settle at pauses'
  return Object.keys(hooks.events).join(', ')
}

function unreported({ hooks }: AgentHost): string {
  return (
    hooks.uncovered.map(({ tool }) => tool.replaceAll('|', '\\|')).join('; ') || 'nothing known'
  )
}

function keys({ endpoints, state }: AgentHost): string {
  const names = [...new Set(endpoints.flatMap(({ key }) => key.variables.slice(0, 1)))]
  const outside = names.map((name) => `\`${name}\` outside`)
  const inside = state.logins.map(({ file }) => `\`~/${file}\` inside`)
  return [...outside, ...inside].join('; ') || 'no model known'
}

function broken({ name }: AgentHost): string {
  const ends = DOCTOR[name]
  if (ends === undefined) return 'not measured'
  const run = Object.entries(ends).filter(([, end]) => end.includes('executed'))
  if (run.length === 0) return `nothing ran past writ in ${Object.keys(ends).length} trials`
  return `ran for real: ${run.map(([fault]) => fault).join('; ')}`
}

it('lists every agent as its adapter and the doctor have it', () => {
  const page = readFileSync(PAGE, 'utf8')
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)]
  expect(from).toBeGreaterThan(0)
  const table = `${BEGIN}\n${[...HEAD, ...HOSTS.map(row)].join('\n')}\n`
  if (process.env['WRIT_RECORD'] === '1') {
    writeFileSync(PAGE, `${page.slice(0, from)}${table}${page.slice(to)}`)
  } else expect(page.slice(from, to)).toBe(table)
})
