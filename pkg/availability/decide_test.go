package availability

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
)

const (
	grace   = 5 * time.Minute
	missing = "Required addon 'gateway' is not installed or not available. No way in (not installed)"
)

var (
	now     = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	earlier = metav1.NewTime(now.Add(-time.Hour))
	atNow   = metav1.NewTime(now)
)

func available(status metav1.ConditionStatus, reason, message string, since metav1.Time) metav1.Condition {
	return metav1.Condition{Type: "Available", Status: status, Reason: reason, Message: message, LastTransitionTime: since}
}

func degraded(status metav1.ConditionStatus, reason string) *metav1.Condition {
	return &metav1.Condition{Type: "Degraded", Status: status, Reason: reason, Message: missing, LastTransitionTime: earlier}
}

func renewed(ago time.Duration) Lease {
	renewTime := now.Add(-ago)
	return Lease{State: LeaseFound, RenewTime: &renewTime}
}

func write(condition metav1.Condition) Decision {
	return Decision{Write: true, Condition: condition}
}

func (d Decision) until(moment time.Time) Decision {
	d.NextChange = moment
	return d
}

func (d Decision) asserting(finding string) Decision {
	d.Asserted = finding
	return d
}

func (d Decision) awaiting(since time.Time) Decision {
	d.Awaiting = since
	return d
}

func (d Decision) skewed(ahead time.Duration) Decision {
	d.Skew = ahead
	return d
}

var (
	upSince = func(t metav1.Time) metav1.Condition {
		return available("True", "ManagedClusterAddOnLeaseUpdated", "proxy add-on is available.", t)
	}
	stoppedSince = func(t metav1.Time) metav1.Condition {
		return available("False", "ManagedClusterAddOnLeaseUpdateStopped", "proxy add-on is not available.", t)
	}
	unknownSince = func(t metav1.Time) metav1.Condition {
		return available("Unknown", "ManagedClusterAddOnLeaseNotFound", "The status of proxy add-on is unknown.", t)
	}
	blockedSince = func(t metav1.Time) metav1.Condition {
		return available("False", "RequiredDependencyNotSatisfied", missing, t)
	}
	lost = available("Unknown", "ManagedClusterLeaseUpdateStopped", "Registration agent stopped updating its lease.", earlier)

	leaveAlone = Decision{}
)

func stored(condition metav1.Condition) *metav1.Condition { return &condition }

