/**
 * Reviewers that may run anything, and work that plants what they would run, load or miss. Each row is one
 * reviewer; a group is one run with real processes, in which every row has work of its own.
 */
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { FlowNode, Participant } from '../../src/contracts/index.ts'
import { reportOf } from '../../src/flow/index.ts'
import type { WalkedRun } from '../../src/runs/runs.ts'
import { checker, edge, flowOf, goal, review, worker } from './acceptance/scene.ts'
import type { RunPlace } from './place.ts'
import { placeEach } from './place-each.ts'
import { script } from './scripts.ts'

const TIMEOUT = { timeout: 180_000 }

let place: RunPlace

placeEach('open-reviewers', (made) => {
  place = made
})

const TOOL_CALL = 'python3 -m json.tool x.json'
/** The row that is the command itself and no script. */
const TEXT = 'text-of-the-command'
const SCRIPTS: Readonly<Record<string, string>> = {
  'command-cd': `command cd out && ${TOOL_CALL}`,
  'builtin-cd': `builtin cd out && ${TOOL_CALL}`,
  unshare: `unshare --wd=out ${TOOL_CALL}`,
  setpriv: `setpriv --no-new-privs env -C out ${TOOL_CALL}`,
  'words-in-a-variable': `PY="${TOOL_CALL}"; cd out && $PY`,
  'some-words-in-a-variable': 'PY="python3 -m"; cd out && $PY json.tool x.json',
  'options-in-a-variable': 'A="-B -m json.tool"; cd out && python3 $A x.json',
  'flock-text': `cd out && flock /tmp/l -c '${TOOL_CALL}'`,
  'time-option': `cd out && time -p ${TOOL_CALL}`,
  'script-text': `cd out && script -qec '${TOOL_CALL}' /dev/null`,
  'split-filter': "cd out && split --filter='python3 -m json.tool' x.json",
  'npx-text': `npx -c 'cd out && ${TOOL_CALL}'`,
  'git-alias': `git -c alias.x='!cd out && ${TOOL_CALL}' x`,
  'tar-command': "cd out && tar xf a.tar --to-command='python3 -m json.tool'",
  'sed-e': `echo a | sed '1e cd out && ${TOOL_CALL}'`,
  'awk-system': `awk 'BEGIN{exit system("cd out && ${TOOL_CALL}")}'`,
  'awk-system-there': `cd out && awk 'BEGIN{exit system("${TOOL_CALL}")}'`,
  'perl-system': `perl -e 'chdir "out"; exit(system("python3","-m","json.tool","x.json")>>8)'`,
  'python-subprocess': `cd out && python3 -I -c 'import subprocess; subprocess.call(["python3","-m","json.tool"])'`,
  'written-script': `printf '${TOOL_CALL}' > /tmp/q.sh; sh /tmp/q.sh`,
  'start-stop-daemon':
    'start-stop-daemon --start --chdir out --exec /usr/bin/python3 -- -m json.tool',
  pythonpath: 'export PYTHONPATH="$PYTHONPATH:"; cd out && python3 ../agents/j.py',
  path: 'PATH=:$PATH; cd out && grep -q good x.json',
  perl5opt: "export PERL5OPT=-Iout/lib; perl -e 'use strict; exit 1'",
  'here-document': `cat <<END\n$(cd out && ${TOOL_CALL})\nEND`,
  'bare-repository': 'cd out && git status',
  'arithmetic-test': 'n=$(cat out/n); [[ $n -ge 0 ]]',
  'arithmetic-value': 'n=$(cat out/n); echo $((n))',
  'variable-by-name': `v=$(cat out/n); [[ -v $v ]] || echo "\${!v}"`,
  'variable-by-index': `declare -A m; k=$(cat out/n); echo "\${m[$k]}"`,
  'variable-as-prompt': `v=$(cat out/n); echo "\${v@P}"`,
  'copied-work': `mkdir -p build && cp -r out/. build/ && cd build && ${TOOL_CALL}`,
  'unpacked-work': `mkdir -p build && tar xf out/a.tar -C build && cd build && ${TOOL_CALL}`,
  'linked-work': 'ln -s /proc/self/cwd/out/run build/y; build/y',
  gconv: 'GCONV_PATH=out iconv -f utf-8 -t evil out/x.json',
  'missing-check': '[ ! -f out/check.py ] || python3 out/check.py',
  [TEXT]: 'command cd out && sh ../agents/command-cd.sh',
}

