/**
 * What an actor that is no person may do without a question, wherever the laws say nothing else:
 * create files, change what git tracks and what builds make, and what git's ordinary commands do in a
 * `.git` directory. Deletions are asked about, but for files that git leaves while something is under
 * way.
 *
 * Deliberately absent: what git ignores. An ignored file may be the only copy of something; only
 * places whose names say that a tool makes them again are listed.
 */
import type { GrantDocument } from '../contracts/index.ts'

const BUILD_OUTPUT = [
  'node_modules',
  'bower_components',
  'dist',
  'build',
  'out',
  'target',
  'coverage',
  'htmlcov',
  'site-packages',
  '__pycache__',
  'obj',
  '.cache',
  '.next',
  '.nuxt',
  '.output',
  '.svelte-kit',
  '.turbo',
  '.parcel-cache',
  '.gradle',
  '.dart_tool',
  '.venv',
  'venv',
  '.tox',
  '.nox',
  '.mypy_cache',
  '.ruff_cache',
  '.pytest_cache',
  '*.egg-info',
  'cmake-build-*',
]

export const DEFAULT_GRANTS: readonly GrantDocument[] = [
  {
    grant_id: 'CREATE',
    create: ['**'],
    per_act: { files: 20_000, mb: 1_024 },
    per_hour: { files: 50_000, mb: 4_096 },
  },
  {
    grant_id: 'CHANGE_TRACKED',
    change: ['**'],
    tracked: true,
    per_act: { files: 200, mb: 256 },
    per_hour: { files: 10_000, mb: 1_024 },
  },
  {
    grant_id: 'GIT_STATE',
    create: ['**/.git/**'],
    change: ['**/.git/**'],
    delete: ['**/.git/**'],
    git: true,
    per_act: { files: 20_000, mb: 1_024 },
    per_hour: { files: 50_000, mb: 4_096 },
  },
  {
    grant_id: 'BUILD_OUTPUT',
    change: BUILD_OUTPUT.map((name) => `**/${name}/**`),
    per_act: { files: 20_000, mb: 1_024 },
    per_hour: { files: 50_000, mb: 4_096 },
  },
]
