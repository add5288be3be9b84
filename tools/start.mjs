/** `npm start`: sets up what is missing, then runs the guided tour. Arguments go to `writ demo`. */
import { prepare, run } from './setup.mjs'

await prepare()
const { status } = run('node', ['bin/writ.cjs', 'demo', ...process.argv.slice(2)])
process.exit(status ?? 4)
