/** One seed for every property of a run, printed with the first failure by fast-check itself. */
import fc from 'fast-check'

const seed = process.env['WRIT_SEED']
if (seed !== undefined) fc.configureGlobal({ seed: Number(seed) })
