/**
 * Rule files as the commands take them: files and folders of YAML or JSON, read-only, loaded because
 * they were named (K-7). A ruleset's reference is the digest of its file's bytes.
 */
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Digest,
  DOCUMENT_LIMITS,
  digestBytes,
  FaultError,
  faultError,
  showName,
} from '../../base/index.ts'
import {
  type Budget,
  BudgetSpent,
  CONFLICTS_MAX,
  establish,
  type Inputs,
  type RuleDecision,
} from '../../constitution/index.ts'
import {
  type AdmittedRuleset,
  admitRulesets,
  type RulesAdmission,
  type Violation,
} from '../../contracts/index.ts'
import { usageError } from '../call/command.ts'
import { parseSource, readSource, unreadable } from '../call/source.ts'

export interface RuleFile {
  readonly name: string
  readonly ref: Digest
  /** Null when the text could not be read; then `refusal` says why. */
  readonly document: unknown
  readonly refusal: Violation | null
  readonly text: string
}

const RULE_FILE = /\.(?:ya?ml|json)$/i

/** Reads the named files; of a folder the rule files in it, in the order of their names. */
export async function readRuleFiles(names: readonly string[]): Promise<readonly RuleFile[]> {
  const files: RuleFile[] = []
  for (const name of names)
    for (const file of await expand(name)) files.push(await readRuleFile(file))
  return files
}

async function expand(name: string): Promise<readonly string[]> {
  if (name === '-') return [name]
  try {
    if (!(await stat(name)).isDirectory()) return [name]
    const entries = await readdir(name, { withFileTypes: true })
    return entries
      .filter((entry) => entry.isFile() && RULE_FILE.test(entry.name))
      .map((entry) => join(name, entry.name))
      .sort()
  } catch (thrown) {
    throw new FaultError(unreadable(name, thrown))
  }
}

async function readRuleFile(name: string): Promise<RuleFile> {
  const source = await readSource(name)
  const reading = await parseSource(source, DOCUMENT_LIMITS)
  return {
    name,
    ref: digestBytes(source.bytes),
    document: reading.ok ? reading.value : null,
    refusal: reading.ok ? null : reading.refusal,
    text: source.bytes.toString('utf8'),
  }
}

/** Admits files together; a file that could not be read is refused with what the reader said. */
export function admitRuleFiles(files: readonly RuleFile[], strict = false): RulesAdmission {
  const admission = admitRulesets(
    files.map(({ document }) => document),
    { strict },
  )
  if (files.every(({ refusal }) => refusal === null)) return admission
  const several = files.length > 1
  const unread = files.flatMap(({ refusal }, index) =>
    refusal === null
      ? []
      : [{ ...refusal, path: several ? `/${index}${refusal.path}` : refusal.path }],
  )
  const ofUnread = (path: string) =>
    files.some(
      ({ refusal }, index) =>
        refusal !== null && (!several || path === `/${index}` || path.startsWith(`/${index}/`)),
    )
  return {
    ...admission,
    accepted: false,
    violations: [...unread, ...admission.violations.filter(({ path }) => !ofUnread(path))],
  }
}

interface LoadedRules {
  readonly rulesets: readonly AdmittedRuleset[]
  readonly files: readonly RuleFile[]
}

/** Returns the rulesets of the named files. Fails if one of them is not admissible. */
export async function loadAdmitted(names: readonly string[]): Promise<readonly AdmittedRuleset[]> {
  return (await loadRules(names, 'any words')).rulesets
}

/** Fails if a file is not admissible, or, with `exact words`, if a rule names an unknown word. */
export async function loadRules(
  names: readonly string[],
  words: 'exact words' | 'any words',
): Promise<LoadedRules> {
  if (names.length === 0) throw usageError('name the rule files with `--rules`')
  const files = await readRuleFiles(names)
  if (files.length === 0) throw noRuleFile()
  const { rulesets, violations, warnings } = admitRuleFiles(files)
  const unknown = warnings.filter(({ code }) => code === 'ruleset.vocabulary')
  const [first] = [...violations, ...(words === 'exact words' ? unknown : [])]
  if (first !== undefined)
    throw faultError(
      'rules.inadmissible',
      '',
      `the rules are not admissible: ${placedText(first, files)}`,
      '`writ rules check` lists everything',
    )
  return { files, rulesets: rulesets.flatMap(({ ruleset }) => (ruleset === null ? [] : [ruleset])) }
}

/** Returns what the rules of the files say about one action on the inputs. */
export function wordOn(
  files: readonly RuleFile[],
  inputs: Inputs,
  actionCode: string,
): RuleDecision {
  return establish(files).decide(inputs, actionCode)
}

/** An empty folder is rather a slip than a ruleset: nothing is claimed about it. */
export function noRuleFile(): FaultError {
  return usageError('there is no rule file in the named folders')
}

/** A violation in one line: the file, the place in it if there is one, and what is wrong. */
export function placedText(
  { path, message, code }: Violation,
  files: readonly { readonly name: string }[],
): string {
  const [, index = '0', place = path] = files.length > 1 ? (/^\/(\d+)(.*)$/s.exec(path) ?? []) : []
  const name = files[Number(index)]?.name ?? ''
  return `${showName(name)}${place === '' ? '' : ` ${place}`}: ${message} (${code})`
}

/** Runs a piece of analysis under its budget: an answer, or a fault that claims nothing. */
export function withinBudget<T>(analyse: (budget: Budget) => T): T {
  try {
    return analyse({ conflicts: CONFLICTS_MAX })
  } catch (thrown) {
    if (thrown instanceof BudgetSpent) throw faultError('rules.analysis_budget', '')
    throw thrown
  }
}
