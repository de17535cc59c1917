package versions

import (
	"strings"
	"testing"
)

func TestBuildsThatCannotBeMeant(t *testing.T) {
	for text, want := range map[string]string{
		"5.0+a": `"5.0+a" names a build, but no exact version: write three numbers, such as "5.0.0+a", or "5.0" for any build`,
		"5.x+a": `write three numbers`, "= 5+a": `"=5+a" names a build`,
		"!=5.0.0+a":   `"!=5.0.0+a" compares with a build, and comparisons ignore builds: write "5.0.0+a" for exactly this build`,
		"> 5.0.0+a":   `or leave out "+a"`,
		">= 5.0.0+a":  `compares`,
		"^5.0.0+a":    `compares`,
		"~> v5.0.0+a": `compares`, ">= 1 || < 5.0.0+a": `"<5.0.0+a" compares`, "4.0.0 - 5.0.0+a": `"5.0.0+a" compares`,
		"5.0.0+a - 6": `"5.0.0+a" compares`, "5.0.0+a, <= 6.0.0+b": `"<=6.0.0+b" compares`,
		"5.0.0+a": "", "=v5.0.0+a": "", "5.0.0-rc.1+a.b, <6": "", "4.0.0 - 6.0.0 5.0.0+a": "",
	} {
		_, err := ParseRange(text, nil)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
}
