/**
 * Test runner settings. Unit tests are beside their files, cross-room tests under tests/. The project
 * `pure` holds the rooms without machine and the vectors, the project `machine` everything else.
 */
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './tests/longest-first.ts'

const PURE = [
  'src/{base,contracts,constitution,expression,policy,ledger,gate,flow,configuration,hosts}/**/*.test.ts',
  'tests/{contracts,gate}-vectors.test.ts',
  'tests/{constitution,expression,flow-documents,network,policy}/vectors.test.ts',
]

export default defineConfig({
  test: {
    setupFiles: ['tests/setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Files share the modules of their worker: loading them for each file took 0.6 s of a core. A test
    // must put back what it changes of the process (environment, timers, working directory).
    isolate: false,
    // The documents of property tests are many and short-lived: in a larger nursery they die without
    // being copied, which saves a tenth of the pure tests.
    execArgv: ['--max-semi-space-size=64'],
    // One more than there are cores: about a third of a run is waiting for disks and processes.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { name: 'pure', include: PURE } },
      // Coding agents, which `npm run hosts` installs first.
      ...(process.env['WRIT_AGENTS'] === undefined
        ? []
        : [
            {
              extends: true as const,
              test: { name: 'agents', include: ['tests/agents/*.agents.ts'] },
            },
          ]),
      {
        extends: true,
        test: {
          name: 'machine',
          include: ['src/**/*.test.ts', 'tests/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...PURE],
        },
      },
    ],
  },
})
