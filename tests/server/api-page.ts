/** docs/api.md, made from the description of the service. */
import { openApiDocument, ROUTES } from '../../src/api/index.ts'
import type { Json } from '../cli-gate/place.ts'

const WHO: Readonly<Record<string, string>> = {
  anyone: 'anyone',
  caller: 'every token',
  human: 'humans',
  proven: 'humans, with proof',
}

export function apiPage(): string {
  const { paths } = openApiDocument(ROUTES, { version: '', url: '/' }) as Json
  const rows = Object.entries<Json>(paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const tags = [...new Set(rows.map(({ operation }) => String(operation.tags[0])))]
  const parts = tags.map((tag) => {
    const lines = rows
      .filter(({ operation }) => operation.tags[0] === tag)
      .map(({ path, method, operation }) => {
        const command = operation['x-writ-command']
        const fields = operation.requestBody?.content['application/json'].schema.properties ?? {}
        const body = Object.keys(fields).filter((name) => name !== 'proof')
        const query = operation.parameters
          .filter((one: Json) => one.in === 'query')
          .map(({ name }: Json) => name)
        const given = [...query, ...body].map((name) => `\`${name}\``).join(', ')
        return `| \`${method.toUpperCase()} ${path}\` | ${operation.summary} | ${given} | ${WHO[operation['x-writ-who']]} | ${command === undefined ? '' : `\`writ ${command}\``} |`
      })
    return `## ${tag}\n\n| route | what it does | fields | who | command |\n|---|---|---|---|---|\n${lines.join('\n')}\n`
  })
  return `# Routes\n\nEvery route of \`writ serve\`, made from its description (\`/openapi.json\`, which has the schemas). How to call them: [service.md](service.md). *With proof*: the body has \`"proof": {"passphrase": "…"}\`, or \`"proof": {"passkey": …}\` with the answer to a challenge.\n\n${parts.join('\n')}`
}
