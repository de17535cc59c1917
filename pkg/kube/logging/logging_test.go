package logging

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"
)

func TestForeignTextIsSafeInTheLog(t *testing.T) {
	const foreign = "\x1b]0;owned\x07\u009b31m\x7f\u202e\u2066\u2028\xff\nnext"
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			var out bytes.Buffer
			logger := (&Options{Format: format}).Start(&out)
			logger.Info("First", "name", foreign)
			logger.Error(errors.New(foreign), "Second")
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			if len(lines) != 2 {
				t.Fatalf("%d lines: %q", len(lines), lines)
			}
			for _, line := range lines {
				if strings.ContainsFunc(line, func(r rune) bool {
					return r != '\t' && unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
				}) {
					t.Errorf("not safe: %q", line)
				}
				if format == "json" && !json.Valid([]byte(line)) {
					t.Errorf("not JSON: %s", line)
				}
			}
		})
	}
}
