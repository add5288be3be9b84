/**
 * What each field of the flow documents means, with its default and an example. One line a field:
 * name, default (empty for none), example as JSON, sentence, parted by ` | `.
 *
 * The texts are bodies of functions, which cost nothing until a function is called: every command
 * loads the contracts, and only `writ schema` and `writ flow reference` need these.
 */

const FLOW_TEXT = (): string => `
type |  | "flow_v1" | The contract of the document.
flow_id |  | "small-book" | The id of the flow, which runs and reports name.
title |  | "A small book" | The name of the flow for people.
goal |  | "a book of four pages" | What the whole flow is for; every participant gets it.
constraints |  | { "language": "English" } | Words of your own that every participant gets.
nodes |  | [{ "node_id": "draft", "kind": "WORK", "title": "Draft", "phase_id": "P1", "actor": "writer", "max_attempts": 3 }] | The steps: work, checks and goals.
edges |  | [{ "edge_id": "E1", "source": "draft", "target": "review", "class": "Progress" }] | The ways between nodes.
state | no fields | { "fields": { "pages": { "type": "int", "initial": 0 } } } | State fields of your own, next to those that the host keeps.
policies | none | [{ "policy_id": "NO_LATE_WORK", "policy_expr": "state.attempt_count > 3", "priority": 50, "override_mode": "merge", "violation_action": "alert" }] | Rules that speak at transitions when their expression is true.
text_policies | the two built-in ones | [{ "policy_id": "NO_PROMISES", "applies_to": "message", "patterns": ["I promise"], "violation_action": "reject", "priority": 10 }] | Phrases that participants may not use.
access_rules | none | [{ "actor": "writer", "resource_path": "private/**", "access_mode": "read", "access_allowed": false }] | What actors may not read, write or run.
claims | none | [{ "claim_id": "C-1", "node_id": "draft", "actor": "writer", "trust_level": "external_unverified", "evidence_ids": [], "verification_status": "pending" }] | Claims that the run keeps the verification of.
invariants | the four built-in ones | [{ "invariant_id": "FEW_REJECTIONS", "invariant_expr": "state.rejection_count < 5", "check_timing": "on_transition", "severity": "high", "fail_action": "block" }] | What has to hold at certain moments of the run.
budgets | no limits | { "seconds": 3600, "attempts": 20 } | What a whole run may use.
table |  | { "header": ["edge_id", "source", "target"], "bom": false, "delimiter": ",", "newline": "lf", "quotes": "needed", "tail": ["lf"] } | How the edge table was written that the flow came from; \`writ flow import\` sets it.
`

const NODE_TEXT = (): string => `
node_id |  | "draft" | The id of the node, which edges and commands name.
kind | \`WORK\` in a side file | "WORK" | WORK makes something, CHECK judges the work of another node, GOAL is done when what leads to it is.
title | the id in a side file | "Write the draft" | The name of the node for people.
description |  | "the first chapter" | What the node is about; its participant gets it.
instructions |  | "write four pages in the present tense" | What its participant has to do.
criteria |  | ["it has four pages"] | By which the work is judged; executor and reviewer get them.
details |  | { "tone": "calm" } | Words of your own for the participant.
inputs | what nodes before it made | [{ "from": "outline", "as": "outline" }] | What earlier nodes left, by name.
ignored |  | ["tools"] | Words of a plan that had no effect; plans set it, and the run reports them.
phase_id | the id in a side file | "P1" | The phase of the node; time floors and the log are per phase.
subphase_id |  | "7A" | The sub-phase, which leaves a manifest of its files.
actor | the id in a side file | "writer" | The name by which access rules and claims know who works here.
executor |  | { "command": ["node", "write.mjs"] } | Who does the work of a WORK node; without one a person's files, or nothing, are its work.
reviewer | any person | { "human": "ann" } | Who judges at a CHECK node.
target |  | "draft" | The WORK node that a CHECK judges.
writes | \`["**"]\` | ["out/**"] | Patterns of what the work may change; any other change blocks the attempt.
minimum_duration | 0 | 60 | Seconds that the node adds to the time floor of its phase.
max_attempts | 3 in a side file | 3 | How many attempts the node has before a person is asked.
required_files | none | ["out/draft.md"] | Files that have to be there when the work is done.
manifest | a sub-phase has one | true | It changes nothing: every sub-phase leaves its manifest in .writ/runs, with it or without it.
trace | no trace | "refused" | Records each access that a rule refused; it is slow and needs strace.
requirements | none | [{ "name": "brief", "kind": "FILE", "source": "USER", "required": true, "min_count": 1, "allowed_types": ["md"] }] | What has to lie below inputs/ before the node runs.
call | false | true | Enters the node for each edge that leads to it and returns to the caller.
map |  | { "items": ["north", "south"] } | Runs the node once for each item of a list.
flow |  | "parts/chapter.yaml" | A file with the flow that is the work of this node.
flow_digest |  | "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" | Pins the file of the sub-flow by its digest.
after | 0 | 3600 | Seconds that the node waits before it runs.
signal |  | "approved-by-legal" | The name of a signal that the node waits for before it runs.
timeout | the rest of the budget, or an hour | 600 | Seconds that one attempt may take.
deadline | none | 86400 | Seconds from the entry by which the node has to be done; then its Exception edge is taken, or a person decides.
retry | at once | { "initial": 5, "factor": 2, "max": 60 } | How long to wait before the next attempt, by kind of failure.
`

