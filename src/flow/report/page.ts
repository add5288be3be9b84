/**
 * Writes the report for people: one HTML file that has no scripts and loads nothing. Every value of a
 * run is escaped, so that it is text and never markup.
 */
import type { ReviewReport } from './people.ts'
import type { RunReport } from './report.ts'
import { STOP_WORDS } from './stops.ts'
import type { Transition } from './transitions.ts'

const STYLE = `:root{color-scheme:light dark;--line:#8886;--dim:#767676;--good:#18794e;--bad:#c62a2f;--wait:#ad5700}
@media (prefers-color-scheme:dark){:root{--dim:#9b9b9b;--good:#4cc38a;--bad:#ff6369;--wait:#ffb224}}
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem}
h1{font-size:1.5rem}h3{font-size:1rem}h2{font-size:1.15rem;margin-top:2.2rem;border-bottom:1px solid var(--line)}
table{border-collapse:collapse;width:100%;font-size:.92em}th,td{text-align:left;vertical-align:top;padding:.3em .6em;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
th{overflow-wrap:normal;color:var(--dim);font-weight:600}code,pre{font:.92em ui-monospace,monospace}pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:0}
.good{color:var(--good)}.bad{color:var(--bad)}.wait{color:var(--wait)}.dim{color:var(--dim)}nav a{margin-right:1em}
.scroll{overflow-x:auto}td.word{white-space:nowrap}`

/** How an artifact differs from the version before it, as lines with their signs. */
export interface ArtifactDiff {
  readonly node_id: string
  readonly path: string
  readonly seq: number
  readonly lines: readonly string[]
}

/** What the caller makes of the run besides: a drawing as SVG, and differences of artifacts. */
interface PageParts {
  readonly drawing?: string
  readonly diffs?: readonly ArtifactDiff[]
}

export function reportPage(report: RunReport, more: PageParts = {}): string {
  const { run_id, title, flow_id, status } = report
  const parts = sections(report, more)
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width,initial-scale=1">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    `<title>${text(title || flow_id)}: ${text(status)}</title><style>${STYLE}</style></head><body>`,
    `<h1>${text(title || flow_id)} <span class="${tone(status)}">${text(status)}</span></h1>`,
    `<p class="dim">${text(run_id)}, ${text(report.started_at)} to ${text(report.last_at)}<br>flow ${text(report.flow_digest)}${migrations(report)}</p>`,
    `<nav>${parts.map(({ id, name }) => `<a href="#${id}">${name}</a>`).join('')}</nav>`,
    ...parts.map(({ id, name, html }) => `<section id="${id}"><h2>${name}</h2>${html}</section>`),
    '</body></html>\n',
  ].join('\n')
}

function migrations({ migrations: list }: RunReport): string {
  return list
    .map(
      ({ at, principal, from, to, comment, programs }) =>
        `<br>${text(at)}: ${text(principal)} moved the run from flow ${text(from)} to ${text(to)}${comment === null ? '' : `: ${text(comment)}`}${programs.map((one) => `<br>${text(one.path)}: ${text(one.before ?? 'none')} → ${text(one.after ?? 'none')}`).join('')}`,
    )
    .join('')
}

interface Section {
  readonly id: string
  readonly name: string
  readonly html: string
}

function sections(report: RunReport, { drawing, diffs = [] }: PageParts): readonly Section[] {
  const { missing = [], taken_back: taken = [] } = report
  return [
    { id: 'summary', name: 'Summary', html: summary(report) },
    ...(drawing === undefined
      ? []
      : [{ id: 'drawing', name: 'Drawing', html: `<div class="scroll">${drawing}</div>` }]),
    { id: 'people', name: 'Decisions of people', html: people(report) },
    { id: 'reviews', name: 'Reviews', html: reviews(report) },
    { id: 'phases', name: 'Phases', html: phases(report) },
    { id: 'nodes', name: 'Nodes', html: nodes(report) },
    { id: 'findings', name: 'Findings', html: findings(report) },
    { id: 'transitions', name: 'Transitions', html: transitions(report) },
    { id: 'conflicts', name: 'Conflicts of policies', html: conflicts(report) },
    { id: 'invariants', name: 'Invariants', html: records(report.invariants) },
    {
      id: 'artifacts',
      name: 'Artifacts',
      html: `${artifacts(report)}${diffs.map(diffText).join('')}`,
    },
    { id: 'claims', name: 'Claims and evidence', html: claims(report) },
    { id: 'access', name: 'Access', html: records(report.access) },
    { id: 'outputs', name: 'Answers of participants', html: records(report.outputs) },
    { id: 'acts', name: 'Promotions and rollbacks', html: records(report.acts) },
    { id: 'log', name: 'Orchestration log', html: records(report.log) },
    ...(taken.length === 0 ? [] : [{ id: 'taken-back', name: 'Taken back', html: records(taken) }]),
    ...(missing.length === 0
      ? []
      : [{ id: 'missing', name: 'No longer kept', html: records(missing) }]),
  ]
}

