/** Which reviewers are open: default deny of words, options, variables and modules. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FlowNode, Participant } from '../../contracts/index.ts'
import { openReasons } from './open-reviewers.ts'
import { programProblems, refuseUnpinned } from './program-problems.ts'
import { protectedPrograms } from './protected-programs.ts'
import { RunPrograms } from './run-programs.ts'
import { WorkspaceFiles } from './workspace-files.ts'

let root = ''

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'writ-open-')))
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

function write(path: string, text = ''): void {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

function check(reviewer: Participant): FlowNode {
  const node = { node_id: 'c', kind: 'CHECK' as const, title: '', phase_id: 'P', actor: 'a' }
  return { ...node, max_attempts: 1, reviewer }
}

function openBy(reviewer: Participant, nodes: readonly FlowNode[] = []): readonly string[] {
  const node = check(reviewer)
  return openReasons(new WorkspaceFiles(root), [node, ...nodes], node, [])
}

function openScript(text: string): readonly string[] {
  write('agents/r.sh', text)
  return openBy({ command: ['sh', 'agents/r.sh'] })
}

describe('a text that is followed whole', () => {
  it.each([
    ['grep -q x out/a.txt && diff -u a b || exit 1'],
    ['jq -e --arg a "$1" \'.a == $a\' out/x.json > /dev/null'],
    ['sed -n \'s/.*"id":"\\([^"]*\\)".*/\\1/p\' out/x | head -1'],
    ["sed -e '1,3d' -e '/a/!s|b|c|g' out/x"],
    ["awk -F, '{ n += $2 } END { print n }' out/x.csv"],
    ['find out -name "*.md" -type f | wc -l'],
    ['find out -name x -exec grep -q y {} +'],
    ['find out -type f -print0 | xargs -0 grep -l x'],
    ['sort -u out/x | uniq -c; tar -tf out/a.tar; timeout 5 cat out/x; env LC_ALL=C ls'],
    ['git status --porcelain; git --no-pager diff --stat'],
    ['( cd out && python3 -m json.tool x.json )'],
    ['cd out && python3 -I -c "import json; json.load(open(\'x.json\'))"'],
    ['case $1 in a|b) echo 1;; c|d) echo 2;; *) exit 1;; esac'],
    ['fail() { echo "$1"; exit 1; }\nfor f in a b; do [ -f "$f" ] || fail "$f"; done'],
    ['n=$((1 + 2)); while IFS= read -r line; do echo "$line $n"; done < out/x'],
    ['cat <<END\nplain $HOME\nEND'],
    ["node -e \"JSON.parse(require('fs').readFileSync('out/x.json'))\""],
    ['command -v jq > /dev/null || exit 1; PYTHONDONTWRITEBYTECODE=1 python3 -I -m ast out/a.py'],
    ['trap "rm -f /tmp/x" EXIT'],
  ])('%s', (text) => {
    write('.git/config')
    expect(openScript(text)).toEqual([])
  })

  it.each<[string, string]>([
    ['agents/r.mjs', "import { readFileSync } from 'node:fs'\nimport './rules.mjs'\n"],
    ['agents/r.py', 'import json, re\nfrom pathlib import Path\nimport rules\nre.compile("x")\n'],
  ])('%s', (path, text) => {
    write('agents/rules.mjs')
    write('agents/rules.py')
    write(path, text)
    expect(openBy({ command: [path.endsWith('py') ? 'python3' : 'node', path] })).toEqual([])
  })
})

