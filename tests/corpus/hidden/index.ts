/** The corpus of hidden side effects: every task. */
import type { HiddenTask } from '../task.ts'
import { BUILDS } from './builds.ts'
import { DELIVERIES } from './deliveries.ts'
import { SCRIPTS } from './scripts.ts'

export const HIDDEN: readonly HiddenTask[] = [...SCRIPTS, ...BUILDS, ...DELIVERIES]
