/**
 * What an actor that is no person may do without a question, wherever the laws say nothing else:
 * create files, change what git tracks, what git itself keeps, and what builds make. Deletions are
 * asked about, but for the files that git leaves while something is under way.
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

/** Made and removed by git in the course of one command or of several. */
const GIT_UNDER_WAY = [
  'AUTO_MERGE',
  'MERGE_HEAD',
  'MERGE_MODE',
  'MERGE_MSG',
  'MERGE_RR',
  'SQUASH_MSG',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'REBASE_HEAD',
  'ORIG_HEAD',
  'FETCH_HEAD',
  'COMMIT_EDITMSG',
  'BISECT_*',
  'rebase-merge/**',
  'rebase-apply/**',
  'sequencer/**',
]

export const DEFAULT_GRANTS: readonly GrantDocument[] = [
  {
    grant_id: 'CREATE',
    create: ['**', '**/.git/**'],
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
    change: ['**/.git/**'],
    delete: GIT_UNDER_WAY.map((name) => `**/.git/**/${name}`),
    per_act: { files: 2_000, mb: 1_024 },
    per_hour: { files: 10_000, mb: 4_096 },
  },
  {
    grant_id: 'BUILD_OUTPUT',
    change: BUILD_OUTPUT.map((name) => `**/${name}/**`),
    per_act: { files: 20_000, mb: 1_024 },
    per_hour: { files: 50_000, mb: 4_096 },
  },
]
