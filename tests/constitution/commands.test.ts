/** The rules commands on odd files: what they say, and where they say it. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { CODES, FaultError } from '../../src/base/index.ts'
import { type CommandRun, Options } from '../../src/cli/call/command.ts'
import { processTerminal } from '../../src/cli/call/terminal.ts'
import {
  checkRules as check,
  diffRules as diff,
  proveClaim as prove,
} from '../../src/cli/commands/rules-check.ts'
import { evaluate, test } from '../../src/cli/commands/rules-eval.ts'
import {
  formatFile as fmt,
  importFile as importTemplate,
} from '../../src/cli/commands/rules-fmt.ts'
import { withinBudget } from '../../src/cli/rules/files.ts'
import { BudgetSpent, CONFLICTS_MAX } from '../../src/constitution/index.ts'

const folder = mkdtempSync(join(tmpdir(), 'writ-rules-commands-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const EXAMPLES = 'examples/constitution'
const APPLY = join(EXAMPLES, 'apply.yaml')
const INPUTS = join(EXAMPLES, 'inputs', 'gappy.json')

function file(name: string, content: string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const BROKEN = file('broken.yaml', 'a: [1\nb: {')
const SECOND = file('second.yaml', readFileSync(APPLY, 'utf8'))
const FOREIGN = file('foreign.json', '{"type": "task_v1"}')
const EMPTY = join(folder, 'empty')
mkdirSync(EMPTY)

interface Ended {
  readonly status: number
  readonly out: string
  readonly err: string
}

/** The command as the program runs it: a stop becomes its status and its words. */
async function ended(
  run: CommandRun,
  args: readonly string[],
  values: Record<string, unknown> = {},
): Promise<Ended> {
  let out = ''
  let err = ''
  const terminal = {
    ...processTerminal(),
    out: async (text: string) => {
      out += text
    },
    err: (text: string) => {
      err += text
    },
  }
  try {
    const status = await run({
      command: '',
      arguments: args,
      options: new Options(values),
      terminal,
    })
    return { status: Number(status), out, err }
  } catch (thrown) {
    if (!(thrown instanceof FaultError)) throw thrown
    const { code, message } = thrown.fault
    return { status: CODES[code].exit, out, err: `${err}${code}: ${message}` }
  }
}

describe('a folder without rule files', () => {
  it('is no ruleset: nothing is proved, compared or said about it', async () => {
    for (const [run, args, values] of [
      [check, [EMPTY], {}],
      [prove, [EMPTY], { never: 'ALLOW' }],
      [diff, [EMPTY, APPLY], {}],
      [diff, [APPLY, EMPTY], {}],
      [evaluate, [EMPTY], { inputs: INPUTS }],
    ] as const)
      expect(await ended(run, args, values)).toEqual({
        status: 2,
        out: '',
        err: 'cli.usage: there is no rule file in the named folders',
      })
  })
})

describe('a file that cannot be read as a ruleset', () => {
  it('is named with the place and the reason', async () => {
    const wrong =
      /^rules\.inadmissible: .*broken\.yaml`: this is not valid YAML, line 2 column 1: .* \(document\.not_json\)$/
    for (const [run, args, values] of [
      [fmt, [BROKEN], {}],
      [importTemplate, [BROKEN], {}],
      [prove, [BROKEN], { never: 'ALLOW' }],
      [diff, [BROKEN, APPLY], {}],
      [test, [folder], { rules: [BROKEN], cases: join(EXAMPLES, 'cases') }],
    ] as const) {
      const { status, out, err } = await ended(run, args, values)
      expect([status, out]).toEqual([1, ''])
      expect(err).toMatch(wrong)
    }
  })

  it('is refused by check, and is no ruleset for eval', async () => {
    expect(await ended(check, [BROKEN])).toMatchObject({ status: 1, err: '' })
    const { status, out, err } = await ended(evaluate, [BROKEN], { inputs: INPUTS })
    expect([status, out]).toEqual([
      0,
      'AO-APPLY      UNDETERMINED  no ruleset is about this action\nAO-SENSE      UNDETERMINED  no ruleset is about this action\n',
    ])
    expect(err).toContain('document.not_json')
  })

  it('is named by its name among several, not by its number', async () => {
    const { err } = await ended(prove, [APPLY, FOREIGN], { never: 'ALLOW' })
    expect(err).toMatch(/foreign\.json` \/action_code: the field `action_code` is missing/)
  })
})

