/**
 * `npm run figures`: writes the tables of speed in the two READMEs from bench/results. Each row names
 * the command or the function of the package that it measures. A test fails if a table differs.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from './setup.mjs'

/** A row of a README: the bench, the row of its results, and the words in both languages. */
const ROWS = [
  ['gate', 'writ exec -- true', 'node -e 0', '`writ exec -- true`', '`node -e 0`'],
  [
    'gate',
    'a build in the sandbox',
    'outside',
    '`writ exec` of a build',
    'the same build outside',
    '同一构建不经 writ',
  ],
  ['cli', 'writ --help, starts/s', 'node -e 0', '`writ --help`', '`node -e 0`'],
  [
    'long-history',
    'writ exec -- true',
    'new',
    '`writ exec -- true` after 100,000 facts',
    'in a new home',
    '在新的主目录中',
  ],
  [
    'long-history',
    'writ inbox',
    'new',
    '`writ inbox` after 100,000 facts',
    'in a new home',
    '在新的主目录中',
  ],
  [
    'task-list',
    'task list --limit 50',
    'the same, 1000 facts',
    '`writ task list` with 200,000 facts',
    'with 1,000 facts',
    '1,000 条事实时',
  ],
  [
    'contracts',
    'check --jsonl, 100,000 tasks',
    'JSON.parse of the lines',
    '`writ check --jsonl` of 100,000 tasks',
    '`JSON.parse` of the lines',
    '对各行执行 `JSON.parse`',
  ],
  [
    'contracts',
    'ao_act_task_v0: the same, of any value',
    'ajv, structure only',
    '`validate` of `writ/contracts`, structure and meaning of a task',
    'ajv, structure only',
    'ajv，仅结构',
  ],
  [
    'constitution',
    '10 rules, whole verdict document',
    'casbin',
    '`evaluate` of `writ/constitution`, 10 rules',
    'casbin',
  ],
  [
    'constitution',
    '1000 rules, whole verdict document',
    'casbin',
    '`evaluate` of `writ/constitution`, 1,000 rules',
    'casbin',
  ],
  [
    'ledger-verify',
    'the same with contracts',
    'bare SHA-256 of the same bytes',
    '`writ ledger verify`, a million facts',
    'bare SHA-256 of the same bytes',
    '对同样字节只做 SHA-256',
  ],
  [
    'ledger',
    '64 entries per commit, judged by contract',
    'bare better-sqlite3, 100 rows of 1038 bytes per transaction',
    'signed, durable facts, 64 a commit, as flows append them',
    'bare better-sqlite3, 100 rows a transaction',
    'better-sqlite3，每个事务 100 行',
  ],
  [
    'flow-step',
    'guarded transition',
    'xstate 5 send',
    '`step` of `writ/flow` with its facts',
    'XState 5 `send`',
  ],
  [
    'network',
    'a large answer',
    'bare loopback',
    'a download by `writ exec --net`',
    'bare loopback',
    '直接走回环接口',
  ],
  ['network', 'a large answer in TLS', 'bare TLS', 'the same in TLS', 'bare TLS', '直接使用 TLS'],
]

const CHINESE = {
  '`writ exec` of a build': '用 `writ exec` 构建',
  '`writ exec -- true` after 100,000 facts': '十万条事实之后的 `writ exec -- true`',
  '`writ inbox` after 100,000 facts': '十万条事实之后的 `writ inbox`',
  '`writ task list` with 200,000 facts': '二十万条事实时的 `writ task list`',
  '`writ check --jsonl` of 100,000 tasks': '`writ check --jsonl` 检查十万个任务',
  '`validate` of `writ/contracts`, structure and meaning of a task':
    '`writ/contracts` 的 `validate`：一个任务的结构与语义',
  '`evaluate` of `writ/constitution`, 10 rules': '`writ/constitution` 的 `evaluate`，10 条规则',
  '`evaluate` of `writ/constitution`, 1,000 rules':
    '`writ/constitution` 的 `evaluate`，1,000 条规则',
  '`writ ledger verify`, a million facts': '`writ ledger verify`，一百万条事实',
  'signed, durable facts, 64 a commit, as flows append them':
    '已签名且落盘的事实，每次提交 64 条（流程即如此追加）',
  '`step` of `writ/flow` with its facts': '`writ/flow` 的 `step` 及其事实',
  'a download by `writ exec --net`': '通过 `writ exec --net` 下载',
  'the same in TLS': '同上，经 TLS',
}

const BEGIN = '<!-- figures: npm run figures -->'
const END = '<!-- /figures -->'

/** Returns the text of a README with its table made from the results. */
export function withFigures(readme, language) {
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)]
  if (begin === -1 || end < begin) throw new Error('the README has no place for the figures')
  const head =
    language === 'zh'
      ? '| 测量对象 | 对比 | 比值 |'
      : '| what is measured | compared with | ratio |'
  const lines = ROWS.map((row) => line(row, language))
  const table = [head, '|---|---|---|', ...lines].join('\n')
  return `${readme.slice(0, begin)}${BEGIN}\n${table}\n${readme.slice(end)}`
}

function line([bench, what, theirs, words, peer, peerChinese = peer], language) {
  const { rows } = JSON.parse(readFileSync(join(ROOT, 'bench', 'results', `${bench}.json`), 'utf8'))
  const found = rows.find((row) => row.what === what && row.theirs === theirs)
  if (found === undefined)
    throw new Error(`${bench}.json has no row ${what} compared with ${theirs}`)
  const [ours, other] = language === 'zh' ? [CHINESE[words] ?? words, peerChinese] : [words, peer]
  return `| ${ours} | ${other} | ${short(found.ratio)} |`
}

/** Three digits are more than the noise of a run leaves. */
function short(ratio) {
  return ratio >= 100
    ? Math.round(ratio).toLocaleString('en')
    : String(Number(ratio.toPrecision(2)))
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  for (const [file, language] of [
    ['README.md', 'en'],
    ['README.zh-CN.md', 'zh'],
  ]) {
    const path = join(ROOT, file)
    writeFileSync(path, withFigures(readFileSync(path, 'utf8'), language))
  }
}
