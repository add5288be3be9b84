/** The page docs/flow-language.md: every part, field and word of the flow language, from the contracts. */
import { CODES } from '../../base/index.ts'
import {
  DEFAULT_TEXT_POLICIES,
  FINDING_CODES,
  findContract,
  type LanguagePart,
  LIST_TEXT,
  languageParts,
  partAt,
  publishSchema,
} from '../../contracts/index.ts'
import { ASKING_TO_CONTINUE, RATIONALISING } from '../../flow/index.ts'

/** The part of a published schema that names types. */
interface TypeNode {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, TypeNode>>
  readonly required?: readonly string[]
  readonly items?: TypeNode
  readonly additionalProperties?: boolean | TypeNode
  readonly anyOf?: readonly TypeNode[]
}

const HEAD = `# The flow language

Every field of flows, side files, participants files and test files, and every word that they may use. \`writ flow reference\` prints this page from the contracts; \`writ schema flow_v1\` prints the same as JSON Schema. A first flow, step by step: [tutorial](flow-tutorial.md). How flows run: [flows](flow.md). Expressions: [expressions](expressions.md).

A field in **bold** has to be there. Examples are JSON, which is also YAML; a test checks each of them by its contract.
`

export function flowLanguagePage(): string {
  const known = languageParts()
  return [
    HEAD,
    ...known.map((part) => partText(part, known)),
    ...listTexts(),
    textPolicies(),
    findingCodes(),
  ].join('\n')
}

function partText(part: LanguagePart, known: readonly LanguagePart[]): string {
  // A side file leaves out more than a flow; the first place is the one that asks for most.
  const objects = objectsAt(part.places[0] ?? '', part, known)
  const rows = part.fields.map(({ name, usual, example, says }) => {
    const found = objects.filter((node) => Object.hasOwn(node.properties ?? {}, name))
    const child = found[0]?.properties?.[name] ?? {}
    const isNeeded = found.length > 0 && found.every(({ required = [] }) => required.includes(name))
    const shown = isNeeded ? `**\`${name}\`**` : `\`${name}\``
    const type = typeText(child, `${part.places[0]}/${name}`, known)
    return `| ${shown} | ${type} | ${usual} | ${cell(says)} | \`${cell(example)}\` |`
  })
  const head = '| field | type | default | meaning | example |\n|---|---|---|---|---|'
  return `## ${part.title}\n\n${part.says}\n\n${head}\n${rows.join('\n')}\n`
}

/** The objects of a contract at a place that are this part. */
function objectsAt(
  place: string,
  part: LanguagePart,
  known: readonly LanguagePart[],
): readonly TypeNode[] {
  const [contract = '', ...names] = place.split('/')
  const found = findContract(contract)
  if (found === null) return []
  // A published schema is JSON Schema.
  const root = publishSchema(found) as TypeNode
  const nodes = names.reduce<readonly TypeNode[]>(
    (above, name) => above.flatMap(objectsIn).flatMap((one) => one.properties?.[name] ?? []),
    [root],
  )
  return nodes
    .flatMap(objectsIn)
    .filter((node) => partAt(known, place, Object.keys(node.properties ?? {})) === part)
}

/** Lists, tables and unions are looked through. */
function objectsIn(node: TypeNode): readonly TypeNode[] {
  const { properties = {}, items, additionalProperties: values, anyOf = [] } = node
  return [
    ...(Object.keys(properties).length > 0 ? [node] : []),
    ...(items === undefined ? [] : objectsIn(items)),
    ...(typeof values === 'object' ? objectsIn(values) : []),
    ...anyOf.flatMap(objectsIn),
  ]
}

/** Longer lists are at the end of the page. */
const WORDS_SHOWN = 15

function typeText(node: TypeNode, place: string, known: readonly LanguagePart[]): string {
  const { type, items, additionalProperties: values, anyOf, properties } = node
  if (anyOf !== undefined) {
    const all = anyOf.map((branch) => typeText(branch, place, known))
    if (all.length > 0 && all.every((one) => one.includes('[Participant'))) return PARTICIPANT
    return [...new Set(all)].join(' or ')
  }
  if (node.const !== undefined) return `\`${String(node.const)}\``
  if (node.enum !== undefined)
    return node.enum.length > WORDS_SHOWN
      ? '[a code](#codes-of-findings)'
      : node.enum.map((word) => `\`${JSON.stringify(word).replaceAll('"', '')}\``).join(' ')
  if (type === 'array')
    return items === undefined ? 'list' : `list of ${typeText(items, place, known)}`
  if (type !== 'object') return TYPE_WORDS[type ?? ''] ?? 'anything'
  if (typeof values === 'object') return `table of ${typeText(values, place, known)}`
  const names = Object.keys(properties ?? {})
  const part = names.length === 0 ? null : partAt(known, place, names)
  return part === null ? 'table' : `[${part.title}](#${anchorOf(part.title)})`
}

const PARTICIPANT = '[participant](#participant-command)'

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'number',
  integer: 'whole number',
  boolean: 'true or false',
  null: 'null',
}

function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-')
}

/** A text in a cell of a table. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}

function listTexts(): readonly string[] {
  return LIST_TEXT()
    .trim()
    .split('\n\n')
    .map((section) => {
      const [title = '', ...lines] = section.split('\n')
      const rows = lines.map((line) => {
        const [word = '', ...says] = line.split(' | ')
        return `| \`${word}\` | ${cell(says.join(' | '))} |`
      })
      return `## ${title.replace('# ', '')}\n\n| word | meaning |\n|---|---|\n${rows.join('\n')}\n`
    })
}

function textPolicies(): string {
  const [first, second] = DEFAULT_TEXT_POLICIES
  const phrases = (list: readonly string[]): string => list.map((one) => `\`${one}\``).join(' ')
  return `## Built-in text policies

They look at messages and summaries, and reject. A flow may restate one under its id, as strict or stricter; for artifacts it has to say \`applies_to: output\`.

| policy | phrases |
|---|---|
| \`${first}\` | ${phrases(RATIONALISING)} |
| \`${second}\` | ${phrases(ASKING_TO_CONTINUE)} |
`
}

function findingCodes(): string {
  const rows = FINDING_CODES.map((code) => `| \`${code}\` | ${CODES[code].says} |`)
  return `## Codes of findings

What a run finds and reports; \`writ flow report\` has each with its values and its cause.

| code | meaning |
|---|---|
${rows.join('\n')}
`
}
