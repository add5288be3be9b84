/** A process that walks runs side by side: `WATCHER FOLDER COUNT`. WATCHER is the built thread of the sandbox. */
import { pathToFileURL } from 'node:url'
import { startRun } from '../../src/runs/runs.ts'
import { RunPlace } from './place.ts'
import { chain, compiledFlow } from './scripts.ts'

const [watcher = '', folder = '', count = ''] = process.argv.slice(2)
const place = await new RunPlace('child', folder).open(pathToFileURL(watcher))
const flow = compiledFlow(chain(9))
const order = { workspace: place.workspace, participantsDigest: null, flow }
await Promise.all(Array.from({ length: Number(count) }, () => startRun(place.host(), order)))
await place.close()
