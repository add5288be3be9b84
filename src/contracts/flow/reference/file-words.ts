/** As `part-words.ts`: the side file, the file of participants, and the test file. */

const SIDE_TEXT = (): string => `
type |  | "flow_side_v1" | The contract of the document; it may be left out.
flow_id | the table's file name | "paper-pipeline" | The id of the flow.
title | the table's file name | "A paper in three phases" | The name of the flow for people.
goal |  | "a paper" | What the whole flow is for.
constraints |  | { "language": "English" } | Words of your own that every participant gets.
state |  | { "fields": { "pages": { "type": "int", "initial": 0 } } } | State fields of your own; fields that the host keeps may be listed and stay the host's.
policies |  | [{ "policy_id": "P", "policy_expr": "state.score < 50", "priority": 1, "override_mode": "merge", "violation_action": "alert" }] | Policies, as in a flow.
text_policies |  | [{ "policy_id": "T", "applies_to": "message", "patterns": ["I promise"], "violation_action": "reject", "priority": 10 }] | Text policies, as in a flow.
invariants |  | [{ "invariant_id": "I", "invariant_expr": "state.rejection_count < 5", "check_timing": "post_phase", "severity": "high", "fail_action": "block" }] | Invariants, as in a flow.
access_rules |  | [{ "actor": "director", "resource_path": "output/**", "access_mode": "read", "access_allowed": false }] | Access rules, as in a flow.
access_rule |  | { "actor": "director", "resource_path": "output/**", "access_mode": "read", "access_allowed": false } | One access rule or a list, in the words of the original proposal.
claims |  | [{ "claim_id": "C-1", "trust_level": "external_unverified", "evidence_ids": [], "verification_status": "pending" }] | Claims, as in a flow; without a node they belong to the node whose leaving asks for verification.
claim_verification |  | { "claim_id": "C-2", "trust_level": "external_unverified", "evidence_ids": [], "verification_status": "pending" } | One claim or a list, in the words of the original proposal.
nodes |  | [{ "node_id": "P1_DRAFT", "kind": "WORK", "executor": { "command": ["node", "write.mjs"] } }] | What the table does not say about its nodes; only the id has to be there.
edges |  | [{ "affected_edge": "E1", "guard_expr": "state.score >= 90" }] | What the table does not say about its edges; it wins over the table.
budgets | no limits | { "seconds": 3600 } | What a whole run may use.
`

const SIDE_EDGE_TEXT = (): string => `
affected_edge |  | "E131" | The id of the edge in the table.
v2_primary_class | the table's | "GateTransitionObject" | The class of the edge: what begins with one of the eight names.
`

const SIDE_STATE_TEXT = (): string => `
fields |  | { "pages": { "type": "int", "initial": 0 } } | State fields of your own.
phase_id |  | "string" | Kept by the host; listing it changes nothing.
subphase_id |  | "string|null" | Kept by the host; listing it changes nothing.
attempt_count |  | "integer" | Kept by the host; listing it changes nothing.
cumulative_duration |  | "number" | Kept by the host; listing it changes nothing.
minimum_duration |  | "number" | Kept by the host; listing it changes nothing.
validator_verdict |  | "APPROVE|REJECT|PENDING" | Kept by the host; listing it changes nothing.
gate_passed |  | "boolean" | Kept by the host; listing it changes nothing.
required_files_exist |  | "boolean" | Kept by the host; listing it changes nothing.
tool_calls |  | "integer" | Kept by the host; listing it changes nothing.
rejection_count |  | "integer" | Kept by the host; listing it changes nothing.
score |  | "number|null" | Kept by the host; listing it changes nothing.
previous_output_path |  | "string|null" | Kept by the host; listing it changes nothing.
log_updated_after_phase |  | "boolean" | Kept by the host; listing it changes nothing.
non_time_issue |  | "boolean" | Kept by the host; listing it changes nothing.
phase_completed |  | "boolean" | Kept by the host; listing it changes nothing.
`

const PARTICIPANTS_TEXT = (): string => `
type |  | "participants_v1" | The contract of the document.
participants |  | { "xiaobo": { "command": ["node", "work.mjs"] } } | Participants by name, which is an owner_agent_id of the plan.
reviewer | \`reviewer\` or \`xiaojing\` | "xiaobo" | Who judges work that no CHECK of the plan judges.
planner |  | "xiaobo" | Who makes plans for \`writ flow plan\`.
`

