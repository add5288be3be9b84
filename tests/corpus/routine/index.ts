/** The corpus of routine work: every task. */
import type { RoutineTask } from '../task.ts'
import { FILES } from './files.ts'
import { NATIVE } from './native.ts'
import { NODE } from './node.ts'
import { PYTHON } from './python.ts'
import { REPOSITORY } from './repository.ts'

export const ROUTINE: readonly RoutineTask[] = [
  ...REPOSITORY,
  ...NODE,
  ...PYTHON,
  ...NATIVE,
  ...FILES,
]
