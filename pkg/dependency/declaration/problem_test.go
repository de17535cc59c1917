package declaration

import "testing"

func TestFieldOfAProblem(t *testing.T) {
	for finding, want := range map[string]string{
		"spec.dependencies[1].version: Invalid value: \"x\": …":                  "spec.dependencies[1].version",
		"[spec.dependencies[0].name: Required, spec.provides[1].kind: Required]": "spec.dependencies[0].name",
		"spec.requirements.claims[a.b/c]: Required value: …":                     "spec.requirements.claims[a.b/c]",
		"metadata.annotations[a/b][2].name: Required value: …":                   "metadata.annotations[a/b][2].name",
		"spec.dependencies: 300 dependencies are declared; at most 256 may be":   "spec.dependencies",
		"no field": "",
	} {
		if got := NewProblem(ProblemInvalid, finding, "correct it").Field(); got != want {
			t.Errorf("%s: %q", finding, got)
		}
	}
	if got := (Problem{Finding: "spec.dependencies: …", At: "spec.dependencies[1]"}).Field(); got != "spec.dependencies[1]" {
		t.Error(got)
	}
}
