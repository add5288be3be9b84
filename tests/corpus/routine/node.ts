/** Work on a JavaScript or TypeScript project. */
import type { RoutineTask } from '../task.ts'

const node = (
  name: string,
  run: string,
  rest: Omit<RoutineTask, 'id' | 'start' | 'run'> = {},
): RoutineTask => ({ id: `node/${name}`, start: 'node', run, ...rest })

/** A package as npm packs it, in a file of the project. */
const PACKED =
  'mkdir -p package && printf \'{"name":"pad","version":"1.2.0","main":"index.js","bin":{"pad":"cli.js"}}\' > package/package.json && echo "module.exports = (text) => text.padStart(8)" > package/index.js && printf \'#!/usr/bin/env node\\nconsole.log(1)\\n\' > package/cli.js && tar czf pad-1.2.0.tgz package && rm -r package'
const INSTALL = 'npm install --offline --no-audit --no-fund --loglevel=error'
const INSTALLED = ['node_modules/**', 'package.json', 'package-lock.json']
const SCRIPTS = {
  code: 'effect.deferred_execution',
  because: 'scripts of a package.json run at the next install',
}

export const NODE: readonly RoutineTask[] = [
  node('test', 'npm test --silent'),
  node('test-runner', 'node --test'),
  node('start', 'npm start --silent'),
  node('check-syntax', 'node --check src/main.js'),
  node('versions', 'node --version && npm --version'),
  node('npm-list', 'npm ls --offline'),
  node('npm-outdated-script', 'npm pkg get name version'),
  node('evaluate', 'node -e "console.log(JSON.stringify(process.versions))"'),
  node('build', 'npm run build', { declared: { write: ['dist/**'] } }),
  node('rebuild', 'rm -rf dist && npm run --silent build', {
    before: 'npm run --silent build && echo old > dist/old.js',
    declared: { write: ['dist/**'], delete: ['dist/**'] },
  }),
  node('coverage', 'node --test --experimental-test-coverage > coverage.txt', {
    declared: { write: ['coverage.txt'] },
  }),
  node(
    'codemod-folders',
    "node -e \"const fs = require('fs'); fs.renameSync('src', 'lib'); fs.renameSync('test', 'tests'); for (const f of ['tests/total.test.js', 'build.mjs']) fs.writeFileSync(f, fs.readFileSync(f, 'utf8').replace(/src/g, 'lib'))\" && node --test tests/",
    {
      declared: {
        write: ['lib/**', 'tests/**', 'build.mjs'],
        delete: ['src/**', 'test/**'],
      },
    },
  ),
  node('npm-pack', 'npm pack --silent', { declared: { write: ['*.tgz'] } }),
  node('npm-version', 'npm version patch --no-git-tag-version', {
    declared: { write: ['package.json', 'package-lock.json'] },
  }),
  node('npm-pkg-set', 'npm pkg set description="A shop"', {
    declared: { write: ['package.json'] },
  }),
  node('npm-pkg-set-script', 'npm pkg set scripts.lint="biome check"', {
    declared: { write: ['package.json'] },
    asks: SCRIPTS,
  }),
  node('npm-init', 'mkdir tool && cd tool && npm init -y', {
    declared: { write: ['tool/package.json'] },
    asks: SCRIPTS,
  }),
  node('npm-install', `${INSTALL} ./pad-1.2.0.tgz`, {
    before: PACKED,
    declared: { write: INSTALLED },
  }),
  node('npm-install-dev', `${INSTALL} --save-dev ./pad-1.2.0.tgz`, {
    before: PACKED,
    declared: { write: INSTALLED },
  }),
  node('npm-ci', 'npm ci --offline --no-audit --loglevel=error', {
    before: `${PACKED} && ${INSTALL} ./pad-1.2.0.tgz && rm -r node_modules`,
    declared: { write: ['node_modules/**'] },
  }),
  node('npm-uninstall', 'npm uninstall --offline --no-audit --loglevel=error pad', {
    before: `${PACKED} && ${INSTALL} ./pad-1.2.0.tgz`,
    declared: { write: INSTALLED, delete: ['node_modules/**'] },
  }),
  node('npm-dedupe', 'npm dedupe --offline --no-audit --loglevel=error', {
    before: `${PACKED} && ${INSTALL} ./pad-1.2.0.tgz`,
    declared: { write: INSTALLED },
  }),
  node('npx-installed', 'npx --offline pad', { before: `${PACKED} && ${INSTALL} ./pad-1.2.0.tgz` }),
  node('tsc-check', 'node {packages}/typescript/bin/tsc --noEmit --strict src/types.ts'),
  node(
    'tsc-build',
    'node {packages}/typescript/bin/tsc --strict --declaration --outDir dist --rootDir src src/types.ts',
    { declared: { write: ['dist/**'] } },
  ),
  node('vitest', 'node {packages}/vitest/vitest.mjs run --globals unit', {
    before: `mkdir unit && echo "test('one', () => expect(1).toBe(1))" > unit/one.test.js`,
  }),
  node('biome-check', 'node {packages}/@biomejs/biome/bin/biome lint src'),
  node('biome-format', 'node {packages}/@biomejs/biome/bin/biome format --write src', {
    declared: { write: ['src/**'] },
  }),
  node(
    'esbuild',
    '{packages}/esbuild/bin/esbuild src/main.js --bundle --minify --sourcemap --outfile=dist/app.js --log-level=error',
    { declared: { write: ['dist/**'] } },
  ),
  node(
    'esbuild-types',
    '{packages}/esbuild/bin/esbuild src/types.ts --outdir=dist --log-level=error',
    {
      declared: { write: ['dist/**'] },
    },
  ),
  node('generate-module', 'node generate.mjs', {
    before: `cat > generate.mjs <<'JS'
import { writeFileSync } from 'node:fs'
writeFileSync('src/names.js', 'export const NAMES = [1, 2]')
JS`,
    declared: { write: ['src/names.js'] },
  }),
  node('rename-symbol', "sed -i 's/total/sum/g' src/*.js test/*.js", {
    declared: { write: ['src/*.js', 'test/*.js'] },
  }),
  node('update-lock', 'npm install --package-lock-only --offline --no-audit --loglevel=error', {
    declared: { write: ['package-lock.json'] },
  }),
  node('changelog', 'node changelog.cjs', {
    before: `cat > changelog.cjs <<'JS'
const { execFileSync } = require('node:child_process')
const { writeFileSync } = require('node:fs')
const lines = execFileSync('git', ['log', '--format=- %s (%h)']).toString()
writeFileSync('CHANGELOG.md', '# Changes\\n\\n' + lines)
JS`,
    declared: { write: ['CHANGELOG.md'] },
  }),
  node('server-and-client', 'node serve.mjs', {
    before: `cat > serve.mjs <<'JS'
import { createServer, get } from 'node:http'
const server = createServer((_, answer) => answer.end('ok')).listen(0, '127.0.0.1', () =>
  get({ port: server.address().port, host: '127.0.0.1' }, (answer) => {
    console.log(answer.statusCode)
    server.close()
    answer.resume()
  }),
)
JS`,
  }),
]
