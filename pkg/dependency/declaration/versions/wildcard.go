package versions

import (
	"fmt"
	"regexp"
	"strings"
)

// comparedWildcard matches an operator before a bare wildcard, such as ">*". The library gives each operator another meaning there: ">*"
// matches every version, "<*" none, and "^*" only those below 1.0.0.
var comparedWildcard = regexp.MustCompile(`(?:[<>~^!][=>]?|=[<>])\s*v?[xX*]`)

// numberAfterWildcard matches a number after a wildcard, such as "1.x.3". The library ignores it.
var numberAfterWildcard = regexp.MustCompile(`(?:^|[\s,|<>=~^!v])((?:\d+\.)*(?:[xX*]\.)+\d+(?:\.\d+)*)`)

// checkWildcards returns an error for a range with a wildcard that cannot be meant.
func checkWildcards(text string) error {
	if !strings.ContainsAny(text, "xX*") { // most ranges have none, and an index has many ranges
		return nil
	}
	if part := comparedWildcard.FindString(text); part != "" {
		return fmt.Errorf(`%q compares with no number: write "*" for any version, or a number, such as ">= 1.2"`, part)
	}
	if match := numberAfterWildcard.FindStringSubmatch(text); match != nil {
		return fmt.Errorf(`%q has a number after a wildcard: write "1.2.x" for any patch of 1.2, or "1.x" for any minor of 1`, match[1])
	}
	return nil
}
