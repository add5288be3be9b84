/**
 * A process that walks runs: `WATCHER FOLDER chain COUNT` begins so many, `… every-edge` begins one of
 * them with participants, `… resume RUN` goes on with one. WATCHER is the built thread of the sandbox.
 */
import { pathToFileURL } from 'node:url'
import { resumeRun, startRun } from '../../src/host/flow/runs.ts'
import { everyEdge } from './every-edge.ts'
import { RunPlace } from './place.ts'
import { chain, compiledFlow } from './scripts.ts'

const [watcher = '', folder = '', what = '', word = ''] = process.argv.slice(2)
const place = await new RunPlace('child', folder).open(pathToFileURL(watcher))
const order = { workspace: place.workspace, participantsDigest: null }

switch (what) {
  case 'chain':
    await Promise.all(
      Array.from({ length: Number(word) }, () =>
        startRun(place.host(), { ...order, flow: compiledFlow(chain(9)) }),
      ),
    )
    break
  case 'every-edge': {
    const onRun = (runId: string): void => {
      process.stdout.write(`${runId}\n`)
    }
    const { status } = await startRun(place.host(), {
      ...order,
      flow: compiledFlow(everyEdge()),
      onRun,
    })
    process.stdout.write(`${status}\n`)
    break
  }
  case 'resume': {
    const { status } = await resumeRun(place.host(), word)
    process.stdout.write(`${status}\n`)
    break
  }
}
await place.close()
