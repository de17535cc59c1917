package uninstall

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
)

func TestAStepThatFailsKeepsNoOtherFromBeingTried(t *testing.T) {
	var ran []string
	try := func(name string, err error, first bool) step {
		return step{name: name, first: first, run: func(context.Context) (string, error) {
			ran = append(ran, name)
			return "went well", err
		}}
	}
	var out bytes.Buffer
	err := runSteps(t.Context(), &out, []step{
		try("stop", nil, true), try("guard", errors.New("no right"), false), try("lease", nil, false),
	})
	if err == nil || !strings.Contains(err.Error(), "1 of 3 steps failed") || !strings.Contains(err.Error(), "guard: no right") {
		t.Errorf("error %v", err)
	}
	want := "1/3  stop           went well\n2/3  guard          failed: no right\n3/3  lease          went well\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}

	ran = nil
	err = runSteps(t.Context(), &out, []step{try("stop", errors.New("still leads"), true), try("guard", nil, false)})
	if err == nil || !strings.Contains(err.Error(), "nothing was removed: stop: still leads") || len(ran) != 1 {
		t.Errorf("ran %v, error %v", ran, err)
	}
}
