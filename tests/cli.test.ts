/** The command line as a user meets it: the built program on real files. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { VERSION } from '../src/base/index.ts'
import { COMMANDS } from '../src/cli/commands/table.ts'
import { INPUTS, LOOSER_RULESET, RULESET } from '../src/cli/demo/constitution-chapter.ts'
import { BROKEN_TASK, DESCRIPTOR, FOREIGN_PLAN, TASK } from '../src/cli/demo/documents.ts'
import { GUARD_PATHS } from '../src/contracts/index.ts'
import { ensureBuilt } from './built.ts'
import { warmProgram } from './warm-program.ts'

const PROGRAM = join(process.cwd(), 'bin', 'writ.cjs')
const folder = mkdtempSync(join(tmpdir(), 'writ-cli-'))

/** The built files must be those of this source. */
beforeAll(() => {
  ensureBuilt()
}, 120_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Ended {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

/** In a process of its own, for what a process shows. */
function started(args: readonly string[], env: Record<string, string> = {}): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    input: '',
    encoding: 'utf8',
    env: { ...process.env, ...env },
  })
  return { status, out: stdout, err: stderr }
}

function writ(argv: readonly string[], input = ''): Ended {
  const [cwd, timeoutMs] = [process.cwd(), 60_000]
  const { env } = process
  return warmProgram(PROGRAM).call({ argv, cwd, env, input, secret: null, timeoutMs })
}

