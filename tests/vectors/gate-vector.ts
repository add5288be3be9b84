/**
 * Reads the vectors of the gate (`gate-comparison/1` and `gate-decision/1` in
 * spec/vectors/README.md). Keys that a format does not name are refused.
 */
import { readFileSync } from 'node:fs'
import { digestBytes } from '../../src/base/index.ts'
import type {
  ActionDescriptor,
  Evaluation,
  HostFacts,
  Proposal,
  SandboxResult,
} from '../../src/contracts/index.ts'
import {
  type Change,
  type ComparedStep,
  type ComparisonInput,
  DEFAULT_LISTS,
  type EntryState,
  type GateLists,
  type GrantCase,
  type Judgement,
  rawOfBytes,
  rawOfText,
  withEphemeral,
} from '../../src/gate/index.ts'
import { changed, refuseUnknown } from './vector.ts'

// biome-ignore lint/suspicious/noExplicitAny: a file is checked key by key below
type Row = any

export interface ComparisonVector {
  readonly id: string
  readonly note: string
  readonly input: ComparisonInput
  /** Null when it is no composite. */
  readonly steps: readonly ComparedStep[] | null
  readonly want: Readonly<Record<string, unknown>>
}

const CASE_KEYS = [
  'id',
  'note',
  'scope',
  'effects',
  'roots',
  'real_paths',
  'approval',
  'leaves_home_out',
  'keeps_home',
  'actor',
  'grants',
  'evaluator',
  'ephemeral',
  'scripts_changed',
  'changes',
  'steps',
  'want',
]
const WANT_KEYS = [
  'findings',
  'promoted',
  'discarded',
  'deferred',
  'counts',
  'bytes',
  'declared',
  'in_scope',
]

export function readCases(file: string, spec: string): { bases: Row; cases: readonly Row[] } {
  const read = JSON.parse(readFileSync(file, 'utf8'))
  refuseUnknown(file, read, ['spec', 'bases', 'cases'])
  if (read.spec !== spec) throw new Error(`${file}: expected spec ${spec}, found ${read.spec}`)
  const ids = read.cases.map(({ id }: Row) => id)
  if (new Set(ids).size !== ids.length) throw new Error(`${file}: an id is used twice`)
  return { bases: read.bases ?? {}, cases: read.cases }
}

export function loadComparisons(file: string): readonly ComparisonVector[] {
  return readCases(file, 'gate-comparison/1').cases.map((row) => {
    refuseUnknown(row.id, row, CASE_KEYS)
    refuseUnknown(row.id, row.want, WANT_KEYS)
    const { id, note, want } = row
    const steps = row.steps ?? null
    return {
      id,
      note,
      want,
      input: readInput(row),
      steps:
        steps === null
          ? null
          : steps.map((step: Row) => ({
              descriptor: readDescriptor({ ...row, effects: step.effects }),
              changes: readChanges(step.changes),
            })),
    }
  })
}

function readInput(row: Row): ComparisonInput {
  return {
    descriptor: readDescriptor(row),
    changes: readChanges(row.changes),
    lists: withGrants(withEphemeral(DEFAULT_LISTS, row.ephemeral ?? []), row.grants),
    grants: readActor(row.actor),
    host: readHost(row),
    isAmended: row.evaluator !== '2',
    declaredByApproval: row.approval === true,
    leavesHomeOut: row.leaves_home_out === true,
    keepsHome: row.keeps_home === true,
    scriptsChanged: new Set((row.scripts_changed ?? []).map(rawOfText)),
    pathDirectories: ['/usr/bin', '/home/ann/bin'],
  }
}

/** The grants of a case come before the default ones, as those of a law file do. */
function withGrants(lists: GateLists, grants: Row = []): GateLists {
  return { ...lists, grants: [...grants, ...(lists.grants ?? [])] }
}

function readActor(actor: Row): GrantCase | null {
  if (actor === undefined) return null
  refuseUnknown('actor', actor, ['names', 'tracked', 'git_checked', 'made', 'hour', 'given'])
  return {
    actors: new Set(actor.names),
    nowMs: Date.parse('2026-11-15T08:00:03Z'),
    places: { home: '/home/ann', workspace: '/w' },
    tracked: new Set((actor.tracked ?? []).map(rawOfText)),
    gitChecked: new Set((actor.git_checked ?? []).map(rawOfText)),
    made: new Set((actor.made ?? []).map(rawOfText)),
    hour: actor.hour ?? { files: 0, bytes: 0 },
    given: actor.given ?? [],
  }
}

