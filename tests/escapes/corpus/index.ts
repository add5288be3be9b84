/** Every attempt, in the order of its kinds. */
import type { Attempt } from '../attempt.ts'
import { CALL_ATTEMPTS } from './calls.ts'
import { FILE_ATTEMPTS } from './files.ts'
import { HOG_ATTEMPTS } from './hogs.ts'
import { INPUT_ATTEMPTS } from './inputs.ts'
import { MACHINE_ATTEMPTS } from './machine.ts'
import { SECRET_ATTEMPTS } from './secrets.ts'

export const CORPUS: readonly Attempt[] = [
  ...CALL_ATTEMPTS,
  ...MACHINE_ATTEMPTS,
  ...SECRET_ATTEMPTS,
  ...FILE_ATTEMPTS,
  ...INPUT_ATTEMPTS,
  ...HOG_ATTEMPTS,
]