const TEST_TEXT = (): string => `
type |  | "flow_test_v1" | The contract of the document.
flow |  | "flow.yaml" | The flow, edge table or plan, relative to the test file.
side |  | "side.yaml" | The side file of an edge table.
participants |  | "participants.yaml" | The participants of a plan.
files | none | { "data/in.csv": "1,2" } | Files of the workspace in every case.
cases |  | [{ "name": "approved", "expect": { "status": "DONE" } }] | The cases, each a run of its own.
`

const CASE_TEXT = (): string => `
name |  | "rejected once" | The name of the case, once in the file.
files | none | { "inputs/brief.md": "a book" } | Files of the workspace, in addition to those of the test.
nodes | as usual | { "draft": [{ "content": "first" }, { "content": "second" }] } | What each attempt at a node does, in order; attempts that are not listed do the usual, and unlisted people are waited for.
events | none | [{ "signal": "go" }] | What people and the world do when no participant is at work, in order.
log | it is written | "unwritable" | Lets the orchestration log not be written.
expect |  | { "status": "DONE" } | What has to come of it.
`

const ATTEMPT_TEXT = (): string => `
times | 1 | 3 | How many attempts in a row do this.
result | \`ARTIFACT\` | "NOOP" | What an executor answers.
content | a text that no other attempt has | "# Draft" | The content of the artifact.
name | \`out\` | "draft" | The name of the artifact.
format | \`md\` | "json" | The format of the artifact.
files | the required files of the node | { "out/qa.json": { "open_bugs": 0 } } | Files that the attempt writes: a text, JSON, or null for one that it removes.
reads | none | ["output/phase_1/sources.json"] | Paths that the attempt reads, where access rules may refuse it.
error |  | { "code": "NO_NETWORK" } | The error of an answer ERROR.
needs |  | [{ "name": "brief" }] | The documents that an answer NEEDS_INPUT asks for.
verdict | \`APPROVE\` | "REJECT" | What a reviewer answers; REJECT is another word for MODIFY.
score | 95, or 60 without approval | 80 | The score of a review; below 90 nothing is approved.
suggestions | none | ["name the sources"] | What a review wants changed.
message |  | "done" | What is said next to the answer, where text policies look.
summary |  | "a draft" | The summary, where text policies look.
claims | none | [{ "claim_id": "C-1" }] | Claims of the answer.
evidence | none | [{ "evidence_id": "EVID-1", "claim_id": "C-1" }] | Evidence of the answer.
task_id | the node | "other" | The task that the answer names.
outputs | none | ["I am on it"] | Texts that are printed first, one each time the answer is asked for.
tools | 1 for work, 0 without tools | 0 | How many operations the participant asked for and the gate let pass.
blocked | none | ["effect.undeclared"] | Codes with which the gate blocks the attempt.
promotion | it is promoted | "refused" | Lets the gate refuse what was staged.
seconds | the node's minimum, else 1 | 30 | How long the attempt takes.
tokens | 0 | 1500 | Tokens that the attempt uses.
failure |  | { "exit_status": 1 } | How the participant fails instead of answering.
by | the person of the node | "human:ann@local" | The principal of a person who answers.
`

const EXIT_TEXT = (): string => `
exit_status |  | 3 | A program ends with this status.
stderr |  | "no network" | The end of its error output.
`

const HTTP_FAILURE_TEXT = (): string => `
http_status |  | 503 | An endpoint answers with this status.
body |  | "try later" | The beginning of its body.
`

const UNREACHABLE_TEXT = (): string => `
unreachable |  | true | There is no connection.
`

const TIMEOUT_TEXT = (): string => `
timeout |  | true | No answer comes in time.
`

const SCRIPTED_CLAIM_TEXT = (): string => `
claim_id |  | "C-1" | The id of the claim.
text |  | "it has 12 columns" | The claim in words.
trust_level | \`external_unverified\` | "internal_authoritative" | Where it comes from.
`

const SCRIPTED_EVIDENCE_TEXT = (): string => `
evidence_id |  | "EVID-1" | The id of the evidence.
claim_id |  | "C-1" | The claim that it is about.
digest | that of the id | "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" | The digest of the evidence.
supports | true | false | Whether it speaks for the claim.
`

const NEED_TEXT = (): string => `
name |  | "brief" | The name of the document.
description | the name | "what the customer wants" | What it is.
accepted_types | any | ["md"] | File name endings.
suggested_path |  | "inputs/brief.md" | Where to put it.
`

const ERROR_TEXT = (): string => `
code |  | "NO_NETWORK" | The code that the executor gives.
message | a usual sentence | "no route" | What it says.
`

