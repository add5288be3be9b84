/** Writes rulesets as files: YAML for people, JSON for programs. Comments of a YAML file are kept. */
import { isMap, isScalar, isSeq, parseDocument, stringify } from 'yaml'
import type { JsonObject } from '../../contracts/index.ts'

/** Never folds lines: a guard stays on one line. */
const YAML_STYLE = { lineWidth: 0, flowCollectionPadding: false } as const

export function toYaml(document: JsonObject): string {
  return stringify(document, YAML_STYLE)
}

export function toJson(document: JsonObject): string {
  return `${JSON.stringify(document, null, 2)}\n`
}

/** The same YAML file with its guards replaced by those of `document`, rule by rule. */
export function withGuards(text: string, document: JsonObject): string {
  const file = parseDocument(text)
  const rules = file.get('rules')
  if (!isSeq(rules)) return toYaml(document)
  // `rewriteGuards` has made the rules a list of objects.
  const fresh = document['rules'] as readonly JsonObject[]
  rules.items.forEach((rule, index) => {
    const guard = fresh[index]?.['guard']
    if (!isMap(rule) || guard === undefined) return
    const node = rule.get('guard', true)
    if (typeof guard === 'string' && isScalar(node)) node.value = guard
    else rule.set('guard', file.createNode(guard))
  })
  return file.toString(YAML_STYLE)
}
