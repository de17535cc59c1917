package overview_test

import (
	"fmt"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"open-cluster-management.io/interlock/pkg/report/overview"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/mixedfleet"
)

// TestCauseBeganBeforeItsEffects tests that the time of a cause is that of the dependency, and not that of its dependents.
func TestCauseBeganBeforeItsEffects(t *testing.T) {
	o := find(mixedfleet.Content(1000))
	stopped, missing := o.Causes[0], o.Causes[1]
	began := fixture.Earlier.Add(-11 * time.Minute)
	if !stopped.Since.Equal(began) || stopped.Place != "on all at once" || !stopped.EffectsSince.Equal(fixture.Earlier.Time) ||
		stopped.EffectsPlace != "on all at once" {
		t.Errorf("%+v", stopped)
	}
	if !missing.Since.IsZero() || missing.Place != "" || !missing.EffectsSince.Equal(fixture.Earlier.Time) {
		t.Errorf("it is not known since when an add-on is missing: %+v", missing)
	}
}

// TestOtherAddOnsThatAreNotAvailable tests that each add-on that is not available is a root cause, or listed after them.
func TestOtherAddOnsThatAreNotAvailable(t *testing.T) {
	o := find(mixedfleet.Content(1000))
	var got []string
	for _, entry := range o.Unavailable {
		got = append(got, fmt.Sprintf("%s, on %d %s: %s", entry.Title, entry.Clusters, entry.Place, entry.Effect))
	}
	want := []string{
		"cluster-proxy is not available: ProbeFailed, on 17 on all at once: " +
			"only reads, and shows cluster0013, one of the 17: for another one, replace its name",
		"work-manager is not available: ManagedClusterAddOnLeaseUpdateStopped, on 10 on all at once: " +
			"only reads, and shows cluster0017, one of the 10: for another one, replace its name",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	listed := o.Unavailable[0].Clusters + o.Unavailable[1].Clusters + o.Causes[0].Clusters
	for _, count := range o.AddOns {
		if count.State == overview.Down && count.Count != listed {
			t.Errorf("%d add-ons are not available, and %d are listed", count.Count, listed)
		}
	}
	if first := o.Causes[0]; first.Effect != "only reads, and shows cluster0000, one of the 100: for another one, replace its name" {
		t.Errorf("%+v", first)
	}
	if second := o.Causes[1]; second.Effect != "changes 21 managed clusters" {
		t.Errorf("%+v", second)
	}
}

func TestHeadline(t *testing.T) {
	for clusters, want := range map[int][2]string{
		0: {"No add-on is known to fail.", "0 managed clusters"},
		1: {"4 add-ons fail; all of them because of managed-serviceaccount on 1 managed cluster.", "1 managed cluster"},
		12: {
			"10 add-ons fail; 8 of them because of managed-serviceaccount on 2 managed clusters.",
			"12 managed clusters (1 cannot be reached; root causes count the other 11)",
		},
		1000: {
			"469 add-ons fail; 400 of them because of managed-serviceaccount on 100 managed clusters.",
			"1000 managed clusters (25 cannot be reached, 4 will be detached; root causes count the other 971)",
		},
	} {
		if o := find(mixedfleet.Content(clusters)); o.Headline != want[0] || o.Scope != want[1] {
			t.Errorf("%d clusters: %s %s", clusters, o.Headline, o.Scope)
		}
	}
}
