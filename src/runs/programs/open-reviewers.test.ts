/** Which reviewers are open: default deny of programs, options, modules and words. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { FlowNode, Participant } from '../../contracts/index.ts'
import { openReason } from './open-reviewers.ts'
import { programProblems } from './program-problems.ts'
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

function openBy(reviewer: Participant, inside: readonly string[] = []): string | null {
  return openReason(new WorkspaceFiles(root), check(reviewer), inside)
}

function openCommand(...command: readonly string[]): string | null {
  return openBy({ command: [...command] })
}

function openText(path: string, text: string): string | null {
  write(path, text)
  return openCommand(path.endsWith('py') ? 'python3' : 'node', path)
}

const RULES = "'./rules.mjs'"

describe('closed is a command', () => {
  it.each<[readonly string[]]>([
    [['node', 'agents/r.mjs', '--strict', 'out/x.json']],
    [['node', '--no-warnings', 'agents/r.mjs']],
    [['python3', 'agents/r.py']],
    [['/usr/bin/python3', '-I', '-B', 'agents/r.py', '-m', 'x']],
    [['agents/run']],
    [['jq', '-c', '{review_id, total_score: 95}']],
    [['/usr/bin/grep', '-q', 'x', 'out/a.txt']],
  ])('%j', (command) => {
    write('agents/r.mjs', "import { readFileSync } from 'node:fs'\n")
    write('agents/r.py', 'import json\n')
    write('agents/run', '#!/usr/bin/env node\nconst { readFileSync } = require("fs")\n')
    expect(openCommand(...command)).toBeNull()
  })
})

describe('closed is a program that only reads', () => {
  it.each<[string, string]>([
    ['r.mjs', `import * as fs from 'node:fs'\nimport ${RULES}\nexport { a } from ${RULES}`],
    [
      'r.mjs',
      "// The process of a Function: eval\n/* import x */\nimport { readFileSync as r } from 'fs'",
    ],
    [
      'r.mjs',
      "const data = JSON.parse(r(new URL('./rules.json', import.meta.url)))\nprocess.exit(1)",
    ],
    ['r.mjs', 'class A {\n  constructor(a) {\n    this.a = a\n  }\n}\n/a/.exec("b")'],
    [
      'r.mjs',
      'const say = (text) => process.stdout.write(text)\nprocess.exitCode = 1\nprocess.argv[2]',
    ],
    [
      'r.cjs',
      "const { join } = require('node:path')\nrequire('./rules.cjs')\nif (require.main === module) join()\nmodule.exports = { join }",
    ],
    ['r.py', 'import json, re, sys\nfrom pathlib import Path\nimport rules\nre.compile("x")'],
    [
      'r.py',
      'import os, sys\nprint(os.path.exists("x"), sys.argv, os.environ.get("X"))\nsys.exit(1)',
    ],
    [
      'r.py',
      'import xml.etree.ElementTree as ET\nfrom os import path, getenv\nfrom os.path import join',
    ],
    [
      'r.py',
      '# eval, os.system\nimport ast\nast.literal_eval("1")\nif __name__ == "__main__":\n    pass',
    ],
    ['r.py', 'from datetime import datetime as dt\nimport urllib.request'],
  ])('%s: %s', (name, text) => {
    write('agents/rules.mjs', 'export const a = 1')
    write('agents/rules.cjs')
    write('agents/rules.py', 'import math\n')
    expect(openText(`agents/${name}`, `${text}\n`)).toBeNull()
  })
})

describe('open is a command', () => {
  it.each<[readonly string[], string]>([
    [['sh', 'agents/r.sh'], 'shell'],
    [['bash', '-c', 'grep x y'], 'shell'],
    [['env', 'LC_ALL=C', 'node', 'agents/r.mjs'], '`env`'],
    [['env', 'GCONV_PATH=out', 'iconv', 'x'], '`env`'],
    [['timeout', '5', 'node', 'agents/r.mjs'], '`timeout`'],
    [['make', 'check'], '`make`'],
    [['npm', 'test'], '`npm`'],
    [['perl', 'agents/r.pl'], '`perl`'],
    [['claude', '-p', 'review'], '`claude`'],
    [['./agents/r.sh'], 'does not read'],
    [['node'], 'node FILE'],
    [['node', '-e', '1'], 'node FILE'],
    [['node', '--import', './agents/r.mjs', 'agents/r.mjs'], 'node FILE'],
    [['node', '--env-file=out/x', 'agents/r.mjs'], 'node FILE'],
    [['node', 'out/r.mjs'], 'is not there'],
    [['node', '/tmp/r.mjs'], 'made by the work'],
    [['python3', '-m', 'json.tool'], 'python3 FILE'],
    [['python3', '-W', 'error::x.Y', 'agents/r.py'], 'python3 FILE'],
    [['jq', '-f', 'out/x.jq'], '`-f`'],
    [['jq', '-L', 'out', '.'], '`-L`'],
    [['jq', 'import "x" as x; .'], 'loads a file'],
    [['/opt/grep', 'x'], 'does not know'],
    [['tar', 'xf', 'x'], '`tar`'],
  ])('%j', (command, says) => {
    for (const name of ['r.mjs', 'r.sh', 'r.py', 'r.pl']) write(`agents/${name}`)
    expect(openCommand(...command)).toContain(says)
  })

  it('that the search path finds in the workspace, or may find there', () => {
    write('bin/jq', '#!/bin/sh\n')
    expect(openBy({ command: ['jq', '.'] }, ['bin'])).toContain('bin/jq')
    expect(openBy({ command: ['jq', '.'] }, [''])).toContain('PATH')
  })
})