const INPUT_TEXT = (): string => `
from |  | "outline" | The node that left it.
as |  | "outline" | The name by which the participant gets it.
file | its last artifact | "data/numbers.csv" | A file of the workspace in place of its artifact. One that the node left has to be unchanged since, but for later nodes of the run.
optional | false | true | Lets the node run without it.
`

const REQUIREMENT_TEXT = (): string => `
name |  | "brief" | What is required, and its name below inputs/.
kind |  | "FILE" | A file, a person's confirmation, or what a skill made.
source |  | "USER" | Who brings it; what an agent brings is judged where it is made.
required |  | true | Whether the node waits for it.
min_count |  | 1 | How many files have to be there.
allowed_types |  | ["md", "pdf"] | File name endings that count; an empty list accepts all.
description |  | "what the customer wants" | What a person is asked for.
`

const MAP_TEXT = (): string => `
items |  | ["north", "south"] | The list itself.
from |  | "plan/regions.json:regions" | A JSON file of the workspace and the field that holds the list.
artifact |  | "survey:regions" | The last artifact of an earlier node, as JSON, and the field that holds the list.
at_once | all of them | 2 | How many items run at the same time.
minimum | every item | 1 | How many items have to be done; the others may fail.
max | 1000 | 50 | The most items that the list may have.
`

const RETRY_TEXT = (): string => `
initial | 0 | 5 | Seconds before the second attempt.
factor | 2 | 3 | By how much each further wait is multiplied.
max | 3600 | 60 | The longest wait in seconds.
failed | as above | { "initial": 10 } | Waits after a program that failed or an endpoint that declined; false tries no more.
timeout | as above | false | Waits after an attempt whose time was up; false tries no more.
invalid | as above | { "initial": 1 } | Waits after an answer that stayed invalid; false tries no more.
unreachable | 1, 2, 4 and 8 seconds, not counted | false | Waits after a line that failed; with false it is a failure at once.
`

const BACKOFF_TEXT = (): string => `
initial |  | 10 | Seconds before the second attempt.
factor | 2 | 2 | By how much each further wait is multiplied.
max | 3600 | 600 | The longest wait in seconds.
`

const EDGE_TEXT = (): string => `
edge_id |  | "E1" | The id of the edge.
source |  | "draft" | The node that the edge leaves.
target |  | "review" | The node that the edge leads to.
class |  | "Progress" | When the edge fires: one of the eight classes.
label |  | "hand in" | What people read at the edge.
columns |  | { "rationale": "protocol" } | Cells of the table that a flow has no field for; import sets it.
row |  | "E1,draft,review" | The text of the table's row where the usual writing would differ; import sets it.
`

