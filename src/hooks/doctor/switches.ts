/** Which files of a project switch the hooks of a host off, or widen its rights. */
import { join } from 'node:path'
import { readConfiguration } from '../../configuration/index.ts'
import { type AgentHost, switchedOff } from '../../hosts/index.ts'
import { readableText } from '../../machine/index.ts'

export async function switchesIn(host: AgentHost, project: string): Promise<AgentHost['switches']> {
  const values = new Map<string, unknown>()
  for (const { file } of host.switches) {
    const text = readableText(join(project, file))
    const read = await readConfiguration(text, file.endsWith('.toml') ? 'toml' : 'json')
    if (text !== '' && read.ok) values.set(file, read.value)
  }
  return switchedOff(host, (file) => values.get(file))
}
