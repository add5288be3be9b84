/**
 * The form between the hook program and writ's own plugins for hosts whose hooks are scripts inside
 * the host (OpenCode, pi): one JSON object each way. The plugin does what the answer says.
 */
import { digestBytes } from '../base/index.ts'
import { BOUNDARIES, isOfTool, printed } from './claude-form.ts'
import { asObject, objectIn, textIn } from './fields.ts'
import { type AgentName, eventWords, type InstallOrder } from './host.ts'
import type { HookAnswer, PrintedAnswer, ToolReport } from './report.ts'
import { NO_TOOL, type ToolNames, toolParts } from './tools.ts'

export function readPluginForm(host: AgentName, tools: ToolNames) {
  return (input: unknown): ToolReport | null => {
    const value = asObject(input)
    const boundary = BOUNDARIES.find((one) => one === value?.['boundary'])
    if (value === null || boundary === undefined) return null
    const name = textIn(value, 'tool')
    const args = objectIn(value, 'arguments')
    if (isOfTool(boundary) && (name === null || args === null)) return null
    const prompt = textIn(value, 'prompt')
    return {
      host,
      boundary,
      ...(name === null || args === null ? NO_TOOL : toolParts(tools, name, args)),
      call: textIn(value, 'call'),
      cwd: textIn(value, 'cwd'),
      session: textIn(value, 'session'),
      agent: textIn(value, 'agent'),
      model: textIn(value, 'model'),
      prompt: prompt === null ? null : digestBytes(prompt),
    }
  }
}

export function printPluginForm(answer: HookAnswer): PrintedAnswer {
  return printed(answer)
}

/**
 * The file that a host loads: it hands writ's plugin the words of the hook program. In wrapping the
 * plugin throws when that program fails, which blocks the call.
 */
export function pluginFile(order: InstallOrder, host: AgentName, isDefault: boolean): string {
  const words = JSON.stringify([order.writ, ...eventWords(order, host)])
  const made = `plugin(${words}, ${String(order.mode === 'wrap')})`
  return [
    `// Written by \`writ hook install ${host}\`; \`writ hook uninstall ${host}\` removes it.`,
    `import { plugin } from ${JSON.stringify(`${order.plugins}/${host}.mjs`)}`,
    '',
    isDefault ? `export default ${made}` : `export const Writ = ${made}`,
    '',
  ].join('\n')
}