describe('two rulesets for one action code', () => {
  it('are refused, and neither speaks', async () => {
    const { status, out } = await ended(check, [APPLY, SECOND])
    expect(status).toBe(1)
    expect(out).toContain('second.yaml /action_code  ruleset.duplicate_ruleset')
    const { out: verdicts } = await ended(evaluate, [APPLY, SECOND], { inputs: INPUTS })
    expect(verdicts).toContain('AO-APPLY      UNDETERMINED  the ruleset is not admissible')
    expect((await ended(prove, [APPLY, SECOND], { never: 'ALLOW' })).status).toBe(1)
  })
})

describe('inputs', () => {
  it('without candidate actions give no verdict, and that is said', async () => {
    expect(await ended(evaluate, [APPLY], { inputs: FOREIGN })).toEqual({
      status: 0,
      out: '',
      err: 'warning: the permission set names no candidate action, so there is no verdict\n',
    })
  })

  it('that are no object are no inputs', async () => {
    const list = file('list.json', '[]')
    expect(await ended(evaluate, [APPLY], { inputs: list })).toMatchObject({ status: 2, out: '' })
  })
})

describe('a claim', () => {
  const claim = (when: string, json = false) =>
    ended(prove, [], { rules: [APPLY], never: 'ALLOW', when, json })

  it('with a word that its field never holds is refused (A-2)', async () => {
    const { status, out, err } = await claim('EQ(problem_state.confidence, "HIHG")')
    expect([status, out]).toEqual([2, ''])
    expect(err).toMatch(/^rules\.claim_word: .*`HIHG` is not in the vocabulary/)
  })

  it('about no input at all is refused, not proved', async () => {
    const both = 'EQ(problem_state.confidence, "HIGH") AND EQ(problem_state.confidence, "LOW")'
    for (const json of [false, true]) {
      const { status, out, err } = await claim(both, json)
      expect([status, out]).toEqual([2, ''])
      expect(err).toMatch(/^rules\.claim_empty: /)
    }
    expect((await claim('EQ(problem_state.confidence, "LOW")')).status).toBe(0)
  })

  it('over rules with a word that its field never holds is refused', async () => {
    const slip = file(
      'slip.yaml',
      readFileSync(APPLY, 'utf8').replace('EVIDENCE_CONFLICT', 'CONFLIKT'),
    )
    const { status, err } = await ended(prove, [slip], { never: 'ALLOW' })
    expect([status, /rules\.inadmissible: .*CONFLIKT/.test(err)]).toEqual([1, true])
  })

  it('that is broken names the rule and what it saw', async () => {
    const { status, out } = await ended(prove, [APPLY], { never: 'DENY' })
    expect(status).toBe(1)
    expect(out).toMatch(/AO-APPLY says DENY \(apply\/conflict-denies@1\.0\.0\), for example on\n/)
    expect(out).toContain('problem_state.problem_type = `EVIDENCE_CONFLICT`')
  })
})

describe('an UNDETERMINED verdict', () => {
  const inputs = JSON.parse(readFileSync(INPUTS, 'utf8'))

  it('says on standard error that the documents are about different subjects', async () => {
    const other = {
      ...inputs,
      problem_state: { ...inputs.problem_state, subjectRef: { projectId: 'x' } },
    }
    const name = file('unbound.json', JSON.stringify(other))
    const { out, err } = await ended(evaluate, [APPLY], { inputs: name })
    expect(out).toContain('AO-APPLY      UNDETERMINED  the documents are not about one subject\n')
    expect(err).toContain('must have the same subjectRef')
  })

  it('says what is wrong with an inadmissible ruleset', async () => {
    const bad = file(
      'bad.yaml',
      readFileSync(APPLY, 'utf8').replace('verdict: DENY', 'verdict: MAYBE'),
    )
    const { out, err } = await ended(evaluate, [bad], { inputs: INPUTS })
    expect(out).toContain('AO-APPLY      UNDETERMINED  the ruleset is not admissible\n')
    expect(err).toMatch(/note: .*bad\.yaml.* \/rules\/\d+\/verdict: .*\(ruleset\.verdict\)/)
  })
})

describe('a budget that is used up', () => {
  it('is a fault that claims nothing', () => {
    const spent = () =>
      withinBudget(({ conflicts }) => {
        expect(conflicts).toBe(CONFLICTS_MAX)
        throw new BudgetSpent('used up')
      })
    expect(spent).toThrow(FaultError)
    expect(CODES['rules.analysis_budget']).toMatchObject({ exit: 4 })
  })
})