function file(name: string, content: unknown): string {
  const path = join(folder, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}

const json = ({ out }: Ended) => JSON.parse(out)
const lines = ({ out }: Ended) =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('the frame', () => {
  it('shows help, and help of every command with an example', () => {
    expect(started([]).status).toBe(0)
    expect(started(['--help']).out).toContain('no action without a writ')
    for (const { name, examples } of COMMANDS) {
      const { status, out } = writ([...name.split(' '), '--help'])
      expect(status).toBe(0)
      expect(out).toContain(examples[0])
    }
  }, 60_000)

  it('says its version, which is the package’s', () => {
    expect(started(['--version']).out.trim()).toBe(VERSION)
    expect(JSON.parse(readFileSync('package.json', 'utf8')).version).toBe(VERSION)
  })

  it('exits 2 and guesses for an unknown command or option', () => {
    const command = started(['chek', 'x'])
    expect(command.status).toBe(2)
    expect(command.err).toBe(
      'cli.unknown_command: there is no command `chek`\n  hint: did you mean `check`?\n',
    )
    const option = started(['check', '--jsn', 'x'])
    expect(option.status).toBe(2)
    expect(option.err).toContain('did you mean `--json`?')
  })

  it('answers a failure with --json as {error} on standard output', () => {
    const { status, out, err } = started(['check', '--json', join(folder, 'absent.json')])
    expect(status).toBe(2)
    expect(JSON.parse(out).error.code).toBe('cli.file_unreadable')
    expect(err).toBe('')
  })

  it('uses no colour when it does not write to a terminal', () => {
    const path = file('colour.json', BROKEN_TASK)
    for (const env of [{}, { NO_COLOR: '1' }, { FORCE_COLOR: '1' }]) {
      expect(started(['check', path], env).out).not.toContain('\u001b')
    }
  })

  it.each([
    ['goes away', 'head -n 1'],
    ['is slower', 'cat'],
  ])('ends quietly when the reader %s', (_, reader) => {
    const many = file('many.jsonl', `${JSON.stringify({ document: BROKEN_TASK })}\n`.repeat(20_000))
    const { status, stderr } = spawnSync(
      '/bin/sh',
      ['-c', `"${process.execPath}" "${PROGRAM}" check --jsonl "${many}" | ${reader} >/dev/null`],
      { encoding: 'utf8' },
    )
    expect([status, stderr]).toEqual([0, ''])
  })
})

describe('writ check', () => {
  it('exits 0 on a valid document and 1 on an invalid one', () => {
    expect(json(started(['check', '--json', file('task.json', TASK)]))).toEqual({
      valid: true,
      contract: 'ao_act_task_v0',
      violations: [],
    })
    const broken = started(['check', '--json', file('broken.json', BROKEN_TASK)])
    expect(broken.status).toBe(1)
    expect(
      json(broken).violations.map(({ code, path }: Record<string, string>) => `${code} ${path}`),
    ).toEqual([
      'task.action_type /action_type',
      'task.issuer_kind /issuer/kind',
      'task.forbid_key /meta/planner/priority',
      'task.enum_not_in_list /parameters/method',
      'task.bounds /parameters/water_mm',
    ])
  })

  it('reads standard input, YAML files and several files', () => {
    expect(writ(['check', '-'], JSON.stringify(DESCRIPTOR)).status).toBe(0)
    const yaml = file('rules.yaml', 'type: ruleset_v0\nschema_version: 0.1.0\n')
    expect(json(writ(['check', '--json', yaml])).contract).toBe('ruleset_v0')
    expect(json(writ(['check', '--json', file('task.json', TASK), yaml])).files).toHaveLength(2)
    expect(
      json(writ(['check', '--json', file('twice.yaml', 'a: 1\na: 2\n')])).violations[0].code,
    ).toBe('document.duplicate_key')
  })

  it('takes the context of a receipt', () => {
    const receipt = {
      type: 'ao_act_receipt_v0',
      act_task_id: TASK.act_task_id,
      executor_id: { kind: 'device', id: 'pump-3', namespace: 'north-farm' },
      execution_time: { start_ts: 1, end_ts: 2 },
      execution_coverage: { kind: 'field', ref: 'field:north/7' },
      resource_usage: { fuel_l: null, electric_kwh: 1.5, water_l: 120, chemical_ml: null },
      logs_refs: [{ kind: 'log', ref: 'log:1' }],
      constraint_check: { violated: false, violations: [] },
      observed_parameters: { water_mm: 12, method: 'drip' },
      created_at_ts: 3,
    }
    const path = file('receipt.json', receipt)
    const alone = json(writ(['check', '--json', path]))
    expect(alone.violations[0]).toMatchObject({
      code: 'receipt.free_string',
      path: '/observed_parameters/method',
    })
    expect(alone.violations[0].hint).toContain('--context')
    expect(writ(['check', '--context', file('context.json', { task: TASK }), path]).status).toBe(0)
  })

  it('answers every line in order, and one bad line stops nothing', () => {
    const input = [
      JSON.stringify({ document: TASK }),
      '{"document":',
      JSON.stringify({ as: 'nothing_v9', document: {} }),
      JSON.stringify({ document: TASK, extra: 1 }),
      '[]',
      '{"document":{"a":{"b":1,"b":2}}}',
      JSON.stringify({ as: 'ao_act_task_v0', document: BROKEN_TASK }),
      JSON.stringify({ document: {} }),
    ].join('\n')
    const ended = writ(['check', '--jsonl'], input)
    expect(ended.status).toBe(1)
    expect(
      lines(ended).map(({ valid, violations }) =>
        valid ? 'valid' : `${violations[0].code} ${violations[0].path}`,
      ),
    ).toEqual([
      'valid',
      'document.not_json ',
      'document.unknown_contract ',
      'document.envelope /extra',
      'document.envelope ',
      'document.duplicate_key /a/b',
      'task.action_type /action_type',
      'document.undetected ',
    ])
    expect(writ(['check', '--jsonl'], `${JSON.stringify({ document: TASK })}\n`).status).toBe(0)
  })

  it('takes a document of 64 levels in an envelope, and refuses 65', () => {
    const nested = (depth: number) =>
      JSON.stringify({
        as: 'xiaobo_action_v1',
        document: JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
      })
    const [fine, deep] = lines(writ(['check', '--jsonl'], `${nested(64)}\n${nested(65)}`))
    expect(fine.violations[0].code).toBe('action.required')
    expect(deep.violations[0].code).toBe('document.too_deep')
  })
})

describe('writ normalize', () => {
  it('repairs a plan and lists what it did', () => {
    const ended = writ(['normalize', '--as', 'plan_gen', '--json', file('plan.json', FOREIGN_PLAN)])
    expect(ended.status).toBe(0)
    const { valid, normalized, repairs, error } = json(ended)
    expect([valid, error]).toEqual([true, null])
    expect(normalized.plan.title).toBe('Publish the field report')
    expect(repairs.length).toBeGreaterThan(10)
  })

  it('answers lines, refuses an unknown scope with seven strings, and needs a scope', () => {
    const input = [
      { as: 'NO_SUCH', document: {} },
      { document: { result_type: 'noop' }, context: { task_id: 't' } },
    ]
      .map((line) => JSON.stringify(line))
      .join('\n')
    const [unknown, action] = lines(writ(['normalize', '--as', 'TASK_ACTION', '--jsonl'], input))
    expect(unknown.error.error_code).toBe('UNKNOWN_CONTRACT')
    expect(Object.values(unknown.error).every((value) => typeof value === 'string')).toBe(true)
    expect(Object.keys(unknown.error)).toHaveLength(7)
    expect(action).toMatchObject({ valid: true, normalized: { result_type: 'NOOP', task_id: 't' } })
    expect(writ(['normalize', file('plan.json', FOREIGN_PLAN)]).status).toBe(2)
  })
})

describe('writ schema', () => {
  it('prints one, writes all, and gives the summary', () => {
    expect(json(writ(['schema', 'ao_act_task_v0'])).$id).toBe('urn:writ:contract:ao_act_task_v0')
    expect(writ(['schema', 'ao_act_task_v1']).err).toContain('did you mean `ao_act_task_v0`?')
    const out = join(folder, 'schemas')
    expect(writ(['schema', '--out', out]).status).toBe(0)
    expect(JSON.parse(readFileSync(join(out, 'record.json'), 'utf8')).title).toBe('record')
    expect(json(writ(['schema', '--summary'])).TASK_ACTION.schema_version).toBe('xiaobo_action_v1')
  })
})

describe('writ rules', () => {
  const rules = () => file('apply.json', RULESET)
  const inputs = () => file('inputs.json', INPUTS)

  it('evaluates, exits 0 no matter what is said, and gives the same bytes twice', () => {
    const call = ['rules', 'eval', '--rules', rules(), '--inputs', inputs(), '--at', '7', '--json']
    const [one, two] = [writ(call), writ(call)]
    expect([one.status, one.out]).toEqual([0, two.out])
    expect(json(one).verdicts.map(({ verdict }: Record<string, string>) => verdict)).toEqual([
      'DENY',
      'UNDETERMINED',
    ])
    const [line] = lines(
      writ(
        ['rules', 'eval', '--jsonl'],
        JSON.stringify({ rulesets: [RULESET], inputs: INPUTS, at: 7 }),
      ),
    )
    expect(line.verdicts[0]).toMatchObject({
      verdict: 'DENY',
      evaluated_at_ts: 7,
      ruleset_status: 'APPLIED',
    })
  })

  it('warns about inputs that break their contract and evaluates them', () => {
    const broken = file('odd.json', {
      ...INPUTS,
      problem_state: { ...INPUTS.problem_state, confidence: 'SURE' },
    })
    const { status, err } = writ(['rules', 'eval', '--rules', rules(), '--inputs', broken])
    expect(status).toBe(0)
    expect(err).toContain('/confidence')
  })

  it('checks, with analysis, and answers lines', () => {
    const { accepted, analysis } = json(writ(['rules', 'check', '--json', rules()]))
    expect(accepted).toBe(true)
    expect(Object.keys(analysis)).toEqual(
      expect.arrayContaining(['unreachable', 'shadowed', 'overlaps', 'gaps']),
    )
    const input = [{ ruleset: RULESET }, { rulesets: [RULESET, RULESET] }, { rules: 1 }]
      .map((line) => JSON.stringify(line))
      .join('\n')
    const answers = lines(writ(['rules', 'check', '--jsonl'], input))
    expect(
      answers.map(({ accepted, violations }) => (accepted ? 'yes' : violations[0].code)),
    ).toEqual(['yes', 'ruleset.duplicate_ruleset', 'document.envelope'])
  })

  it('proves, and breaks a claim with inputs that evaluate so', () => {
    const when = 'EQ(problem_state.problem_type, "EVIDENCE_CONFLICT")'
    expect(
      writ(['rules', 'prove', '--rules', rules(), '--never', 'ALLOW', '--when', when]).status,
    ).toBe(0)
    const broken = writ(['rules', 'prove', '--rules', rules(), '--never', 'ALLOW', '--json'])
    expect(broken.status).toBe(1)
    const witness = file('witness.json', json(broken).counterexample)
    expect(
      json(writ(['rules', 'eval', '--rules', rules(), '--inputs', witness, '--json'])).verdicts[0]
        .verdict,
    ).toBe('ALLOW')
    expect(
      writ(['rules', 'prove', '--rules', rules(), '--never', 'ALLOW', '--when', 'COUNT(x) > 3'])
        .status,
    ).toBe(2)
  })

  it('tells exactly what a change changes', () => {
    const looser = file('looser.json', LOOSER_RULESET)
    expect(json(writ(['rules', 'diff', rules(), rules(), '--json']))).toEqual({
      equal: true,
      changes: [],
    })
    const ended = writ(['rules', 'diff', rules(), looser, '--json'])
    expect(ended.status).toBe(1)
    expect(
      json(ended).changes.map(({ from, to }: Record<string, string>) => `${from} ${to}`),
    ).toEqual(['UNDETERMINED ALLOW'])
  })

  it('formats both ways and is stable', () => {
    const tree = file('tree.json', writ(['rules', 'fmt', '--guards', 'tree', rules()]).out)
    expect(JSON.parse(readFileSync(tree, 'utf8')).rules[0].guard.op).toBe('EQ')
    const text = file('text.json', writ(['rules', 'fmt', tree]).out)
    expect(JSON.parse(readFileSync(text, 'utf8'))).toEqual(RULESET)
    expect(writ(['rules', 'fmt', text]).out).toBe(readFileSync(text, 'utf8'))
    const yaml = file(
      'commented.yaml',
      `# kept\n${writ(['rules', 'fmt', '--to', 'yaml', rules()]).out}`,
    )
    const once = writ(['rules', 'fmt', yaml]).out
    expect(once.startsWith('# kept\n')).toBe(true)
    expect(writ(['rules', 'fmt', file('again.yaml', once)]).out).toBe(once)
  })
})

describe('the examples and the page on the language', () => {
  it('run as their README says', () => {
    const suite = writ(['rules', 'test', 'examples/constitution', '--json'])
    expect(json(suite)).toMatchObject({ passed: 7, failed: 0, uncovered: [] })
    expect(writ(['rules', 'check', 'examples/constitution']).status).toBe(0)
    const template = 'examples/constitution/templates/enter.json'
    expect(writ(['rules', 'import', template]).out).toContain('ruleset_id: enter')
    for (const name of ['apply', 'sense']) {
      const rules = `examples/constitution/${name}.yaml`
      expect(writ(['rules', 'fmt', rules]).out).toBe(readFileSync(rules, 'utf8'))
    }
  })

  it('lists the 28 paths in their order', () => {
    const page = readFileSync('docs/constitution.md', 'utf8')
    const line = page.split('\n').find((text) => text.startsWith('In order,')) ?? ''
    expect([...line.matchAll(/`([a-z_]+\.[^`]+)`/g)].map(([, path]) => path)).toEqual(GUARD_PATHS)
  })
})

describe('the vectors', () => {
  it('hold for the program as they do for the library', () => {
    const { status, stdout } = spawnSync(
      process.execPath,
      ['spec/vectors/run.mjs', '--', process.execPath, PROGRAM],
      { encoding: 'utf8' },
    )
    expect(stdout.trimEnd().split('\n').at(-1)).toMatch(/^\d{4,} passed, 0 failed$/)
    expect(status).toBe(0)
  }, 120_000)
})

describe('writ demo', () => {
  it('goes as planned', () => {
    const { status, out } = started(['demo'])
    expect(status).toBe(0)
    expect(out).toContain('The tour is complete.')
  })
})