const NODE: Readonly<Record<string, string>> = {
  n1: "spawnSync('python3', ['-m', 'json.tool', 'x.json'], { cwd: 'out' }).status === 0",
  n2: "(process.chdir('out'), spawnSync('python3', ['-m', 'json.tool', 'x.json']).status === 0)",
  n3: "spawnSync('cd out && python3 -m json.tool x.json', { shell: true }).status === 0",
  n4: "(() => { const py = 'python3'; return spawnSync(py, ['-m', 'json.tool'], { cwd: 'out' }).status === 0 })()",
  n5: "((c, ...a) => spawnSync(c, a, { cwd: 'out' }).status === 0)('python3', '-m', 'json.tool')",
  alias: '(() => { const F = Function; return F(readFileSync("out/x.json", "utf8"))() })()',
  constructed: '(() => 1).constructor(readFileSync("out/x.json", "utf8"))()',
  computed: "globalThis['ev' + 'al'](readFileSync('out/x.json', 'utf8'))",
  n6: "(() => { const { spawnSync: s } = process.getBuiltinModule?.('child_process') ?? { spawnSync }; return s('python3', ['-m', 'json.tool'], { cwd: 'out' }).status === 0 })()",
}

const PYTHON: Readonly<Record<string, string>> = {
  p1: "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'json.tool'], cwd='out')",
  p2: "import os\nos.chdir('out'); os.system('python3 -m json.tool x.json')",
  p3: "import subprocess\nsubprocess.getstatusoutput('cd out && python3 -m json.tool x.json')",
  p4: "from subprocess import call\ncall(cmd, cwd='out')",
  p5: "import os\nos.spawnlp(os.P_WAIT, 'python3', 'python3', '-m', 'json.tool')",
  p6: "import sys\nsys.path.insert(0, 'out')\nimport colorsys",
  aliased: "import sys as s\ns.path.insert(0, 'out')\nimport colorsys",
  'file-config': "import logging.config\nlogging.config.fileConfig('out/log.ini')",
  extension: "import sqlite3\nsqlite3.connect(':memory:').load_extension('out/x')",
  named: "import os\ngetattr(os, 'popen')('sh out/x.json')",
}

/** What work leaves, in every form that something may load: statements, and the path. */
const PLANTS: readonly (readonly [string, string])[] = [
  ["writeFileSync(d + '/re.py', 'import os; os._exit(0)')", 're.py'],
  ["writeFileSync(d + '/grep', '', { mode: 0o755 })", 'grep'],
  ["mkdirSync(d + '/lib'); writeFileSync(d + '/lib/strict.pm', 'exit 0;')", 'lib/strict.pm'],
  ["writeFileSync(d + '/run.txt', '#!/bin/sh\\n')", 'run.txt'],
  ["writeFileSync(d + '/data.bin', '\\x7fELF')", 'data.bin'],
  ["symlinkSync('/usr/bin/true', d + '/link.md')", 'link.md'],
  ["writeFileSync(d + '/.envrc', 'x')", '.envrc'],
  ["writeFileSync(d + '/addon.node', '')", 'addon.node'],
  ["writeFileSync(d + '/n', 'a[$(touch x)9]')", 'n'],
  ["writeFileSync(d + '/a.tar', '')", 'a.tar'],
  ["writeFileSync(d + '/gconv-modules', '')", 'gconv-modules'],
  ["writeFileSync(d + '/strict.pmc', '')", 'strict.pmc'],
  ["writeFileSync(d + '/x.sql', '')", 'x.sql'],
  ["writeFileSync(d + '/config', '[core]')", 'config'],
  ["rmSync(d + '/check.py')", 'check.py'],
  ['rmSync(d, { recursive: true }); mkdirSync(d)', 'check.py'],
  ["renameSync(d, d + '2')", 'check.py'],
  ["mkdirSync(d + '/a'); renameSync(d + '/check.py', d + '/a/b.txt')", 'check.py'],
  ["writeFileSync(d + '/check.py', 'pass')", 'check.py'],
]

const PLAIN_WORK = (body: string): string =>
  script(`import { renameSync, rmSync, symlinkSync } from 'node:fs'
const d = 'out/' + input.node.node_id
mkdirSync(d, { recursive: true })
writeFileSync(d + '/x.json', 'no JSON')
${body}
answer({ result_type: 'ARTIFACT', artifact: { name: 'out', format: 'md', content: 'x' } })
`)

interface Judged {
  readonly name: string
  readonly reviewer: Participant
  readonly plant: string
}

