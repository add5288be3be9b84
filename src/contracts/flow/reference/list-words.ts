/** What each word of the closed lists means. One line a word, parted from its sentence by ` | `. */

export const LIST_TEXT = (): string => `
# Kinds of nodes
WORK | Makes something; it is done when its files, gate, tools and reviews are in order.
CHECK | Judges the work of its target and approves it or sends it back.
GOAL | Is done when what leads to it is.

# Classes of edges
Progress | Fires when its source is done and its guard is true.
Gate | Fires like Progress; without a guard it needs \`state.gate_passed\`.
Decision | Of the Decision edges of a node, within its phase and out of it, exactly one fires; two open ones, or none, block.
Exception | Fires when its source fails or is blocked, or with \`on: reject\` when a review says no.
Loop | Leads back to an earlier node, which runs again; \`max_attempts\` bounds it. With a guard it goes before the ways on, without one only when none of them is open.
Rollback | Leads back, and what the nodes behind promoted is taken back first.
Sync | Its target waits for all of its Sync edges, or with \`join: OR\` for one.
Meta | Never fires; it documents.

# State fields that the host keeps
phase_id | The phase of the node.
subphase_id | The sub-phase of the node, or null.
attempt_count | Attempts at the node; at a node with a way back, the round of that way.
cumulative_duration | Seconds of the attempts of the phase, by the host's clock; waiting for people is none.
minimum_duration | The time floor: the sum of the minimum durations of the phase's nodes.
validator_verdict | APPROVE, REJECT or PENDING, from the last review of the present version.
gate_passed | Whether the gate blocked nothing of the last attempt.
required_files_exist | Whether all required files are in the staged tree.
tool_calls | Operations that the participant asked for and the gate did not block.
rejection_count | Reviews that said no.
score | The score of the last review, or null.
previous_output_path | The last artifact, or null.
log_updated_after_phase | Whether the log was written after the phase.
non_time_issue | Whether the phase has a finding other than the time floor.
phase_completed | Whether every node of the phase is done but for its leaving edges.

# Scopes of guards
attempt | The last attempt; a rerun runs the source node again.
subphase | The sub-phase; a rerun begins at its first node.
phase | The phase; a rerun begins at its first node.
global | The whole run; a rerun begins at the start.

# Types of guards
numeric | Compares numbers.
boolean | Asks whether something is true.
enum_match | Compares with a word.
set_membership | Asks whether a list holds a value.

# What a closed guard does
block | The run stays at the node, with a finding.
reroute | The Exception edge of the node is taken.
rerun | The span of the guard's scope runs again.
escalate | A person decides.

# Modes of overriding
hard_override | The loser is silenced.
soft_override | The loser becomes an alert.
merge | Both apply, the strictest first.

# What a policy does
reject | The output is refused, rolled back if it was promoted, and rejection_count grows; the work runs again.
rerun | The span of the edge's scope runs again.
block | The run stays at the node.
alert | The run goes on, with a finding.
continue_with_workaround | The run goes on, with a finding that says so.

# Texts that text policies look at
output | The content of an artifact.
message | What is said next to the answer, and the words of a request for input.
summary | The summary next to the answer.

# Ways of access
read | Opening the file, or listing the folder.
write | Changing, making or removing it.
exec | Running it.

# Levels of trust
internal_authoritative | It comes from inside and needs no verification.
external_unverified | It comes from outside and has no independent verification.
verified_independent | Another participant or person has verified it.

# Statuses of verification
pending | There is no independent evidence yet.
verified | Independent evidence supports it, and none speaks against it.
rejected | Independent evidence speaks against it.

# Requirements of trust
none | Claims of the source are not looked at.
independent_verification_required | The edge waits until all claims of its source are verified.

# Moments of invariants
pre_phase | Before the first node of a phase is entered.
post_phase | When a phase is about to end.
on_transition | Before an edge of a node that is done fires; one that an edge names, before that edge fires for any reason.
periodic | At each event of a node, and every ten seconds while nodes are open.

# Severities
critical | The run must not go on like this.
high | A person has to look at it soon.
medium | A person has to look at it.
low | Worth knowing.

# What a violated invariant does
block | The node or the phase stays where it is.
rerun | The node runs again; before a phase nothing has run yet, so it stays where it is.
alert | The run goes on, with a finding.

# Built-in invariants
TIME_HARD_FLOOR | A phase does not end before its time floor is reached (\`state.cumulative_duration >= state.minimum_duration\`, post_phase, block).
TOOL_USE_NONZERO | Work of an executor with tools used at least one (\`state.tool_calls > 0\`); the attempt fails otherwise.
VALIDATOR_APPROVAL_REQUIRED | Work that a CHECK judges is done only with its approval (\`state.validator_verdict == 'APPROVE'\`).
ORCH_LOG_IMMEDIATE_UPDATE | The log is written when a phase ends, before anything else happens (\`event.phase_end -> state.log_updated_after_phase == true\`).
`
