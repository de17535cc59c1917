package evaluation

import (
	"testing"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
)

// A rejected version has a reason, and an accepted version has no reason.
func FuzzJudgeVersion(f *testing.F) {
	for _, seed := range []string{">= 1.0", "~>1.0.0", "1.2 - 1.4.5 || ^2", "*", "!= 1.x", "=v0.22.1", "1.0.0-rc.1"} {
		f.Add(seed, "v1.2.3-rc.1+k3s1")
	}
	f.Fuzz(func(t *testing.T, text, version string) {
		accepted, err := versions.ParseRange(text, nil)
		if err != nil || accepted.AcceptsAll() {
			return
		}
		verdict, because := judgeVersion(accepted, versions.Version{Number: version})
		if (verdict == Satisfied) != (because == "") && version != "" {
			t.Errorf("%s because %q", verdict, because)
		}
	})
}