const ANSWER_EVENT_TEXT = (): string => `
answer |  | "provided" | What a person answers a run that waits, or unblock for a node that is blocked.
node |  | "draft" | The node that is answered.
files | none | { "inputs/brief.md": "a book" } | Files that the person puts in place first.
by | a tester | "human:ann@local" | The principal of the person.
`

const EVENT_TEXT = (): string => `
signal |  | "go" | A signal comes.
data |  | { "n": 1 } | What comes with the signal.
by | a tester | "human:ann@local" | The principal who does it.
pass |  | 3600 | So many seconds pass; waits that end on the way go on.
skip |  | "draft" | A person lets the run pass this node.
comment | a usual sentence | "not needed" | The reason for it.
cancel |  | true | A person ends the run.
evidence |  | { "evidence_id": "EVID-1", "claim_id": "C-1" } | A person brings evidence.
budget |  | { "seconds": 100 } | A person sets budgets.
write |  | { "out/qa.json": { "open_bugs": 0 } } | A person writes files.
resume |  | { "changed": ["7A"] } | The run is stopped and resumed.
stop |  | true | The case ends here; without it, the clock goes on to every wait and deadline.
`

const RESUME_TEXT = (): string => `
changed | none | ["7A"] | Sub-phases whose files were changed while the run was stopped.
`

const EXPECT_TEXT = (): string => `
status |  | "DONE" | How the run has ended, or why it does not go on.
nodes |  | ["draft", "review"] | All nodes in the order in which the run enters them.
edges |  | ["E1", "E2"] | All edges in the order in which they fire.
passes |  | ["draft", "E1"] | Nodes and edges that come in this order, with others between them.
avoids |  | ["E3"] | Nodes and edges that the run never comes to.
attempts |  | { "draft": 2 } | The number of attempts at nodes.
state |  | { "pages": 12, "validator_verdict": "APPROVE" } | Values of state fields at the end, those of the host at the node that ran last.
findings |  | ["flow.guard_false", { "code": "flow.time_floor", "times": 1 }] | Findings that the run has, by code or in more words.
lacks |  | ["flow.escalated"] | Codes that no finding of the run has.
policies |  | { "won": ["TIME_HARD_FLOOR"] } | Policies that won, lost or were triggered.
claims |  | { "C-1": "verified" } | The status of claims.
refused |  | [{ "node": "plan", "path": "out/a.md", "mode": "read" }] | What access rules kept from participants.
waits_at |  | ["review"] | Nodes at which the run waits or is stuck.
logged |  | ["P1"] | Phases after which the log was written.
files |  | { "out/draft.md": null } | Promoted files at the end; null for one that is not there.
`

const EXPECTED_FINDING_TEXT = (): string => `
code |  | "flow.time_floor" | The code of the finding.
node |  | "draft" | The node that it names.
edge |  | "E1" | The edge that it names.
policy |  | "TIME_HARD_FLOOR" | The policy that it names.
invariant |  | "FEW_REJECTIONS" | The invariant that it names.
claim |  | "C-1" | The claim that it names.
action |  | "rerun" | What was done about it.
times | at least once | 2 | How often it is found, exactly.
`

const EXPECTED_ACCESS_TEXT = (): string => `
node |  | "plan" | The node whose participant tried.
path |  | "out/a.md" | The path.
mode |  | "read" | How it was tried.
`

const EXPECTED_POLICIES_TEXT = (): string => `
won | not looked at | ["TIME_HARD_FLOOR"] | Policies that won a conflict.
lost | not looked at | ["PIPELINE_CONTINUITY"] | Policies that lost one.
triggered | not looked at | ["PIPELINE_CONTINUITY"] | Policies that spoke, also if another one silenced them.
`

export const files = {
  SIDE_TEXT,
  SIDE_EDGE_TEXT,
  SIDE_STATE_TEXT,
  PARTICIPANTS_TEXT,
  TEST_TEXT,
  CASE_TEXT,
  ATTEMPT_TEXT,
  EXIT_TEXT,
  HTTP_FAILURE_TEXT,
  UNREACHABLE_TEXT,
  TIMEOUT_TEXT,
  SCRIPTED_CLAIM_TEXT,
  SCRIPTED_EVIDENCE_TEXT,
  NEED_TEXT,
  ERROR_TEXT,
  ANSWER_EVENT_TEXT,
  EVENT_TEXT,
  RESUME_TEXT,
  EXPECT_TEXT,
  EXPECTED_FINDING_TEXT,
  EXPECTED_ACCESS_TEXT,
  EXPECTED_POLICIES_TEXT,
}
