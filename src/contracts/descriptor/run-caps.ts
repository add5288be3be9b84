/**
 * The hard caps of a run (G-11), as `killed_by` and `enforced_by` name them. In a file of their own,
 * because the sandbox needs the names and not the contract of results.
 */

export const RUN_CAPS = ['cpu', 'memory', 'disk', 'duration', 'processes'] as const

export type RunCap = (typeof RUN_CAPS)[number]
/** Whether the kernel holds a cap, or a supervisor that looks every few milliseconds. */
export type EnforcedBy = 'kernel' | 'polled'
