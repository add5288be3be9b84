/** What the participants of this example share: their input, the channel to the gate, their answer. */
import { readFileSync, readSync, writeSync } from 'node:fs'

export const input = JSON.parse(readFileSync(0, 'utf8'))

/** One operation through the gate: a line out on descriptor 3, a line back. */
export function propose(operation) {
  writeSync(3, `${JSON.stringify({ operation })}\n`)
  const part = Buffer.alloc(65536)
  let text = ''
  while (!text.includes('\n')) {
    try {
      text += part.toString('utf8', 0, readSync(3, part))
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error
    }
  }
  return JSON.parse(text)
}

export function write(path, content) {
  return propose({ type: 'FILE_WRITE', path: `${process.cwd()}/${path}`, content })
}

export function deliver(name, content) {
  const artifact = { name, format: 'md', content }
  const head = { schema_version: 'xiaobo_action_v1', task_id: input.node.node_id }
  process.stdout.write(JSON.stringify({ ...head, result_type: 'ARTIFACT', artifact }))
}

/** Time that is really spent, since the floor is measured by the host. */
export function spend(milliseconds) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}
