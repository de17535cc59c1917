package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func addOnWith(conditions ...metav1.Condition) *installed {
	a := &installed{ObjectMeta: metav1.ObjectMeta{Namespace: cluster1, Name: gateway}}
	a.Status.Conditions = conditions
	return a
}

func conditionWith(name string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: name, Status: status, Reason: reason, Message: message}
}

// An expectation that holds wrongly would make the demo worthless.
func TestExpectations(t *testing.T) {
	up := conditionWith("Available", "True", "ManagedClusterAddOnLeaseUpdated", "")
	missing := conditionWith("Degraded", "True", requiredMissing, "one and two")
	reducedCondition := conditionWith("Degraded", "True", optionalMissing, "two")
	down := conditionWith("Available", "False", requiredMissing, "one and two")
	tests := []struct {
		name     string
		expected expectation
		seen     *installed
		holds    bool
	}{
		{"works, never degraded", available(cluster1, gateway), addOnWith(up), true},
		{"works, no longer degraded", available(cluster1, gateway), addOnWith(up, conditionWith("Degraded", "False", "x", "")), true},
		{"not installed", available(cluster1, gateway), nil, false},
		{"nothing reported", available(cluster1, gateway), addOnWith(), false},
		{"degraded after all", available(cluster1, gateway), addOnWith(up, reducedCondition), false},
		{"works with less", reduced(cluster1, gateway, "two"), addOnWith(up, reducedCondition), true},
		{"works with less, but does not say so", reduced(cluster1, gateway, "three"), addOnWith(up, reducedCondition), false},
		{"blocked", blocked(cluster1, gateway, "one", "two"), addOnWith(missing, down), true},
		{"blocked, in the wrong order", blocked(cluster1, gateway, "two", "one"), addOnWith(missing, down), false},
		{"blocked, the agent has not followed", blocked(cluster1, gateway), addOnWith(missing, up), false},
		{
			"blocked, the agent says something else", blocked(cluster1, gateway),
			addOnWith(missing, conditionWith("Available", "False", requiredMissing, "x")),
			false,
		},
		{"blocked only by its agent", blocked(cluster1, gateway), addOnWith(down), false},
		{"dead", dead(cluster1, gateway), addOnWith(conditionWith("Available", "False", leaseStopped, "")), true},
		{"dead for another reason", dead(cluster1, gateway), addOnWith(down), false},
		{"deleted", uninstalled(cluster1, gateway), nil, true},
		{"not deleted", uninstalled(cluster1, gateway), addOnWith(up), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if mismatch := test.expected.mismatch(test.seen); (mismatch == "") != test.holds {
				t.Errorf("holds: %t, want %t: %s", mismatch == "", test.holds, mismatch)
			}
		})
	}
}

// Steps use add-ons and clusters that exist, and each has all texts that are printed for it.
func TestSteps(t *testing.T) {
	for _, s := range steps {
		if s.title == "" || s.story == "" || s.run == nil || len(s.expect) == 0 {
			t.Errorf("step %q is not complete", s.title)
		}
		if (s.clock == "") != (len(s.show) > 0 || s.unchanged) || (s.wait == "") != (s.trigger == nil) {
			t.Errorf("step %q: its times would not be explained", s.title)
		}
		for _, e := range s.expect {
			ok := slices.ContainsFunc(slices.Concat(realAddOns, stack), func(a addOn) bool { return a.name == e.addOn })
			if !ok || !slices.Contains(clusters, e.cluster) {
				t.Errorf("step %q expects something of %s on %s", s.title, e.addOn, e.cluster)
			}
		}
	}
}

func TestTimes(t *testing.T) {
	origin := time.Now()
	changeAfter := func(elapsed time.Duration, addOn, condition, status string, sameStatus bool) change {
		return change{
			time:       origin.Add(elapsed),
			addOn:      key(cluster1, addOn),
			condition:  condition,
			status:     status,
			reason:     "Why",
			sameStatus: sameStatus,
		}
	}
	got := timesOf([]change{
		changeAfter(3*time.Millisecond, gateway, "", "created", false),
		changeAfter(9*time.Millisecond, gateway, "Degraded", "True", false),
		changeAfter(11*time.Millisecond, proxy, "Available", "True", false), // not part of the expectations
		changeAfter(1200*time.Millisecond, gateway, "Degraded", "True", true),
	}, []expectation{available(cluster1, gateway)}, origin)
	want := "created 3.0 ms → Degraded=True 9.0 ms → Degraded=True/Why 1.2 s"
	if diff := cmp.Diff(want, got.path(key(cluster1, gateway))); diff != "" || len(got.order) != 1 {
		t.Errorf("%v: %s", got.order, diff)
	}
	if last := got.last(); last != 1200*time.Millisecond {
		t.Errorf("last change after %s", last)
	}
}

func TestWords(t *testing.T) {
	if diff := cmp.Diff([]string{"one two", "three", "muchlongerthanthat", "x"}, wrap("one two three muchlongerthanthat\nx", 8)); diff != "" {
		t.Error(diff)
	}
	for width, want := range map[int]string{22: "… add-on is available.", 16: "… is available.", 12: "… available.", 3: "…", -5: "…"} {
		if got := lastWords("x add-on is available.", width); got != want {
			t.Errorf("%d characters: %q, want %q", width, got, want)
		}
	}
	times := []string{brief(0), brief(9950 * time.Microsecond), brief(1500 * time.Millisecond)}
	if text := strings.Join(times, ", "); text != "0 ms, 10 ms, 1.5 s" {
		t.Error(text)
	}
}