/** How far it came, why it stopped or waits, and what to type. */
function summary(report: RunReport): string {
  const { nodes: list, stops, totals, findings: found, open_work: open } = report
  const counts = new Map<string, number>()
  for (const { status } of list) counts.set(status, (counts.get(status) ?? 0) + 1)
  const parts = [...counts].map(([status, count]) => `${count} ${text(status)}`)
  const { attempts, seconds, tokens } = totals
  const used = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}, ${seconds.toFixed(1)} s, ${tokens} tokens, ${found.length} ${found.length === 1 ? 'finding' : 'findings'}`
  return [
    `<p>${list.length} ${list.length === 1 ? 'node' : 'nodes'}: ${parts.join(', ')}. ${used}.</p>`,
    ...open.map(
      ({ node_id, check_id }) =>
        `<p><b>${text(node_id)}</b> says nothing of what it writes: its work could change all of the workspace but for what is sealed, also files that the reviewer of ${text(check_id)} loads and writ does not find.</p>`,
    ),
    ...stops.map(({ title, node_id, says, next, kind, code }) => {
      const name = node_id === undefined || node_id === title ? title : `${title} (${node_id})`
      const named = code === undefined ? '' : ` <code class="dim">${text(code)}</code>`
      const commands = next.map((command) => `<br><code>${text(command)}</code>`).join('')
      return `<p><span class="${kind === 'blocked' || kind === 'failed' || kind === 'refused' ? 'bad' : 'wait'}">${text(STOP_WORDS[kind])}</span> <b>${text(name)}</b>: ${text(says)}${named}${commands}</p>`
    }),
    ...(report.status === 'WAITING'
      ? [`<p>after an answer: <code>writ flow resume ${text(report.run_id)}</code></p>`]
      : []),
  ].join('\n')
}

function people({ answers }: RunReport): string {
  return grid(
    ['at', 'who', 'said', 'where', 'in which words'],
    answers.map(({ at, principal, said, node_title, node_id, text: words }) => [
      text(at),
      `<b>${text(principal)}</b>`,
      marked(said),
      text(node_title === node_id ? node_id : `${node_title} (${node_id})`),
      text(words),
    ]),
  )
}

function reviews({ reviews: list }: RunReport): string {
  return grid(
    ['at', 'check', 'of', 'verdict', 'score', 'by', 'summary and suggestions', 'changed files'],
    list.map((one) => [
      text(one.at),
      text(one.check_title),
      `${text(one.node_title)}${one.version === undefined ? '' : `<br><span class="dim">version ${digestText(one.version)}</span>`}`,
      `${marked(one.verdict)}${one.is_word_changed ? '<br><span class="dim">by the score and not by the word</span>' : ''}`,
      String(one.score),
      `${one.program === undefined ? '' : `${text(one.program)}<br>`}${digestText(one.by ?? '')}`,
      [one.summary, ...one.suggestions.map(({ change }) => `• ${change}`)].map(text).join('<br>'),
      changedCell(one),
    ]),
  )
}

/** A text with its digests shortened; the whole text is its title. */
function digestText(value: string): string {
  const short = value.replace(/[0-9a-f]{64}/g, (digest) => `${digest.slice(0, 12)}…`)
  return short === value ? text(value) : `<span title="${text(value)}">${text(short)}</span>`
}

/** The files that the judged work had changed when the reviewer looked. */
function changedCell({ changed = [], changed_count: count = 0 }: ReviewReport): string {
  const more = count > changed.length ? [`and ${count - changed.length} more`] : []
  return [...changed, ...more].map(text).join('<br>')
}

function diffText({ path, seq, lines }: ArtifactDiff): string {
  const rows = lines.map((line) => {
    const tone = line.startsWith('+') ? 'good' : line.startsWith('-') ? 'bad' : 'dim'
    return `<span class="${tone}">${text(line)}</span>`
  })
  return `<details><summary>${seq} ${text(path)}: what changed</summary><pre>${rows.join('\n')}</pre></details>`
}

function phases({ phases: list }: RunReport): string {
  const heads = [
    'phase',
    'status',
    'time',
    'floor',
    'attempts',
    'tool calls',
    'rejections',
    'nodes',
  ]
  return grid(
    heads,
    list.map((phase) => [
      text(phase.phase_id),
      marked(phase.status),
      `<span class="${phase.cumulative_duration < phase.minimum_duration ? 'bad' : ''}">${phase.cumulative_duration.toFixed(2)} s</span>`,
      `${phase.minimum_duration} s`,
      String(phase.attempts),
      String(phase.tool_calls),
      String(phase.rejections),
      phase.nodes.map(text).join(', '),
    ]),
  )
}

function nodes({ nodes: list }: RunReport): string {
  const heads = [
    'title',
    'node',
    'kind',
    'phase',
    'status',
    'attempts',
    'tool calls',
    'time',
    'verdict',
    'score',
  ]
  return grid(
    heads,
    list.map((node) => [
      text(node.title || node.node_id),
      text(node.node_id),
      node.kind,
      text(node.phase_id),
      marked(node.status),
      String(node.attempts),
      String(node.tool_calls),
      `${node.seconds.toFixed(2)} s`,
      // Work that is done without a verdict has no judge.
      node.verdict === 'PENDING' && UNJUDGED.has(node.status) ? '' : marked(node.verdict),
      node.score === null ? '' : String(node.score),
    ]),
  )
}

const UNJUDGED = new Set(['done', 'held', 'idle', 'abandoned'])

function findings({ findings: list }: RunReport): string {
  return grid(
    ['seq', 'what', 'code', 'done about it', 'where', 'values'],
    list.map(
      ({
        seq,
        says,
        code,
        action,
        values,
        node_id,
        edge_id,
        policy_id,
        invariant_id,
        claim_id,
      }) => [
        String(seq),
        text(says),
        `<code>${text(code)}</code>`,
        text(action),
        [node_id, edge_id, policy_id, invariant_id, claim_id]
          .flatMap((name) => (name === undefined ? [] : [text(name)]))
          .join(', '),
        json(values),
      ],
    ),
  )
}

function transitions({ transitions: list }: RunReport): string {
  return grid(
    ['seq', 'edge', 'class', 'from', 'to', 'guard', 'values', 'result', 'policies', 'taken'],
    list.map((one) => [
      String(one.seq),
      text(one.edge_id),
      text(one.class),
      text(one.source),
      text(one.target),
      one.guard === null ? '' : `<code>${text(one.guard)}</code>`,
      json(one.values),
      `<span class="${one.result === 'true' ? 'good' : 'bad'}">${one.result}</span>${one.reasons.map((why) => `<br><span class="dim">${text(why)}</span>`).join('')}`,
      policyCell(one),
      one.fired ? '<span class="good">yes</span>' : 'no',
    ]),
  )
}

function policyCell({ policies, invariants }: Transition): string {
  const words =
    policies === null || policies.winner === null ? [] : [`${text(policies.winner)} wins`]
  const lost =
    policies === null || policies.losers.length === 0
      ? []
      : [`over ${policies.losers.map(text).join(', ')} (${text(policies.mode ?? '')})`]
  return [...words, ...lost, ...invariants.map(text)].join('<br>')
}

function conflicts({ transitions: list }: RunReport): string {
  const rows = list.flatMap(({ seq, edge_id, policies, values }) =>
    (policies?.conflicts ?? []).map((conflict) => {
      const { winner, loser, mode } = conflict
      return [
        String(seq),
        text(edge_id),
        `<b>${text(winner)}</b>`,
        text(loser),
        text(mode),
        json(policies?.applied ?? values),
      ]
    }),
  )
  return grid(['seq', 'edge', 'winner', 'loser', 'mode', 'what was read'], rows)
}

function artifacts({ artifacts: list, reviews: given, nodes: all }: RunReport): string {
  const judged = new Set(given.map(({ node_id }) => node_id))
  const done = new Set(all.flatMap(({ node_id, status }) => (status === 'done' ? node_id : [])))
  const rows = list.flatMap(({ node_id: node, versions, candidate, approved }) =>
    versions.map((one) => [
      String(one.seq),
      text(one.node_id),
      text(one.path),
      `<code>${text(one.digest)}</code>`,
      [
        one !== candidate
          ? ''
          : done.has(node) && !judged.has(node)
            ? 'in place, not reviewed'
            : 'candidate',
        one === approved ? '<span class="good">approved</span>' : '',
      ]
        .filter((word) => word !== '')
        .join(', '),
      deltaText(one.delta),
    ]),
  )
  return grid(['seq', 'node', 'path', 'digest', 'pointer', 'delta'], rows)
}

/** What changed since the version before, in words; records hold any shape. */
function deltaText(delta: unknown): string {
  if (delta === null) return ''
  // Checked field by field below.
  const { by, isEqual, added, removed } = delta as Readonly<Record<string, unknown>>
  if (isEqual === true) return 'nothing changed'
  if (by !== 'lines') return by === 'json' || by === 'bytes' ? `other ${by}` : json(delta)
  return text(`${shownLines(added)} added, ${shownLines(removed)} removed`)
}

function shownLines(count: unknown): string {
  return `${String(count)} ${count === 1 ? 'line' : 'lines'}`
}

function claims({ claims: list, evidence }: RunReport): string {
  if (list.length + evidence.length === 0) return grid([], [])
  const rows = list.map((claim) => [
    text(claim.claim_id),
    text(claim.node_id),
    text(claim.text ?? ''),
    text(claim.trust_level),
    marked(claim.verification_status),
    claim.evidence_ids.map(text).join(', '),
  ])
  return `${grid(['claim', 'node', 'text', 'trust', 'verification', 'evidence'], rows)}<h3>Evidence</h3>${records(evidence)}`
}

/** Writes records of any shape as a table: one row a record, one column for each field in use. */
function records(list: readonly unknown[]): string {
  // Every list of a report holds objects.
  const rows = list.map((record) => new Map(Object.entries(record as Readonly<object>)))
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))].filter(
    (name) => name !== 'kind',
  )
  names.sort((one, other) => rank(one) - rank(other))
  return grid(
    names.map((name) => name.replaceAll('_', ' ')),
    rows.map((row) => names.map((name) => cell(row.get(name)))),
  )
}

/** Ranks a column: `seq` and `at` first, long values last; the others keep their order. */
function rank(name: string): number {
  if (name === 'seq') return -2
  if (name === 'at') return -1
  return LONG.has(name) ? 1 : 0
}

const LONG = new Set([
  'values',
  'errors',
  'repairs',
  'answer',
  'raw',
  'digest',
  'artifact_digest',
  'version',
])

function cell(value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return marked(value)
  return typeof value === 'object' ? json(value) : text(String(value))
}

function grid(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '<p class="dim">none</p>'
  const head = heads.map((name) => `<th>${text(name)}</th>`).join('')
  const body = rows.map((row) => `<tr>${row.map(tableCell).join('')}</tr>`)
  return `<div class="scroll"><table><thead><tr>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table></div>`
}

/** A single word or a time stays in one line; long digests and paths may break anywhere. */
function tableCell(html: string): string {
  const isWord = /^\S{1,24}$/.test(html.replaceAll(/<[^>]*>/g, ''))
  return `<td${isWord ? ' class="word"' : ''}>${html}</td>`
}

const GOOD = new Set(['DONE', 'done', 'ended', 'verified', 'true', 'APPROVE'])
const BAD = new Set([
  'FAILED',
  'BLOCKED',
  'failed',
  'blocked',
  'held',
  'rejected',
  'false',
  'REJECT',
])

function tone(word: string): string {
  return GOOD.has(word) ? 'good' : BAD.has(word) ? 'bad' : 'wait'
}

function marked(word: string): string {
  const isKnown = GOOD.has(word) || BAD.has(word)
  return isKnown ? `<span class="${tone(word)}">${text(word)}</span>` : text(word)
}

function json(value: unknown): string {
  return `<pre>${text(JSON.stringify(value))}</pre>`
}

const MARKS: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** As text, with characters that turn or hide what is shown spelt out. */
function text(value: string): string {
  return value
    .replace(/[&<>"']/g, (mark) => MARKS[mark] ?? mark)
    .replace(/[\p{Cc}\p{Cf}]/gu, (unit) =>
      unit === '\n' || unit === '\t' ? unit : `\\u{${(unit.codePointAt(0) ?? 0).toString(16)}}`,
    )
}
