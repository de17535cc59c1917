package uninstall

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestLeaderOf(t *testing.T) {
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	for name, test := range map[string]struct {
		holder  *string
		renewed *metav1.MicroTime
		want    string
	}{
		"never held":                       {nil, nil, ""},
		"given back":                       {ptr.To(""), at(now), ""},
		"held":                             {ptr.To("pod-1"), at(now.Add(-14 * time.Second)), "pod-1"},
		"held by one that died":            {ptr.To("pod-1"), at(now.Add(-15 * time.Second)), ""},
		"held by a try that was cut short": {ptr.To(holder), at(now), ""},
		"held, without a time of renewal":  {ptr.To("pod-1"), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			lease := &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{
				HolderIdentity: test.holder, RenewTime: test.renewed, LeaseDurationSeconds: ptr.To(int32(15)),
			}}
			if got := leaderOf(lease, now); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func at(t time.Time) *metav1.MicroTime { return ptr.To(metav1.NewMicroTime(t)) }

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
