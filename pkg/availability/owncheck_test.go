package availability

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
)

func TestAnAddOnsOwnCheckMaySayTheSame(t *testing.T) {
	const words = "Probe addon unavailable with err RequiredDependencyNotSatisfied: " + missing
	for _, test := range []struct {
		name   string
		mode   ocmv1alpha1.HealthCheckMode
		stored metav1.Condition
		want   Decision
	}{
		{"it does", ocmv1alpha1.HealthCheckModeCustomized, available("False", "ProbeUnavailable", words, earlier), leaveAlone},
		{"it says so of another dependency", ocmv1alpha1.HealthCheckModeCustomized, available("False", "ProbeUnavailable", "RequiredDependencyNotSatisfied: x", earlier), write(blockedSince(earlier))},
		{"it has another complaint", ocmv1alpha1.HealthCheckModeCustomized, available("False", "ProbeUnavailable", missing, earlier), write(blockedSince(earlier))},
		{"it says so and is available", ocmv1alpha1.HealthCheckModeCustomized, available("True", "ProbeAvailable", words, earlier), write(blockedSince(atNow))},
		{"nothing is installed yet", ocmv1alpha1.HealthCheckModeCustomized, available("Unknown", "WorkNotFound", "Addon manifestWork is not found", earlier), leaveAlone},
		{"it does not know", ocmv1alpha1.HealthCheckModeCustomized, available("Unknown", "NoProbeResult", "", earlier), write(blockedSince(atNow))},
		{"nothing is installed, and it has no say", ocmv1alpha1.HealthCheckModeLease, available("Unknown", "WorkNotFound", "", earlier), write(blockedSince(atNow))},
		{"it has no say", ocmv1alpha1.HealthCheckModeLease, available("False", "ProbeUnavailable", words, earlier), write(blockedSince(earlier))},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Decide(Input{
				AddOn: "proxy", Mode: test.mode, Available: stored(test.stored), Degraded: degraded("True", ReasonRequiredDependencyNotSatisfied),
				GracePeriod: grace, Now: now,
			})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestALongMessageIsRecognizedByItsBeginning(t *testing.T) {
	long := degraded("True", ReasonRequiredDependencyNotSatisfied)
	long.Message = strings.Repeat("ä", 20000)
	quoted := Quote(long.Message)
	if len(quoted) > maxQuote || !utf8.ValidString(quoted) {
		t.Errorf("%d bytes, valid: %t", len(quoted), utf8.ValidString(quoted))
	}
	got := Decide(Input{
		Mode: ocmv1alpha1.HealthCheckModeCustomized, Degraded: long, Now: now,
		Available: stored(available("False", "ProbeUnavailable", "RequiredDependencyNotSatisfied: "+quoted, earlier)),
	})
	if got != leaveAlone {
		t.Errorf("got %+v", got)
	}
}
