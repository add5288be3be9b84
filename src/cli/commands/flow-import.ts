/** `writ flow import`: an edge table and its side file become one flow document. */
import { isUtf8 } from 'node:buffer'
import { type FaultError, faultError, showName } from '../../base/index.ts'
import type { Flow, FlowSide, JsonObject } from '../../contracts/index.ts'
import { checkFlow, classCounts, proposeSide, type SideProposal } from '../../flow/index.ts'
import { type CommandCall, EXIT, type Exit, usageError } from '../call/command.ts'
import { refuseOut, writeWhole } from '../call/output-file.ts'
import { readSource } from '../call/source.ts'
import { readTableFiles } from '../flow/load.ts'
import { type PlacedProblem, placedTable, problemLine } from '../flow/problem.ts'
import { toJson, toYaml } from '../rules/survey-text.ts'

export async function run(call: CommandCall): Promise<Exit> {
  const { options, terminal } = call
  const edges = options.text('edges') ?? call.arguments[0] ?? null
  if (edges === null) throw usage('name the edge table with `--edges`')
  const out = options.text('out')
  if (out !== null) await refuseOut(call, out)
  const into = options.text('propose')
  if (into !== null) await refuseOut(call, into, '--propose')
  const { bytes } = await readSource(edges)
  if (!isUtf8(bytes)) {
    const message = `${showName(edges)} is not UTF-8`
    throw faultError('flow.table_text', edges, message, 'save it as UTF-8')
  }
  const side = options.text('side')
  const [flowId, title] = [options.text('id'), options.text('title')]
  const read = await readTableFiles(edges, bytes.toString('utf8'), side, {
    ...(flowId === null ? {} : { flowId }),
    ...(title === null ? {} : { title }),
  })
  const check = read.flow === null ? null : checkFlow(read.flow)
  const { errors, warnings } = await placedTable(edges, side, read, check, read.sidePlaces)
  if (read.flow !== null && out !== null) await writeWhole(out, textOf(read.flow, out))
  const proposed = options.text('propose')
  const proposals =
    proposed === null || read.flow === null ? [] : await propose(proposed, read.flow, read.side)
  await tell(call, read.flow, out, errors, warnings, proposals)
  if (read.flow !== null && out === null && !options.isOn('json')) {
    // A flow is plain JSON; its type only lacks an index signature.
    await terminal.out(toYaml(read.flow as unknown as JsonObject))
  }
  return errors.length === 0 && read.flow !== null ? EXIT.yes : EXIT.no
}

/** Writes the side file with the proposals in it, and returns them. */
async function propose(
  file: string,
  flow: Flow,
  given: FlowSide,
): Promise<readonly SideProposal[]> {
  const { proposals, side } = proposeSide(flow, given)
  await writeWhole(file, textOf({ type: 'flow_side_v1', ...side }, file))
  return proposals
}

function textOf(flow: Flow | FlowSide, out: string): string {
  // A flow is a JSON object.
  const document = flow as unknown as JsonObject
  return /\.json$/i.test(out) ? toJson(document) : toYaml(document)
}

async function tell(
  { terminal, options }: CommandCall,
  flow: Flow | null,
  out: string | null,
  errors: readonly PlacedProblem[],
  warnings: readonly PlacedProblem[],
  proposals: readonly SideProposal[],
): Promise<void> {
  const findings = [
    ...errors.map((one) => ({ level: 'error', ...one })),
    ...warnings.map((one) => ({ level: 'warning', ...one })),
  ]
  if (options.isOn('json')) {
    const answer = {
      flow_id: flow?.flow_id ?? null,
      nodes: flow?.nodes.length ?? 0,
      edges: flow?.edges.length ?? 0,
      classes: classCounts(flow?.edges ?? []),
      findings,
      ...(options.text('propose') === null ? {} : { proposals }),
    }
    await terminal.out(`${JSON.stringify(answer)}\n`)
    return
  }
  // Without `--out` the flow itself goes to standard output.
  const say = async (text: string): Promise<void> =>
    out === null ? terminal.err(text) : terminal.out(text)
  const paint = out === null ? terminal.paintError : terminal.paint
  if (flow !== null) {
    const counts = Object.entries(classCounts(flow.edges)).filter(([, count]) => count > 0)
    const classes = counts.map(([name, count]) => `${name} ${count}`).join(', ')
    await say(
      `${flow.flow_id}: ${flow.nodes.length} nodes, ${flow.edges.length} edges (${classes})\n`,
    )
  }
  for (const one of errors) await say(`${paint.bad('error')}${problemLine(one, paint)}\n`)
  for (const one of warnings) await say(`${paint.dim('warning')}${problemLine(one, paint)}\n`)
  for (const one of proposals) await say(`${paint.accent('proposed')}  ${proposalText(one)}\n`)
  const into = options.text('propose')
  if (flow !== null && into !== null)
    await say(`${paint.good('written')}  ${into}: take it with \`--side ${into}\`\n`)
  if (flow === null) await say(`${paint.bad('refused')}  nothing was written\n`)
  else if (out !== null) await say(`${paint.good('written')}  ${out}\n`)
}

/** One line: what is set where, and why. */
function proposalText(proposal: SideProposal): string {
  const { node_id, affected_edge, ...set } = { node_id: '', affected_edge: '', ...parts(proposal) }
  const name = showName(node_id === '' ? affected_edge : node_id)
  return `${name} ${JSON.stringify(set)}: ${proposal.why}`
}

function parts(proposal: SideProposal) {
  return 'node' in proposal ? proposal.node : proposal.edge
}

function usage(message: string): FaultError {
  return usageError(message, 'writ flow import --edges edges.csv --side side.json --out flow.yaml')
}
