/** Whose rules runs are walked by; it changes when a step would conclude otherwise than before. */
export const FLOW_EVALUATOR = { name: 'flow', version: '1' } as const
