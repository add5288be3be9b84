/** Test runner settings: unit tests beside their files, cross-room tests under tests/. */
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'tests/**/*.test.ts'],
    setupFiles: ['tests/setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // One more than the default on two cores: much of a run is waiting for processes and disks.
    maxWorkers: Math.max(2, availableParallelism()),
  },
})
