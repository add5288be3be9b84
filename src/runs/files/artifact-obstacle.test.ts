/** Why an artifact could not be put into its place. */
import { expect, it } from 'vitest'
import { faultError } from '../../base/index.ts'
import { artifactObstacle } from './artifact-obstacle.ts'

const PATH = 'artifacts/run-1/a/1/r.md'

it('names a directory of another group as the cause, and the command that helps', () => {
  const error = Object.assign(new Error('EOVERFLOW: value too large'), { code: 'EOVERFLOW' })
  const says = artifactObstacle(error, PATH, false)
  expect(says).toContain(`${PATH} cannot be written`)
  expect(says).toContain('chgrp "$(id -g)" DIRECTORY')
})

it('blames the participant only for what lies in a folder that it changed', () => {
  const error = faultError('diff.unsupported', PATH)
  expect(artifactObstacle(error, PATH, true)).toContain('it left something')
  expect(() => artifactObstacle(error, PATH, false)).toThrow(error)
  expect(() => artifactObstacle(new Error('EIO'), PATH, true)).toThrow('EIO')
})