/** Only what a comparison reads. */
function readDescriptor({ scope, effects = {} }: Row): ActionDescriptor {
  const { create = [], modify = [], delete: deleted = [] } = effects
  const filesystem = { paths: ['/w'], recursive: true, ...scope }
  return {
    scope: { filesystem },
    effects: { filesystem: { create, modify, delete: deleted } },
  } as unknown as ActionDescriptor
}

function readHost(row: Row): ComparisonInput['host'] {
  const paths: readonly string[] = row.scope?.paths ?? ['/w']
  const roots: Row = row.roots ?? Object.fromEntries(paths.map((path) => [path, path]))
  const places = (map: Row): { declared: string; real: string }[] =>
    Object.entries(map).map(([declared, real]) => ({ declared, real: String(real) }))
  return {
    roots: places(roots).map((place) => ({ ...place, ...ROOT })) as HostFacts['roots'],
    real_paths: places(row.real_paths ?? {}),
    homes: [
      { path: '/home/ann', own: true },
      { path: '/home/bob', own: false },
    ],
    writ_places: ['/home/ann/.local/state/writ'],
  }
}

const ROOT = {
  kind: 'directory',
  filesystem: 'ext4',
  read_only: false,
  mounts: [],
  device: '1',
  inode: '2',
}

export function readChanges(rows: readonly Row[]): readonly Change[] {
  return rows.map(([path, before, after]) => ({
    path:
      typeof path === 'string' ? rawOfText(path) : rawOfBytes(Buffer.from(path.base64, 'base64')),
    before: readState(before),
    after: readState(after),
  }))
}

/** `file:MODE:CONTENT+ATTRIBUTE`, `dir:MODE`, `link:TARGET`; what is left out has its usual value. */
export function readState(text: string | null): EntryState | null {
  if (text === null) return null
  const [kind = '', second = '', content = 'x'] = text.split(':')
  const plain = { owner: null, mtimeNs: '0', linkGroup: null, attributes: [], target: null }
  if (kind === 'link') {
    const target = rawOfText(text.slice('link:'.length))
    return { ...plain, kind: 'symlink', mode: 0o777, size: 0, digest: null, target }
  }
  const mode = Number.parseInt(second === '' ? (kind === 'dir' ? '0755' : '0644') : second, 8)
  if (kind === 'dir') return { ...plain, kind: 'directory', mode, size: 0, digest: null }
  if (kind !== 'file') throw new Error(`unknown state ${text}`)
  const [bytes = '', attribute] = content.split('+')
  return {
    ...plain,
    kind: 'file',
    mode,
    size: bytes.length,
    digest: digestBytes(bytes),
    attributes: attribute === undefined ? [] : [[attribute, '00']],
  }
}

export interface DecisionVector {
  readonly id: string
  readonly note: string
  readonly judgement: Judgement
  readonly want: Readonly<Record<string, unknown>>
}

const DECISION_KEYS = ['id', 'note', 'proposal', 'evaluation', 'result', 'grants', 'want']
const DECIDED_KEYS = ['decision', 'code', 'codes', 'permanent', 'tier', 'law_refs', 'approvals']

export function loadDecisions(file: string): readonly DecisionVector[] {
  const { bases, cases } = readCases(file, 'gate-decision/1')
  return cases.map((row) => {
    refuseUnknown(row.id, row, DECISION_KEYS)
    refuseUnknown(row.id, row.want, DECIDED_KEYS)
    const { id, note, want } = row
    const made = (recipe: Row, base: string): unknown =>
      changed(bases[recipe?.from ?? base], recipe?.remove, recipe?.set)
    const isEarly = row.result === null
    return {
      id,
      note,
      want,
      judgement: {
        proposal: row.proposal === null ? null : (made(row.proposal, 'proposal') as Proposal),
        evaluation: made(row.evaluation, isEarly ? 'early' : 'whole') as Evaluation,
        result: isEarly ? null : (made(row.result, 'result') as SandboxResult),
        lists: withGrants(DEFAULT_LISTS, row.grants),
        decidedAt: '2026-11-15T08:00:03Z',
      },
    }
  })
}
