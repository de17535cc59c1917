package evaluation_test

import "testing"

// The link stands between the author's message and the finding.
func TestDocs(t *testing.T) {
	const see = " See https://example.com/a?b=c#d "
	for name, tc := range map[string]ruleCase{
		"AddOn": {
			reason: "without a message", spec: `dependencies: [{name: a, docs: "https://example.com/a?b=c#d"}]`,
			want: "a=NotInstalled", message: "Required addon 'a' is not installed or not available." + see + "(not installed)",
		},
		"WithMessage": {
			reason: "behind the message", spec: `dependencies: [{name: a, message: No tokens., docs: "https://example.com/a?b=c#d"}]`,
			want: "a=NotInstalled", message: "Required addon 'a' is not installed or not available. No tokens." + see + "(not installed)",
		},
		"WithoutFullStop": {
			reason: "a sentence of its own", spec: `dependencies: [{name: a, message: No tokens, docs: "https://example.com/a?b=c#d"}]`,
			want: "a=NotInstalled", message: "Required addon 'a' is not installed or not available. No tokens." + see + "(not installed)",
		},
		"API": {
			reason: "on any kind of edge", spec: `dependencies: [{name: a, api: {kind: Pod}, docs: "https://example.com/a?b=c#d"}]`,
			want:    "a=APINotServed",
			message: "Required API 'Pod' is not served." + see + "(not known: the managed cluster's addon-agent has not reported it)",
		},
		"Plain": {
			reason: "http with a port", spec: `dependencies: [{name: a, docs: "http://docs:8080"}]`, want: "a=NotInstalled",
			message: "Required addon 'a' is not installed or not available. See http://docs:8080 (not installed)",
		},
	} {
		t.Run(name, tc.run)
	}
}