function runJudged(rows: readonly Judged[], more: Partial<FlowNode> = {}): Promise<WalkedRun> {
  const nodes = rows.flatMap(({ name, reviewer, plant }) => {
    place.write(`work/${name}.mjs`, PLAIN_WORK(plant))
    const executor = { command: ['node', `work/${name}.mjs`], tools: 'none' as const }
    const files = ['x.json', 'old.csv', 'LICENSE'].map((file) => `out/${name}/${file}`)
    const work = { max_attempts: 1, writes: [...files, 'out/**', 'src/**'], ...more }
    return [
      worker(name, { executor, ...work }),
      checker(`${name}-check`, name, { reviewer, max_attempts: 1 }),
    ]
  })
  const edges = rows.flatMap(({ name }) => [
    edge(name, `${name}-check`),
    edge(`${name}-check`, 'end', { class: 'Sync' }),
  ])
  return place.run(flowOf([...nodes, goal('end', 'P2')], edges))
}

function openIn({ facts: [first] }: WalkedRun): readonly string[] {
  const origin = first?.type === 'flow_started_v1' ? first.payload.origin : undefined
  return (origin?.open_reviewers ?? []).map(({ node_id }) => node_id)
}

it.each<[string, Readonly<Record<string, string>>, (name: string, text: string) => string[]]>([
  [
    'shell',
    SCRIPTS,
    (name, text) => {
      place.write('agents/j.py', 'import json; json.load(open("x.json"))\n')
      if (name === TEXT) return ['sh', '-c', text]
      place.write(`agents/${name}.sh`, `input=$(cat)\nif ( ${text}\n); then echo good; fi\n`)
      return ['bash', `agents/${name}.sh`]
    },
  ],
  [
    'node',
    NODE,
    (name, text) => {
      const spawn = "import { spawnSync } from 'node:child_process'"
      place.write(`agents/${name}.mjs`, script(`${spawn}\n${review(`(${text}) ? 95 : 10`)}`))
      return ['node', `agents/${name}.mjs`]
    },
  ],
  [
    'Python',
    PYTHON,
    (name, text) => {
      place.write(`agents/${name}.py`, `${text}\n`)
      return ['python3', `agents/${name}.py`]
    },
  ],
])('work cannot plant what a reviewer in %s loads', TIMEOUT, async (_, texts, write) => {
  const rows = Object.entries(texts).map(([name, text], index) => {
    const [plant = '', path = ''] = PLANTS[index % PLANTS.length] ?? []
    place.write(`out/${name}/check.py`, 'exit(1)\n')
    return { name, reviewer: { command: write(name, text) }, plant, path }
  })
  const run = await runJudged(rows)
  expect(openIn(run)).toEqual(rows.map(({ name }) => `${name}-check`))
  const touched = run.facts.flatMap(({ type, payload }) =>
    type === 'flow_finding_v1' && payload.code === 'flow.program_touched'
      ? [[payload.node_id, payload.values['path'], typeof payload.values['why']]]
      : [],
  )
  for (const { name, path } of rows)
    expect(touched).toContainEqual([name, `out/${name}/${path}`, 'string'])
  expect(run.facts.filter((fact) => JSON.stringify(fact).includes('"reviewed"'))).toEqual([])
  for (const { name } of rows) {
    expect(place.has(`out/${name}/x.json`)).toBe(false)
    expect(place.read(`out/${name}/check.py`)).toBe('exit(1)\n')
  }
})

const CODE =
  "writeFileSync(d + '/app.py', 'x'); writeFileSync(d + '/run', '#!/bin/sh', { mode: 0o755 })"
const ANSWER = (score: string): string => `id=$(printf %s "$input" | jq -r .review_id)
d=$(printf %s "$input" | jq -r .artifact.digest)
printf '{"review_id":"%s","artifact_digest":"%s","total_score":%s,"action_required":"APPROVE","summary":"s","breakdown":[],"suggestions":[]}\\n' "$id" "$d" ${score}
`