const GUARD_TEXT = (): string => `
guard_expr | true; a Gate needs \`state.gate_passed\` | "state.score >= 90" | The condition under which the edge may fire.
guard_scope | by field | "phase" | The span over which counted fields are counted, and what a rerun runs again.
guard_type | not looked at | "numeric" | What kind of condition the guard is; a warning tells if it is another.
on_guard_fail | \`block\` | "rerun" | What happens when no edge of the node can fire and this guard is false.
guard_evidence_source |  | "out/qa.json:open_bugs" | A JSON file and its field, which is read into the state before the guard is judged; \`{X}\` is the phase.
policy_refs | those that no edge names | ["TIME_HARD_FLOOR"] | Policies that are judged whenever this edge would be taken, also out of a failure, to a CHECK or after a REJECT.
audit_invariant_refs | those that no edge names | ["FEW_REJECTIONS"] | Invariants that are judged whenever this edge would be taken.
trust_requirement | \`none\` | "independent_verification_required" | Whether the claims of the source have to be verified by another participant or person.
on | \`failure\` | "reject" | Of an Exception edge: what it is the way out of.
join | one edge is enough | "AND" | Whether the target waits for all edges with it, or for one.
group_id |  | "formats" | Makes Decision edges with the same id alternatives, tried one after the other.
after | 0 | 60 | Seconds that the target waits when this edge enters it.
signal |  | "go" | A signal that the target waits for when this edge enters it.
`

const STATE_TEXT = (): string => `
fields |  | { "pages": { "type": "int", "initial": 0 } } | State fields of your own by name, which files of evidence set.
`

const STATE_FIELD_TEXT = (): string => `
type |  | "int" | The type in expressions.
initial |  | 0 | The value before a file of evidence sets it.
`

const POLICY_TEXT = (): string => `
policy_id |  | "TIME_HARD_FLOOR" | The id, which edges and other policies name.
policy_expr |  | "state.cumulative_duration < state.minimum_duration" | The policy speaks when this is true, or cannot be evaluated.
priority |  | 100 | The higher one wins a conflict.
conflicts_with | none | ["PIPELINE_CONTINUITY"] | Policies of which only one may have its way; naming it on one side is enough.
override_mode |  | "hard_override" | What becomes of the loser of a conflict that this policy wins.
violation_action |  | "rerun" | What happens when the policy speaks.
`

const TEXT_POLICY_TEXT = (): string => `
policy_id |  | "NO_PROMISES" | The id; that of a built-in one restates it, as strict or stricter.
applies_to |  | "message" | Which text is looked at.
patterns |  | ["I promise", "我保证"] | Phrases, found without regard to case and punctuation.
violation_action |  | "reject" | What happens when a phrase is found.
priority |  | 10 | The highest one is named first in the record.
`

const ACCESS_TEXT = (): string => `
actor |  | "director" | The actor whom the rule is about.
resource_path |  | "output/phase_1/**" | A pattern of paths below the workspace.
access_mode |  | "read" | What the rule is about: reading, writing or running.
access_allowed |  | false | Whether it is allowed; one ban outweighs any permission.
reason |  | "file-ban" | Why, for people.
`

const CLAIM_TEXT = (): string => `
claim_id |  | "C-EXT-023" | The id, which evidence names.
node_id | by the table in a side file | "draft" | The node that the claim is about.
actor | that of the node in a side file | "writer" | Who makes the claim.
text |  | "the data set has 12 columns" | The claim in words.
trust_level |  | "external_unverified" | Where it comes from; the run raises it when it is verified.
evidence_ids |  | ["EVID-112"] | Ids of evidence; only evidence that the run receives counts.
verification_status |  | "pending" | Where it begins; the run computes it from evidence.
`

const EVIDENCE_TEXT = (): string => `
evidence_id |  | "EVID-112" | The id of the evidence.
claim_id |  | "C-EXT-023" | The claim that it is about.
actor |  | "validator" | Who brings it; the host sets it.
digest |  | "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" | The digest of the evidence itself.
supports |  | true | Whether it speaks for the claim or against it.
`