describe('a text that is not', () => {
  it.each([
    ['sort --compress-program=out/x a'],
    ['sort *.txt'],
    ["sed 's/a/b/e' x"],
    ['sed -f out/x y'],
    ['sed "s/$A/b/" x'],
    ['awk -f out/x.awk y'],
    ['awk \'{ print | "sh" }\' x'],
    ['find . -exec true {} ";" -exec python3 -m json.tool x ";"'],
    ['tar --checkpoint=1 --checkpoint-action=exec=sh -xf x'],
    ['git -C out status'],
    ['git config alias.x y'],
    ['cd out && git status'],
    ['eval "$A"'],
    ['. agents/lib.sh; grep x y'],
    ['PATH= grep x y'],
    ['LD_PRELOAD=out/x.so grep x y'],
    ['HOME=out jq . x'],
    ['alias grep=out/x'],
    ['python3 -I -m doctest out/a.py'],
    ['python3 -i agents/j.py'],
    ['node --env-file=out/.env agents/j.mjs'],
    ['bash --rcfile out/x -c true'],
    ['cd /tmp && python3 -m json.tool x'],
    ['cp out/x /tmp/x.mjs; node /tmp/x.mjs'],
    ['xargs sort < out/x'],
    ['env --argv0=x ls'],
    ['~/judge out'],
    ['printf -v PATH out; grep x y'],
    ['make --eval=x -f agents/m.mk'],
    ['npm --script-shell=out/sh test'],
    ['perl agents/j.pl'],
  ])('%s', (text) => {
    write('.git/config')
    write('agents/j.py')
    write('agents/j.mjs')
    write('agents/j.pl')
    write('agents/lib.sh')
    write('agents/m.mk', 'a:\n\ttrue\n')
    write('package.json', '{"scripts":{"test":"true"}}')
    expect(openScript(`true\n${text}\n`)[0]).toMatch(/\(.*agents\/r\.sh:2\)$|\(agents\/j\.pl\)$/)
  })

  it.each<[string, string]>([
    ['agents/r.mjs', "import { fork } from 'child_process'"],
    ['agents/r.mjs', "import yaml from 'yaml'"],
    ['agents/r.mjs', 'await import(process.argv[2])'],
    ['agents/r.mjs', 'new Function("a")()'],
    ['agents/r.cjs', 'const load = require'],
    ['agents/r.cjs', "process.dlopen(module, 'x')"],
    ['agents/r.mjs', "const { chdir } = process; chdir('out')"],
    ['agents/r.mjs', "import { chdir } from 'node:process'"],
    ['agents/r.mjs', '(0, eval)("x")'],
    ['agents/r.py', 'from os import (\n  path,\n  system)'],
    ['agents/r.py', 'import os as o; o.system("x")'],
    ['agents/r.py', 'import importlib'],
    ['agents/r.py', 'from os import *'],
    ['agents/r.py', 'exec(open("out/x").read())'],
    ['agents/r.py', 'import yaml'],
    ['agents/r.py', 'import pickle'],
  ])('%s: %s', (path, text) => {
    write(path, `\n${text}\n`)
    const [why] = openBy({ command: [path.endsWith('py') ? 'python3' : 'node', path] })
    expect(why).toContain(`(${path}:2)`)
  })

  it('is open through any word that is on no list', () => {
    const known =
      /^(?:if|do|then|else|elif|fi|in|for|case|esac|while|until|done|select|time|cd|pushd|popd|export|local|declare|typeset|readonly|function|env|sh|bash)$/
    const word = fc.stringMatching(/^[a-z][a-z0-9_-]{1,12}$/).filter((one) => !known.test(one))
    fc.assert(
      fc.property(word, (one) => {
        const name = `x${one}`
        return openScript(`true && ${name} out/x\n`).some((why) => why.includes(name))
      }),
      { numRuns: 200 },
    )
  })
})

describe('an open reviewer', () => {
  const open = { command: ['sh', 'agents/r.sh'] }
  const around = () => ({ workspace: root, environment: {}, searchPath: '/usr/bin:/bin' })
  const flowOf = (reviewer: Participant) => ({
    type: 'flow_v1' as const,
    flow_id: 'f',
    title: '',
    nodes: [check(reviewer)],
    edges: [],
  })

  it('is a warning of the check with the word, the line and the ways out', () => {
    write('agents/r.sh', 'true\ncommand cd out\n')
    const { warnings } = programProblems(flowOf(open), around())
    expect(warnings.map(({ code, path }) => [code, path])).toEqual([
      ['flow.reviewer_open', '/nodes/0/reviewer'],
    ])
    expect(warnings[0]?.message).toContain('`cd`')
    expect(warnings[0]?.message).toContain('agents/r.sh:2')
    expect(warnings[0]?.hint).toMatch(/python3 -I.*runs_work: true/)
  })

  it.each<[string, string]>([
    ['installed', "import yaml from 'yaml'"],
    ['absent', "import absent from 'absent'"],
  ])('that imports a package says what to do: %s', (_, text) => {
    write('node_modules/yaml/package.json', '{"main":"index.js"}')
    write('node_modules/yaml/index.js', 'module.exports = {}\n')
    write('agents/r.mjs', text)
    const { warnings } = programProblems(flowOf({ command: ['node', 'agents/r.mjs'] }), around())
    const [open] = warnings.filter(({ code }) => code === 'flow.reviewer_open')
    expect(open?.hint).toMatch(/^let the reviewer import only modules of Node or Python/)
  })

  it('is not closed by `programs`, which pins', () => {
    write('agents/r.sh', 'cd out && flock x -c true\n')
    expect(openBy({ ...open, programs: ['agents'] })).not.toEqual([])
    write('checks/a.py')
    const unfound = { command: ['python3', '-m', 'pytest'], programs: ['checks'] }
    expect(openBy(unfound)).not.toEqual([])
    expect(() => refuseUnpinned([check(unfound)], around())).not.toThrow()
  })

  it('with `runs_work` is a note and no warning, and verifies nothing', () => {
    const answered = { command: ['python3', '-m', 'pytest'], runs_work: true as const }
    const { violations, warnings, notes } = programProblems(flowOf(answered), around())
    expect([violations, warnings, notes.length]).toEqual([[], [], 1])
    expect(notes[0]).toContain('a person answers for that')
    const { unpinned } = protectedPrograms(new WorkspaceFiles(root), flowOf(answered), '')
    expect(unpinned).toHaveLength(1)
    const pinned = new RunPrograms(flowOf(answered), root, '').pin()
    expect(pinned.open_reviewers).toBeUndefined()
  })

  it('starts what a node declares to make', () => {
    write('agents/r.sh', 'build/app --version\n')
    const work: FlowNode = { ...check(open), node_id: 'w', kind: 'WORK', writes: ['build/**'] }
    expect(openBy(open)).toEqual([])
    expect(openBy(open, [work])[0]).toContain('build/app')
  })
})
