# The rules of the rule bench as data, and one verdict for a request.
# opa build -t wasm -e constitution/verdict bench/constitution.rego
package constitution

import rego.v1

matching contains rule.verdict if {
	some rule in data.rules
	rule.action == input.action
	rule.type == input.type
	input.evidence
	input.confidence in rule.confidences
	some source in rule.sources
	source in input.sources
}

default verdict := "UNDETERMINED"

verdict := "DENY" if "DENY" in matching

verdict := "ALLOW" if {
	"ALLOW" in matching
	not "DENY" in matching
}
