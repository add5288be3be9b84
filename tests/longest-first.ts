/**
 * Starts the files that take longest first, so that the workers end at about the same time. The seconds
 * are those of `tests/durations.json`, measured once; a file that is not listed comes after those, the
 * larger one first. `npm test` prints the slowest files, and a file that is among them belongs there.
 */
import { readFileSync, statSync } from 'node:fs'
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const FILE = new URL('durations.json', import.meta.url)

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = new Map<string, number>(Object.entries(JSON.parse(readFileSync(FILE, 'utf8'))))
    const weigh = ({ moduleId }: TestSpecification): readonly [number, number] => [
      seconds.get(relative(this.ctx.config.root, moduleId)) ?? 0,
      statSync(moduleId).size,
    ]
    const weighed = files.map((file) => ({ file, weight: weigh(file) }))
    weighed.sort(({ weight: one }, { weight: other }) => other[0] - one[0] || other[1] - one[1])
    return weighed.map(({ file }) => file)
  }
}
