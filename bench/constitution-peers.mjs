/**
 * The peers of the rule bench. Each is made from the same rules and answers a prepared request with
 * ALLOW, DENY or UNDETERMINED in `judge`; `call` is the bare call that is timed. What a peer can
 * prepare ahead is prepared ahead: parsed policies, its own form of each request.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { newEnforcer, newModelFromString, StringAdapter } from 'casbin'
import { Engine } from 'json-rules-engine'

const require = createRequire(import.meta.url)

/**
 * Fixed columns instead of an expression for each rule, because casbin would parse that at each
 * call. Its plain `enforceSync` is timed, which does not say which rule decided.
 */
export async function casbin(rules) {
  const model = newModelFromString(`
[request_definition]
r = act, type, confidence, sources, evidence
[policy_definition]
p = act, type, confidences, sources, eft, id
[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))
[matchers]
m = r.act == p.act && r.type == p.type && r.evidence && isIn(r.confidence, p.confidences) && share(r.sources, p.sources)
`)
  const lines = rules.map(
    ({ action, type, confidences, sources, verdict, id }) =>
      `p, ${action}, ${type}, ${confidences.join('|')}, ${sources.join('|')}, ${verdict.toLowerCase()}, ${id}`,
  )
  const enforcer = await newEnforcer(model, new StringAdapter(lines.join('\n')))
  // A policy holds texts only; each list is taken apart once.
  const lists = new Map(
    rules.flatMap(({ confidences, sources }) =>
      [confidences, sources].map((list) => [list.join('|'), list]),
    ),
  )
  enforcer.addFunction('isIn', (word, list) => lists.get(list).includes(word))
  enforcer.addFunction('share', (words, list) =>
    lists.get(list).some((word) => words.includes(word)),
  )
  const prepare = ({ action, type, confidence, sources, evidence }) => [
    action,
    type,
    confidence,
    sources,
    evidence,
  ]
  return {
    prepare,
    call: (request) => enforcer.enforceSync(...request),
    judge: (request) => {
      const [allowed, why] = enforcer.enforceExSync(...request)
      return allowed ? 'ALLOW' : why.length > 0 ? 'DENY' : 'UNDETERMINED'
    },
  }
}

/** Policies are parsed once. A deny without a reason means that no policy permitted it. */
export async function cedar(rules) {
  const { preparsePolicySet, statefulIsAuthorized } = require('@cedar-policy/cedar-wasm/nodejs')
  const list = (words) => `[${words.map((word) => JSON.stringify(word)).join(', ')}]`
  const staticPolicies = Object.fromEntries(
    rules.map(({ id, action, verdict, type, confidences, sources }) => [
      id,
      `${verdict === 'ALLOW' ? 'permit' : 'forbid'} (principal, action == Action::"${action}", resource)
       when { context.type == "${type}" && ${list(confidences)}.contains(context.confidence)
         && context.sources.containsAny(${list(sources)}) && context has evidence };`,
    ]),
  )
  const name = `rules-${rules.length}`
  const parsed = preparsePolicySet(name, { staticPolicies })
  if (parsed.type !== 'success')
    throw new Error(`cedar refuses the policies: ${JSON.stringify(parsed)}`)
  return {
    prepare: ({ action, evidence, ...context }) => ({
      principal: { type: 'Farm', id: 'north-farm' },
      action: { type: 'Action', id: action },
      resource: { type: 'Plot', id: 'p7' },
      context: evidence ? { ...context, evidence: true } : context,
      entities: [],
      preparsedPolicySetId: name,
    }),
    call: (request) => statefulIsAuthorized(request),
    judge: (request) => {
      const answer = statefulIsAuthorized(request)
      if (answer.type !== 'success') throw new Error(JSON.stringify(answer))
      const { decision, diagnostics } = answer.response
      if (diagnostics.errors.length > 0) throw new Error(JSON.stringify(diagnostics.errors))
      if (decision === 'allow') return 'ALLOW'
      return diagnostics.reason.length > 0 ? 'DENY' : 'UNDETERMINED'
    },
  }
}

/** Each rule has an event of its own; the engine answers with a promise. */
export async function jsonRulesEngine(rules) {
  const engine = new Engine([], { allowUndefinedFacts: true })
  engine.addOperator('shares', (words, wanted) => wanted.some((word) => words.includes(word)))
  for (const { id, action, verdict, type, confidences, sources } of rules) {
    engine.addRule({
      name: id,
      conditions: {
        all: [
          { fact: 'action', operator: 'equal', value: action },
          { fact: 'type', operator: 'equal', value: type },
          { fact: 'confidence', operator: 'in', value: confidences },
          { fact: 'sources', operator: 'shares', value: sources },
          { fact: 'evidence', operator: 'equal', value: true },
        ],
      },
      event: { type: verdict },
    })
  }
  return {
    prepare: (request) => request,
    call: (request) => engine.run(request),
    judge: async (request) => {
      const { events } = await engine.run(request)
      const words = events.map(({ type }) => type)
      return words.includes('DENY') ? 'DENY' : words.includes('ALLOW') ? 'ALLOW' : 'UNDETERMINED'
    },
  }
}

/** Only where `OPA_POLICY_WASM` names `constitution.rego` compiled for `constitution/verdict`. */
export async function opa(rules) {
  const { loadPolicy } = require('@open-policy-agent/opa-wasm')
  const policy = await loadPolicy(readFileSync(process.env.OPA_POLICY_WASM))
  policy.setData({ rules })
  return {
    prepare: (request) => request,
    call: (request) => policy.evaluate(request),
    judge: (request) => policy.evaluate(request)[0].result,
  }
}
