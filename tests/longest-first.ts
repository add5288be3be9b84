/**
 * Starts the files that take longest first, so that the workers end at about the same time. The seconds
 * are those of the last `npm test` here, or of `tests/durations.json`, measured once; a file that has
 * none comes after those, the larger one first.
 */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const FILES = ['durations.json', '../.cache/durations.json'].map(
  (name) => new URL(name, import.meta.url),
)

function knownSeconds(): ReadonlyMap<string, number> {
  const known = FILES.filter((file) => existsSync(file))
  return new Map(
    known.flatMap((file): [string, number][] =>
      Object.entries(JSON.parse(readFileSync(file, 'utf8'))),
    ),
  )
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const seconds = knownSeconds()
    const weigh = ({ moduleId }: TestSpecification): readonly [number, number] => [
      seconds.get(relative(this.ctx.config.root, moduleId)) ?? 0,
      statSync(moduleId).size,
    ]
    const weighed = files.map((file) => ({ file, weight: weigh(file) }))
    weighed.sort(({ weight: one }, { weight: other }) => other[0] - one[0] || other[1] - one[1])
    return weighed.map(({ file }) => file)
  }
}
