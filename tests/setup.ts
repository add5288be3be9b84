/**
 * One seed for every property of a run. The usual run has a fixed one, so that it says the same of the
 * same code everywhere; the soak draws a new one and prints it.
 */
import fc from 'fast-check'

const USUAL_SEED = 20261115

fc.configureGlobal({ seed: Number(process.env['WRIT_SEED'] ?? USUAL_SEED) })
