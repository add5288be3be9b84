/** Every repair of a plan has a sentence, and repairs with the same sentence share a line. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { repairProblems } from './repair-words.ts'

const AGENT = 'src/contracts/agent'

it('has words for every rule that repairs a plan', () => {
  const files = readdirSync(AGENT).filter((name) => /^(?:plan-.+|draft)\.ts$/.test(name))
  const sources = files.filter((name) => !name.endsWith('.test.ts'))
  const text = sources.map((name) => readFileSync(`${AGENT}/${name}`, 'utf8')).join('\n')
  const rules = new Set([...text.matchAll(/'(plan\.[a-z_]+)'/g)].map(([, rule = '']) => rule))
  expect(rules.size).toBeGreaterThan(30)
  for (const rule of rules) {
    const [told] = repairProblems([{ rule, path: '/nodes/0/x', from: 'one', to: 'two' }])
    expect(told?.message, rule).toContain(`(${rule})`)
    expect(told?.message, rule).not.toContain('was repaired')
  }
})

it('tells repairs that say the same once, with the number of places', () => {
  const alias = (index: number) => ({
    rule: 'plan.node_alias',
    path: `/nodes/${index}/id`,
    from: 'id',
    to: 'task_id',
  })
  const absent = { rule: 'plan.priority', path: '/nodes/0/priority', from: undefined, to: 0 }
  expect(repairProblems([alias(0), alias(1), alias(2), absent])).toEqual([
    {
      code: 'flow.plan_repaired',
      path: '/nodes/0/id',
      message: '`id` is read as `task_id`, here and in 2 more places (plan.node_alias)',
    },
    {
      code: 'flow.plan_repaired',
      path: '/nodes/0/priority',
      message: '`priority` is missing, so it is 0 (plan.priority)',
    },
  ])
})