describe('open is a program that may do more than read', () => {
  it.each<[string, string]>([
    ['r.mjs', "import { fork } from 'child_process'"],
    ['r.mjs', "import yaml from 'yaml'"],
    ['r.mjs', "import x from '/opt/x.mjs'"],
    ['r.mjs', "import x from 'data:text/javascript,1'"],
    ['r.mjs', 'await import(process.argv[2])'],
    ['r.mjs', `await import(${RULES} + b)`],
    ['r.mjs', 'new Function("a")()'],
    ['r.mjs', 'const F = Function'],
    ['r.mjs', '(() => {}).constructor(text)()'],
    ['r.mjs', "const { chdir } = process; chdir('out')"],
    ['r.mjs', "import { dlopen } from 'node:process'"],
    ['r.mjs', '(0, eval)("x")'],
    ['r.mjs', "process['dlopen'](x)"],
    ['r.mjs', 'f(process)'],
    ['r.mjs', "globalThis['ev' + 'al']"],
    ['r.mjs', "new Worker('./x.mjs')"],
    ['r.mjs', `const a = \`\n// $\{eval(b)}\``],
    ['r.cjs', 'const load = require'],
    ['r.cjs', 'require(process.argv[2])'],
    ['r.cjs', "module.constructor._load('x')"],
    ['r.ts', "import 'fs'"],
    ['r.py', 'from os import (\n  path,\n  system)'],
    ['r.py', 'import os as o; o.system("x")'],
    ['r.py', 'import os; f = os'],
    ['r.py', 'import pathlib; pathlib.os.system("x")'],
    ['r.py', 'import os; getattr(os, "popen")("x")'],
    ['r.py', 'import sys as s; s.path.insert(0, "out")'],
    ['r.py', 'import sys\nsys.path.insert(0, "out")'],
    ['r.py', 'from sys import path'],
    ['r.py', 'import importlib'],
    ['r.py', 'from os import *'],
    ['r.py', 'def f():\n    yield from os.popen("x")'],
    ['r.py', 'exec(open("out/x").read())'],
    ['r.py', 'run = exec'],
    ['r.py', 'import yaml'],
    ['r.py', 'import pickle'],
    ['r.py', 'import logging.config'],
    ['r.py', 'import sqlite3'],
    ['r.py', 'import tarfile'],
    ['r.py', 'x = ().__class__.__base__'],
    ['r.py', '"""\n# import\n"""'],
  ])('%s: %s', (name, text) => {
    expect(openText(`agents/${name}`, `\n${text}\n`)).toContain(`agents/${name}`)
  })

  it('through a module of it, a link, or a package', () => {
    write('agents/rules.mjs', 'eval("1")')
    expect(openText('agents/r.mjs', `import ${RULES}`)).toContain('(agents/rules.mjs:1)')
    write('agents/rules.py', 'import subprocess')
    expect(openText('agents/r.py', 'import rules')).toContain('(agents/rules.py:1)')
    write('agents/yaml/notes.txt')
    expect(openText('agents/s.py', 'import yaml')).toContain('yaml')
    write('agents/plain.mjs')
    symlinkSync('plain.mjs', join(root, 'agents/link.mjs'))
    expect(openCommand('node', 'agents/link.mjs')).toContain('a link')
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

  it('is a warning of the check with the line to write', () => {
    write('agents/r.sh', 'true\n')
    const { violations, warnings } = programProblems(flowOf(open), around())
    expect(violations).toEqual([])
    expect(warnings.map(({ code, path }) => [code, path])).toEqual([
      ['flow.reviewer_open', '/nodes/0/reviewer'],
    ])
    expect(warnings[0]?.message).toContain('only its artifact, and data')
    expect(warnings[0]?.hint).toContain(
      'reviewer: {"command":["sh","agents/r.sh"],"runs_work":true}',
    )
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
    expect(open?.hint).toContain('let it import only modules of Node or Python')
  })

  it('is not closed by `programs`, which pins', () => {
    write('agents/r.sh', 'true\n')
    expect(openBy({ ...open, programs: ['agents'] })).not.toBeNull()
    const pinned = new RunPrograms(flowOf({ ...open, programs: ['agents'] }), root, '').pin()
    expect(pinned.open_reviewers).toMatchObject([{ node_id: 'c' }])
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
})
