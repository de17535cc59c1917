package testenv

import (
	"encoding/json"
	"testing"
)

func TestReadable(t *testing.T) {
	for scrambled, want := range map[string]string{
		`{~Nyy vf jryy: '<1.0'.~}`:   `All is well: '<1.0'.`,
		`{~N~}{~; nyfb Qrtenqrq~}`:   `A; also Degraded`,
		`plain`:                      `plain`,
		`{~n "dhbgrq" \ onpxfynfu~}`: `a "quoted" \ backslash`,
	} {
		var got string
		quoted, err := json.Marshal(scrambled)
		if err == nil {
			err = json.Unmarshal(Readable(quoted), &got)
		}
		if err != nil || got != want {
			t.Errorf("%s: got %q, want %q, %v", scrambled, got, want, err)
		}
	}
}
