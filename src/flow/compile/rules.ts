/**
 * Versions of the rules by which runs are walked. A run keeps the version that it began with, so that a
 * later writ goes on with it, and replays it, exactly as it was walked.
 *
 * Version 1 walked every run before: it judged a declared claim by the name of its actor, took evidence
 * that it could not read for none, and stopped where CHECK nodes of one node follow one another. By
 * version 2 a CHECK that fails or is given up releases the node that it judges, a goal that one branch
 * reaches ends the others, a stalled run says where it is stalled, and budgets are looked at before an
 * entry and before a line is tried again, no longer after an entry that counted. By version 3 nodes are
 * mapped over lists, a way that fires later cuts the wait of a node short, and a Rollback edge undoes every
 * promoted act of the nodes left behind, those of earlier calls and rounds too, one after another. A
 * guard's rerun that runs out of attempts takes the Exception edge, and a log that could not be written is
 * written again. An Exception edge that leads back runs its target again, a run that missed a goal after a
 * failure or a REJECT is blocked and not done, and an attempt that a deadline ends costs its seconds.
 *
 * By version 4 every edge that is taken is judged by all controls that it names: ways to CHECK nodes, out of
 * failures and REJECTs, back and to alternatives too. All Decision edges of a node are one decision, within
 * the phase and out of it. A way to a CHECK sees the evidence that the work staged and does what its
 * `on_guard_fail` says. A control that asks for a rerun or rejects goes before the other ways of its node, and
 * what a policy rejects is rolled back if it was promoted. A way back without a guard waits for the ways out
 * of the phase. A node that failed stays blocked while its way out is closed. A list is refused if two
 * of its items have the same output path. Alternatives and CHECK nodes of another phase begin after the
 * floor and the log of the phase that they follow, a retry enters no node again that another branch has
 * finished, and a version that a called CHECK rejected is not put to a CHECK again.
 *
 * By version 5 work that calls a CHECK stays staged until that CHECK has approved it, as work stays staged for
 * the CHECK nodes that name it (F-13). If a way back inside a call leads to a CHECK that has rejected this
 * version, the caller runs again. A phase ends after the items of its maps, and not while a node of it
 * cannot go on within it. A goal that leads nowhere else is not left by a way back without a guard. A node
 * that has used its attempts says by which edge the run came back to it.
 * A node that is entered again leaves behind all that it had led to: its
 * alternatives are chosen again, its joins fill again, and nothing of the earlier round leads on. A node that
 * went back, or out of a failure, has no other way until it runs again. A rerun of a span goes on after CHECK
 * nodes, and one that begins with a CHECK runs the work of the CHECK. A closed way within a phase is acted upon
 * although a way back leads out of the phase. A run is done only if no way that is left leads to a goal.
 *
 * By version 6 a review is about the artifact and the staged changes together, and names both by one digest.
 * A phase ends after the CHECK nodes that its staged work calls, and not before and after them. The way back of a
 * CHECK of a map goes once when all items are approved, and items begin only from the present round. A CHECK that
 * has approved takes no way back without a guard if its work has a way on. A branch that leads on by a CHECK is
 * ended, with its work, when a goal needs one of several branches and has another. Calls of nodes that are left
 * behind end with them. A Rollback waits for the gate where it acts on what is left behind, and so does a Loop to
 * work that is being promoted. A node that was left behind is entered by any way that leads there. Only an entry begins
 * a phase. A REJECT of one of several called CHECK nodes holds against the approvals of the others. Claims of the
 * items of a map, and of the nodes of a sub-flow, close the ways out of the node in whose place they stand.
 * A person lets no node begin that the run has not come to, and has no CHECK judge again what is promoted.
 *
 * By version 7 an edge that asks for independent verification is closed while its source has claimed nothing.
 *
 * By version 8 a way back without a guard takes back nothing that was approved: out of a CHECK it goes on REJECT
 * alone, and out of work with a CHECK it does not go. CHECK nodes that rest until the calls of their work have
 * returned keep no phase from its border, and no call that leads out of the phase from coming to its end. A caller
 * that leaves by its way out gives its version up. A call begins although an earlier one has left nodes behind.
 * Items of a map that are staged on work that is judged later count as made. A run is not done if a node was left
 * behind to which another way leads still. A Rollback withdraws the questions about what it undoes, and one that
 * fails leaves rejected versions rejected. Work behind a node without a participant is based on what was staged
 * before that node. Nothing is entered by an edge whose source was entered again in the same step, nor while a
 * Rollback to it waits for the gate. A question about work whose base is void is withdrawn. Work that led on before it
 * was approved decides nothing again. A run in which only calls are left is stalled at their callers.
 *
 * By version 9 a CHECK that was done does not lead on again in the step in which its work is entered again. CHECK
 * nodes that have approved work of another phase, which is in place, keep no border from opening, and phases that
 * wait for one another's CHECK nodes end; none of these is run again for a stall elsewhere. A way back to a node that
 * has no attempt left leaves nothing behind and undoes nothing before a person has the node run again.
 *
 * By version 10 the version of work that a CHECK rejected may be judged once more after a migration that changes
 * what judges it. A verdict about work that a person skips is dropped, so that no way back goes by it. An alternative
 * that fails has the next one tried only where it was chosen. A decision with several open ways next to another way
 * that is taken is an alert, as one without an open way is. The closed ways of a CHECK that was passed with skipped
 * work are tried again when a person unblocks it. Work whose review is under way runs again when a way back leads to
 * it, as work that was done does; if it has no attempt left, a person is asked after the verdict, as by version 9.
 * Where a map leaves by its Exception edge, items that were given up miss no goal. While the gate undoes what a
 * Rollback leaves behind, no other way enters its target.
 */

export const RULES_NOW = 10

/** Edges that ask for independent verification ask for a claim too. */
export const CLAIM_NEEDED_SINCE = 7

/** Whose rules a new run is walked by. */
export const FLOW_EVALUATOR = { name: 'flow', version: String(RULES_NOW) } as const

/** Returns the rules of a run by the name that its first fact has; null for those of another writ. */
export function rulesNamed(
  evaluator: { readonly name: string; readonly version: string } | undefined,
): number | null {
  if (evaluator === undefined) return RULES_NOW
  if (evaluator.name !== FLOW_EVALUATOR.name) return null
  const rules = Number(evaluator.version)
  return Number.isInteger(rules) && rules >= 1 && rules <= RULES_NOW ? rules : null
}