const INVARIANT_TEXT = (): string => `
invariant_id |  | "FEW_REJECTIONS" | The id, which edges name; that of a built-in one restates it, as strict or stricter.
invariant_expr |  | "state.rejection_count < 5" | What has to be true; what cannot be evaluated is a violation.
check_timing |  | "on_transition" | When it is judged.
severity |  | "high" | How grave a violation is, for people.
fail_action |  | "block" | What the host does when it is violated.
`

const BUDGETS_TEXT = (): string => `
seconds | no limit | 3600 | Seconds of all attempts together.
attempts | no limit | 20 | Attempts of all nodes together.
tokens | no limit | 200000 | Tokens of all models together.
parallel | twice the cores, at most 16 | 4 | How many participants work at the same time.
`

const TABLE_TEXT = (): string => `
header |  | ["edge_id", "source", "target"] | The columns in their order.
header_row |  | "edge_id,source,target" | The text of the header where the usual writing would differ.
bom |  | false | Whether the file begins with a byte order mark.
delimiter |  | "," | What parts the cells.
newline |  | "lf" | The line end of the first row.
quotes |  | "needed" | Whether all cells are in quotation marks.
tail |  | ["lf"] | The line ends after the last row.
`

const REACH_TEXT = (): string => `
egress | none | ["api.example"] | Hosts that the participant may call.
secrets | none | ["API_KEY"] | Names of environment variables that this participant alone gets.
tools | it has tools | "none" | Says that it has no tools, so that TOOL_USE_NONZERO does not hold for it.
labels | none | ["gpu"] | What a machine needs to do this work: a worker takes the run only if it has all of them.
`

const COMMAND_TEXT = (): string => `
command |  | ["node", "write.mjs"] | The program and its words, run in a sandbox with JSON on its standard input.
programs | what the command shows | ["tools/review.mjs", "tools/rules/*.json"] | Files, directories and patterns that the program is made of: pinned and sealed, with what the command shows. Write it where the command names a runner or a text.
runs_work | it does not | true | Of a reviewer: it may run or load the work that it judges (its tests, for example). A person answers for that; its evidence verifies nothing.
`

const HTTP_TEXT = (): string => `
http |  | "https://agent.example/work" | The address that the same JSON is posted to.
`

const MCP_TEXT = (): string => `
mcp |  | ["node", "server.mjs"] | The address of an MCP server, or the command that starts one.
tool |  | "write_chapter" | The tool of the server that is called.
programs | what the command shows | ["tools/review.mjs", "tools/rules/*.json"] | Files, directories and patterns that the program is made of: pinned and sealed, with what the command shows. Write it where the command names a runner or a text.
runs_work | it does not | true | Of a reviewer: it may run or load the work that it judges (its tests, for example). A person answers for that; its evidence verifies nothing.
`

const CHAT_TEXT = (): string => `
chat |  | "https://api.example/v1" | The address of an OpenAI-compatible endpoint.
model |  | "some-model" | The name of the model.
system |  | "You are a careful editor." | What is said before writ's own words.
temperature | the endpoint's | 0.4 | The temperature of the model.
max_tokens | the rest of the budget | 2000 | The most tokens of an answer.
`

const HUMAN_TEXT = (): string => `
human |  | "ann" | The person who answers: ann is human:ann in the namespace of the home, ann@other is of another; true is any person.
`

export const parts = {
  FLOW_TEXT,
  NODE_TEXT,
  INPUT_TEXT,
  MAP_TEXT,
  REQUIREMENT_TEXT,
  RETRY_TEXT,
  BACKOFF_TEXT,
  EDGE_TEXT,
  GUARD_TEXT,
  STATE_TEXT,
  STATE_FIELD_TEXT,
  POLICY_TEXT,
  TEXT_POLICY_TEXT,
  ACCESS_TEXT,
  CLAIM_TEXT,
  EVIDENCE_TEXT,
  INVARIANT_TEXT,
  BUDGETS_TEXT,
  TABLE_TEXT,
  REACH_TEXT,
  COMMAND_TEXT,
  HTTP_TEXT,
  MCP_TEXT,
  CHAT_TEXT,
  HUMAN_TEXT,
}
