/**
 * The rule kernel against casbin, cedar and json-rules-engine (and OPA where a compiled policy is at
 * hand): the same rules, the same requests, all in this process, and every verdict compared before
 * anything is timed. Ours says which rule decided; `evaluate` also makes the whole verdict document.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { establish } from '../dist/constitution/index.js'
import { casbin, cedar, jsonRulesEngine, opa } from './constitution-peers.mjs'
import { actionsFor, inputsOf, makeRequests, makeRules, rulesetsOf } from './constitution-rules.mjs'
import { bestRates, bestRatesOfPromises, row } from './measure.mjs'

export const title = 'constitution'

const FEW = 10
const MANY = 1000
const AT_MS = 1763193600000

export async function measure() {
  const few = await engines(FEW)
  const many = await engines(MANY)
  // Both sizes in one turn: what slows the machine down slows them down alike.
  const rates = {
    ...bestRates({ ...named(FEW, few.direct), ...named(MANY, many.direct) }),
    ...(await bestRatesOfPromises({
      ...named(FEW, few.promises),
      ...named(MANY, many.promises),
    })),
  }
  const rate = (count, name) => rates[`${count} ${name}`] ?? null
  const against = (count, name, goal) =>
    row(
      `${count} rules, verdict and rule`,
      'decide',
      rate(count, 'decide'),
      NAMES[name],
      rate(count, name),
      goal,
    )
  return [
    against(FEW, 'casbin', 50),
    against(FEW, 'cedar', 200),
    against(FEW, 'jsonRulesEngine', null),
    against(FEW, 'opa', null),
    against(MANY, 'casbin', 2000),
    against(MANY, 'cedar', 2000),
    against(MANY, 'jsonRulesEngine', null),
    against(MANY, 'opa', null),
    row(
      'more rules, over many actions',
      `${MANY} rules`,
      rate(MANY, 'decide'),
      `${FEW} rules`,
      rate(FEW, 'decide'),
      0.5,
    ),
    ...[FEW, MANY].map((count) =>
      row(
        `${count} rules, whole verdict document`,
        'evaluate',
        rate(count, 'evaluate'),
        NAMES.casbin,
        rate(count, 'casbin'),
        5,
      ),
    ),
    ...memory(),
  ]
}

const NAMES = {
  casbin: 'casbin',
  cedar: 'cedar-wasm, preparsed',
  jsonRulesEngine: 'json-rules-engine',
  opa: 'opa-wasm',
}

/** Every engine over the same rules, as functions that judge the next request at each call. */
async function engines(ruleCount) {
  const rules = makeRules(ruleCount)
  const requests = makeRequests(ruleCount)
  const ours = kernel(rules)
  const peers = {
    casbin: await casbin(rules),
    cedar: await cedar(rules),
    jsonRulesEngine: await jsonRulesEngine(rules),
  }
  const policy = process.env.OPA_POLICY_WASM
  if (policy !== undefined && existsSync(policy)) peers.opa = await opa(rules)
  await compareVerdicts(requests, ours, peers)
  const turn = ({ prepare }, call) => inTurn(requests.map(prepare), call)
  const { jsonRulesEngine: promises, ...direct } = peers
  return {
    direct: {
      decide: turn(ours, ours.call),
      evaluate: turn(ours, ours.evaluate),
      ...Object.fromEntries(
        Object.entries(direct).map(([name, peer]) => [name, turn(peer, peer.call)]),
      ),
    },
    promises: { jsonRulesEngine: turn(promises, promises.call) },
  }
}

function named(count, functions) {
  return Object.fromEntries(
    Object.entries(functions).map(([name, work]) => [`${count} ${name}`, work]),
  )
}

function kernel(rules) {
  const sources = rulesetsOf(rules).map((document) => ({ document }))
  const constitution = establish(sources, { action_codes: actionsFor(rules.length) })
  return {
    prepare: (request) => ({ inputs: inputsOf(request), action: request.action }),
    call: ({ inputs, action }) => constitution.decide(inputs, action),
    evaluate: ({ inputs }) => constitution.evaluate(inputs, AT_MS),
  }
}

/** All engines say the same on every request, and the requests bring out every verdict. */
async function compareVerdicts(requests, ours, peers) {
  const seen = new Set()
  for (const request of requests) {
    const prepared = ours.prepare(request)
    const { verdict, ruleRef } = ours.call(prepared)
    const [document] = ours.evaluate(prepared)
    if (document.verdict !== verdict || (document.rule_ref ?? null) !== ruleRef)
      throw new Error('decide and evaluate differ')
    for (const [name, { prepare, judge }] of Object.entries(peers)) {
      const theirs = await judge(prepare(request))
      if (theirs !== verdict)
        throw new Error(`${name} says ${theirs}, writ ${verdict}: ${JSON.stringify(request)}`)
    }
    seen.add(verdict)
  }
  if (seen.size !== 3) throw new Error(`the requests only bring out ${[...seen]}`)
}

/** Calls with the next of the prepared requests each time, and keeps the answer alive. */
function inTurn(prepared, call) {
  let turn = 0
  let last
  return () => {
    turn = (turn + 1) % prepared.length
    last = call(prepared[turn])
    return last
  }
}

/** Bytes of a compiled rule, measured in a process of its own. */
function memory() {
  const [few, many] = [1000, 10_000].map((count) => {
    const child = spawnSync(
      process.execPath,
      ['--expose-gc', 'bench/constitution-memory.mjs', String(count)],
      {
        encoding: 'utf8',
      },
    )
    if (child.status !== 0)
      throw new Error(`the memory of ${count} rules was not measured: ${child.stderr}`)
    return JSON.parse(child.stdout)
  })
  return [
    row(
      'memory of a compiled rule, heap',
      '1,000 rules (bytes)',
      few.heap,
      '10,000 rules (bytes)',
      many.heap,
      null,
    ),
    row(
      'memory of a compiled rule, resident',
      '1,000 rules (bytes)',
      few.resident,
      '10,000 rules (bytes)',
      many.resident,
      null,
    ),
  ]
}
