/** The table of tools and resources in docs/mcp.md is made from the tables of the server. */
import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { RESOURCES, TOOLS } from '../../src/mcp/index.ts'

const PAGE = 'docs/mcp.md'
const BLOCK = /<!-- tools -->\n[\s\S]*<!-- \/tools -->/

const KINDS = { acts: 'acts through the gate', asks: 'asks a person', reads: 'reads' }

function table(): string {
  const tools = Object.entries(TOOLS).map(([name, { kind, input, says }]) => {
    const { properties = {}, required = [] } = input as unknown as {
      properties?: Record<string, unknown>
      required?: readonly string[]
    }
    const names = Object.keys(properties).map((one) => (required.includes(one) ? one : `[${one}]`))
    return `| \`${name}\` | ${names.map((one) => `\`${one}\``).join(' ')} | ${KINDS[kind]} | ${says} |`
  })
  const resources = Object.values(RESOURCES).map(({ uri, says }) => `| \`${uri}\` | ${says} |`)
  return [
    '<!-- tools -->',
    '| tool | takes | kind | does |',
    '|---|---|---|---|',
    ...tools,
    '',
    '| resource | holds |',
    '|---|---|',
    ...resources,
    '<!-- /tools -->',
  ].join('\n')
}

it('names every tool and resource as the server does', () => {
  const text = readFileSync(PAGE, 'utf8')
  const wanted = text.replace(BLOCK, table())
  if (process.env['WRIT_RECORD'] === '1') writeFileSync(PAGE, wanted)
  else expect(text).toBe(wanted)
})