func TestLeaseMode(t *testing.T) {
	tests := []struct {
		name      string
		available *metav1.Condition
		lease     Lease
		hosting   string
		want      Decision
	}{
		{name: "no lease yet, nothing stored", lease: Lease{State: LeaseNotFound}, want: write(unknownSince(atNow))},
		{
			name:      "lease deleted",
			lease:     Lease{State: LeaseNotFound},
			available: stored(upSince(earlier)),
			want:      write(unknownSince(atNow)),
		},
		{name: "no lease, known already", lease: Lease{State: LeaseNotFound}, available: stored(unknownSince(earlier)), want: leaveAlone},
		{
			name: "no lease on the hosting cluster: the message names the cluster", lease: Lease{State: LeaseNotFound}, hosting: "mgmt",
			want: write(available("Unknown", "ManagedClusterAddOnLeaseNotFound",
				`The status of proxy add-on is unknown. No lease found on hosting cluster "mgmt"; verify it matches the cluster `+
					`where this managed cluster's klusterlet actually runs.`, atNow)),
		},
		{name: "fresh lease", lease: renewed(time.Second), want: write(upSince(atNow)).until(now.Add(grace - time.Second))},
		{
			name:      "fresh lease, known already",
			lease:     renewed(time.Second),
			available: stored(upSince(earlier)),
			want:      leaveAlone.until(now.Add(grace - time.Second)),
		},
		{
			name:      "renewed again after it stopped",
			lease:     renewed(0),
			available: stored(stoppedSince(earlier)),
			want:      write(upSince(atNow)).until(now.Add(grace)),
		},
		{
			name:      "a nanosecond before expiry",
			lease:     renewed(grace - 1),
			available: stored(upSince(earlier)),
			want:      leaveAlone.until(now.Add(1)),
		},
		{name: "at the moment of expiry", lease: renewed(grace), available: stored(upSince(earlier)), want: write(stoppedSince(atNow))},
		{name: "expired long ago, known already", lease: renewed(time.Hour), available: stored(stoppedSince(earlier)), want: leaveAlone},
		{name: "never renewed", lease: Lease{State: LeaseFound}, want: write(stoppedSince(atNow))},
		{name: "no response yet, nothing stored", lease: Lease{State: LeaseUnobserved}, want: leaveAlone},
		{
			name:      "no response yet: Available keeps its value",
			lease:     Lease{State: LeaseUnobserved},
			available: stored(upSince(earlier)),
			want:      leaveAlone,
		},
		{
			name:      "clock ahead within the grace period",
			lease:     renewed(-grace),
			available: stored(upSince(earlier)),
			want:      leaveAlone.until(now.Add(2 * grace)),
		},
		{
			name: "clock ahead by more than the grace period: available, with skew", lease: renewed(-time.Hour),
			want: write(upSince(atNow)).until(now.Add(time.Hour + grace)).skewed(time.Hour),
		},
		{
			name: "another message is no change", lease: renewed(0),
			available: stored(available("True", "ManagedClusterAddOnLeaseUpdated", "proxy läuft", earlier)),
			want:      leaveAlone.until(now.Add(grace)),
		},
		{
			name: "same status for another reason: the reason changes, the time does not", lease: renewed(0),
			available: stored(available("True", "ProbeAvailable", "", earlier)),
			want:      write(upSince(earlier)).until(now.Add(grace)),
		},
		{
			name:      "dependency satisfied again: back to the lease",
			lease:     renewed(0),
			available: stored(blockedSince(earlier)),
			want:      write(upSince(atNow)).until(now.Add(grace)),
		},
		{
			name:      "dependency satisfied again, lease stopped: still False, for another reason",
			lease:     renewed(grace),
			available: stored(blockedSince(earlier)),
			want:      write(stoppedSince(earlier)),
		},
		{
			name:      "the hub reports that the cluster is lost, the lease is fresh",
			lease:     renewed(0),
			available: stored(lost),
			want:      leaveAlone,
		},
		{
			name:      "the hub reports that the cluster is lost, the lease stopped",
			lease:     renewed(grace),
			available: stored(lost),
			want:      leaveAlone,
		},
		{
			name: "the cluster's own reason, but not Unknown", lease: renewed(0),
			available: stored(
				available("False", "ManagedClusterLeaseUpdateStopped", "", earlier),
			), want: write(upSince(atNow)).until(now.Add(grace)),
		},
	}
	for _, mode := range []ocmv1alpha1.HealthCheckMode{"", "Lease", "SomethingNewer"} {
		for _, tt := range tests {
			t.Run(string(mode)+"/"+tt.name, func(t *testing.T) {
				got := Decide(Input{
					AddOn: "proxy", Mode: mode, Available: tt.available, Lease: tt.lease, HostingCluster: tt.hosting,
					GracePeriod: grace, Now: now,
				})
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
	}
}

func TestCustomizedMode(t *testing.T) {
	awaited := func(status metav1.ConditionStatus, since metav1.Time) metav1.Condition {
		return available(status, "AwaitingHealthCheck",
			"The dependencies of proxy add-on are satisfied again; waiting for the add-on's own health check.", since)
	}
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	tests := []struct {
		name      string
		awaiting  time.Time
		available *metav1.Condition
		want      Decision
	}{
		{name: "nothing stored", want: leaveAlone},
		{name: "add-on's own True", available: stored(available("True", "ProbeAvailable", "", earlier)), want: leaveAlone},
		{name: "add-on's own False", available: stored(available("False", "ProbeUnavailable", "", earlier)), want: leaveAlone},
		{name: "left behind by another mode", available: stored(stoppedSince(earlier)), want: leaveAlone},
		{
			name: "Interlock's False is handed back: the status stays until the health check reports", available: stored(blockedSince(earlier)),
			want: write(awaited("False", earlier)).awaiting(now).until(now.Add(grace)),
		},
		{
			name:      "handed back already",
			awaiting:  ago(time.Minute),
			available: stored(awaited("False", earlier)),
			want:      leaveAlone.awaiting(ago(time.Minute)).until(now.Add(grace - time.Minute)),
		},
		{
			name:      "handed back before a restart: awaited anew",
			available: stored(awaited("False", earlier)),
			want:      leaveAlone.awaiting(now).until(now.Add(grace)),
		},
		{
			name:      "a nanosecond before the end of the wait",
			awaiting:  ago(grace - 1),
			available: stored(awaited("False", earlier)),
			want:      leaveAlone.awaiting(ago(grace - 1)).until(now.Add(1)),
		},
		{
			name:      "no report within the grace period",
			awaiting:  ago(grace),
			available: stored(awaited("False", earlier)),
			want:      write(awaited("Unknown", atNow)),
		},
		{name: "no report, known already", available: stored(awaited("Unknown", earlier)), want: leaveAlone},
		{
			name:      "add-on's own False while it is awaited",
			awaiting:  ago(time.Minute),
			available: stored(available("False", "ProbeUnavailable", "", earlier)),
			want:      leaveAlone,
		},
		{name: "the hub reports that the cluster is lost", available: stored(lost), want: leaveAlone},
		{
			name:      "Interlock's reason, but another status",
			available: stored(available("Unknown", "RequiredDependencyNotSatisfied", "", earlier)),
			want:      leaveAlone,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			// This mode ignores the lease.
			got := Decide(
				Input{
					AddOn:       "proxy",
					Mode:        "Customized",
					Available:   tt.available,
					Memory:      Memory{Awaiting: tt.awaiting},
					Lease:       renewed(0),
					GracePeriod: grace,
					Now:         now,
				},
			)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestDependencyRule(t *testing.T) {
	const (
		asserted = "RequiredDependencyNotSatisfied: " + missing
		another  = "RequiredDependencyNotSatisfied: two are missing"
	)
	unhealthy := available("False", "ProbeUnavailable", "", earlier)
	tests := []struct {
		name      string
		asserted  string
		available *metav1.Condition
		want      Decision
	}{
		{name: "nothing stored", want: write(blockedSince(atNow)).asserting(asserted)},
		{name: "was True", available: stored(upSince(earlier)), want: write(blockedSince(atNow)).asserting(asserted)},
		{name: "was Unknown", available: stored(unknownSince(earlier)), want: write(blockedSince(atNow)).asserting(asserted)},
		{
			name:      "was False: the time stays",
			available: stored(stoppedSince(earlier)),
			want:      write(blockedSince(earlier)).asserting(asserted),
		},
		{
			name:      "was False by the add-on's own check",
			available: stored(unhealthy),
			want:      write(blockedSince(earlier)).asserting(asserted),
		},
		{name: "stored already: remembered", available: stored(blockedSince(earlier)), want: leaveAlone.asserting(asserted)},
		{name: "asserted and stored", asserted: asserted, available: stored(blockedSince(earlier)), want: leaveAlone.asserting(asserted)},
		{
			name:      "replaced by Unknown: left",
			asserted:  asserted,
			available: stored(unknownSince(earlier)),
			want:      leaveAlone.asserting(asserted),
		},
		{
			name:      "replaced by False: left",
			asserted:  asserted,
			available: stored(stoppedSince(earlier)),
			want:      leaveAlone.asserting(asserted),
		},
		{
			name:      "replaced by False of the add-on's own check: left",
			asserted:  asserted,
			available: stored(unhealthy),
			want:      leaveAlone.asserting(asserted),
		},
		{
			name:      "replaced by True: set again",
			asserted:  asserted,
			available: stored(upSince(earlier)),
			want:      write(blockedSince(atNow)).asserting(asserted),
		},
		{name: "removed: set again", asserted: asserted, want: write(blockedSince(atNow)).asserting(asserted)},
		{
			name: "another finding", asserted: another,
			available: stored(available("False", "RequiredDependencyNotSatisfied", "two are missing", earlier)),
			want:      write(blockedSince(earlier)).asserting(asserted),
		},
		{
			name:      "another finding, after another writer",
			asserted:  another,
			available: stored(unknownSince(earlier)),
			want:      write(blockedSince(atNow)).asserting(asserted),
		},
		{name: "the cluster is lost", available: stored(lost), want: leaveAlone},
		{
			name:      "the cluster is lost: the asserted finding counts on its return",
			asserted:  asserted,
			available: stored(lost),
			want:      leaveAlone.asserting(asserted),
		},
		{
			name:      "the cluster is lost, another finding: asserted on its return",
			asserted:  another,
			available: stored(lost),
			want:      leaveAlone.asserting(another),
		},
	}
	for _, mode := range []ocmv1alpha1.HealthCheckMode{"Lease", "Customized"} {
		for state, lease := range map[string]Lease{
			"unobserved": {}, "missing": {State: LeaseNotFound}, "fresh": renewed(0), "expired": renewed(time.Hour),
		} {
			for _, tt := range tests {
				t.Run(string(mode)+"/lease "+state+"/"+tt.name, func(t *testing.T) {
					got := Decide(Input{
						AddOn: "proxy", Mode: mode, Available: tt.available, Degraded: degraded("True", "RequiredDependencyNotSatisfied"),
						Memory: Memory{Asserted: tt.asserted, Awaiting: earlier.Time}, Lease: lease, GracePeriod: grace, Now: now,
					})
					if diff := cmp.Diff(tt.want, got); diff != "" {
						t.Errorf("(-want +got)\n%s", diff)
					}
				})
			}
		}
	}
}

func TestIrrelevantDegraded(t *testing.T) {
	for name, irrelevant := range map[string]*metav1.Condition{
		"none":                            nil,
		"only Optional edges fail":        degraded("True", "DependencyNotSatisfied"),
		"satisfied again":                 degraded("False", "DependenciesSatisfied"),
		"the reason, but not True":        degraded("False", "RequiredDependencyNotSatisfied"),
		"the reason, but Unknown":         degraded("Unknown", "RequiredDependencyNotSatisfied"),
		"another writer's":                degraded("True", "DiskFull"),
		"another writer's similar reason": degraded("True", "requiredDependencyNotSatisfied"),
	} {
		t.Run(name, func(t *testing.T) {
			input := Input{
				AddOn:       "proxy",
				Available:   stored(stoppedSince(earlier)),
				Degraded:    irrelevant,
				Memory:      Memory{Asserted: "before", Awaiting: earlier.Time},
				Lease:       renewed(0),
				GracePeriod: grace,
				Now:         now,
			}
			if diff := cmp.Diff(write(upSince(atNow)).until(now.Add(grace)), Decide(input)); diff != "" {
				t.Errorf("Lease mode (-want +got)\n%s", diff)
			}
			input.Mode = ocmv1alpha1.HealthCheckModeCustomized
			if diff := cmp.Diff(leaveAlone, Decide(input)); diff != "" {
				t.Errorf("Customized mode (-want +got)\n%s", diff)
			}
		})
	}
}

func TestDecideKeepsInput(t *testing.T) {
	condition, cause := upSince(earlier), degraded("True", "RequiredDependencyNotSatisfied")
	Decide(Input{AddOn: "proxy", Available: &condition, Degraded: cause, GracePeriod: grace, Now: now})
	if diff := cmp.Diff(upSince(earlier), condition); diff != "" {
		t.Errorf("Available changed\n%s", diff)
	}
	if diff := cmp.Diff(degraded("True", "RequiredDependencyNotSatisfied"), cause); diff != "" {
		t.Errorf("Degraded changed\n%s", diff)
	}
}

func TestLeftByGuard(t *testing.T) {
	blocked := blockedSince(earlier)
	failing := stored(metav1.Condition{Status: "True", Reason: "RequiredDependencyNotSatisfied", Message: blocked.Message})
	clusterLost := metav1.Condition{Status: "Unknown", Reason: ReasonClusterLost}
	for _, tt := range []struct {
		name                string
		available, degraded *metav1.Condition
		want                bool
	}{
		{name: "no conditions", want: true},
		{name: "no Available", degraded: failing, want: true},
		{name: "Available as the guard sets it", available: &blocked, degraded: failing, want: true},
		{name: "the cluster is lost", available: &clusterLost, degraded: failing, want: true},
		{name: "True", available: stored(upSince(earlier)), degraded: failing},
		{
			name:      "another writer's Unknown",
			available: &metav1.Condition{Status: "Unknown", Reason: "ManagedClusterAddOnLeaseNotFound"},
			degraded:  failing,
		},
		{
			name:      "an earlier message",
			available: &blocked,
			degraded:  stored(metav1.Condition{Status: "True", Reason: "RequiredDependencyNotSatisfied", Message: "new"}),
		},
		{
			name:      "True beside satisfied dependencies",
			available: stored(upSince(earlier)),
			degraded:  stored(metav1.Condition{Status: "False", Reason: "DependenciesSatisfied"}),
			want:      true,
		},
		{
			name:      "True beside an Optional one that fails",
			available: stored(upSince(earlier)),
			degraded:  stored(metav1.Condition{Status: "True", Reason: "DependencyNotSatisfied"}),
			want:      true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := LeftByGuard(tt.available, tt.degraded); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}

func TestFollows(t *testing.T) {
	blocked := blockedSince(earlier)
	for _, tt := range []struct {
		name                string
		available, degraded *metav1.Condition
		want                bool
	}{
		{name: "no Available", degraded: &blocked},
		{
			name:      "the reason on both",
			available: &blocked,
			degraded:  stored(metav1.Condition{Status: "True", Reason: "RequiredDependencyNotSatisfied"}),
			want:      true,
		},
		{
			name:      "a stock writer's reason beside a failing dependency",
			available: &lost,
			degraded:  stored(metav1.Condition{Status: "True", Reason: "RequiredDependencyNotSatisfied"}),
		},
		{
			name:      "the reason stays after the dependency is satisfied",
			available: &blocked,
			degraded:  stored(metav1.Condition{Status: "False", Reason: "DependenciesSatisfied"}),
		},
		{name: "nothing declared", available: stored(upSince(earlier)), want: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Follows(tt.available, tt.degraded); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}