it('reviewers that only read, or that a person answers for, judge code', TIMEOUT, async () => {
  place.write(
    'agents/parse.mjs',
    script(review("readFileSync('out/parse/app.py').length > 0 ? 95 : 10")),
  )
  const judge = (name: string): string =>
    `import ast, json, sys\ni = json.load(sys.stdin)\nast.parse(open("out/${name}/app.py").read())\nprint(json.dumps({"review_id": i["review_id"], "artifact_digest": i["artifact"]["digest"], "total_score": 95, "action_required": "APPROVE", "summary": "s", "breakdown": [], "suggestions": []}))\n`
  place.write('agents/judge.py', judge('py'))
  place.write('judge.py', judge('root'))
  place.write('package.json', '{"scripts":{"test":"node --test src"}}')
  place.write('tests/judge.sh', `input=$(cat)\nnpm test > /dev/null 2>&1\n${ANSWER('95')}`)
  const rows = [
    {
      name: 'jq',
      reviewer: {
        command: [
          'jq',
          '{review_id, artifact_digest: .artifact.digest, total_score: 95, action_required: "APPROVE", summary: "s", breakdown: [], suggestions: []}',
        ],
      },
      plant: CODE,
    },
    { name: 'root', reviewer: { command: ['python3', '-B', 'judge.py'] }, plant: CODE },
    { name: 'parse', reviewer: { command: ['node', 'agents/parse.mjs'] }, plant: CODE },
    { name: 'py', reviewer: { command: ['python3', 'agents/judge.py'] }, plant: CODE },
    {
      name: 'tested',
      reviewer: { command: ['sh', 'tests/judge.sh'], runs_work: true as const },
      plant: `${CODE}; mkdirSync('src'); writeFileSync('src/a.test.mjs', '')`,
    },
  ]
  const run = await runJudged(rows)
  expect([run.status, openIn(run)]).toEqual(['DONE', []])
  expect(place.has('src/a.test.mjs')).toBe(true)
  const { reviews } = reportOf(run.flow, run.facts, run.state)
  expect(
    reviews.map(({ node_id, verdict, runs_work }) => [node_id, verdict, runs_work]).sort(),
  ).toEqual(rows.map(({ name }) => [name, 'APPROVE', name === 'tested' ? true : undefined]).sort())
})

it('an open reviewer judges work that is data', TIMEOUT, async () => {
  place.write('agents/open.sh', `#!/bin/sh\ninput=$(cat)\n${ANSWER('95')}`)
  chmodSync(join(place.workspace, 'agents/open.sh'), 0o755)
  place.write('out/a/old.csv', '1,2')
  const plant = "rmSync(d + '/old.csv'); writeFileSync(d + '/LICENSE', 'free')"
  const run = await runJudged([{ name: 'a', reviewer: { command: ['agents/open.sh'] }, plant }])
  expect([run.status, openIn(run)]).toEqual(['DONE', ['a-check']])
  expect([place.has('out/a/old.csv'), place.has('out/a/LICENSE')]).toEqual([false, true])
})

it(
  'data that a runner may collect is none of work, and artifacts get a plain name',
  TIMEOUT,
  async () => {
    place.write('agents/open.sh', `input=$(cat)\n${ANSWER('95')}`)
    const reviewer = { command: ['sh', 'agents/open.sh'] }
    const doctest = "writeFileSync(d + '/test_pwn.txt', '>>> import os; os._exit(0)')"
    const rows = [
      { name: 'doctest', reviewer, plant: doctest },
      { name: 'settings', reviewer, plant: "writeFileSync(d + '/testem.json', '{}')" },
      { name: 'other', reviewer, plant: "writeFileSync(d + '/harmless.txt', 'x')" },
      { name: 'folder', reviewer, plant: "mkdirSync(d + '/json')" },
    ]
    const run = await runJudged(rows)
    const touched = run.facts.flatMap(({ type, payload }) =>
      type === 'flow_finding_v1' && payload.code === 'flow.program_touched'
        ? [payload.node_id]
        : [],
    )
    expect(touched.sort()).toEqual(rows.map(({ name }) => name).sort())
    for (const path of ['doctest/test_pwn.txt', 'settings/testem.json', 'other/harmless.txt'])
      expect(place.has(`out/${path}`)).toBe(false)
  },
)

it('the artifact of work under an open reviewer gets a plain name', TIMEOUT, async () => {
  place.write('agents/open.sh', `input=$(cat)\n${ANSWER('95')}`)
  const plant = `answer({ result_type: 'ARTIFACT', artifact: { name: 'test_pwn', format: 'txt', content: 'x' } }); process.exit(0)`
  const run = await runJudged([
    { name: 'a', reviewer: { command: ['sh', 'agents/open.sh'] }, plant },
  ])
  expect(run.status).toBe('DONE')
  expect(place.has('artifacts/a/1/artifact.txt')).toBe(true)
  expect(place.has('artifacts/a/1/test_pwn.txt')).toBe(false)
})
