package condition

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/test/fixture"
)

func TestWaitsSince(t *testing.T) {
	const isTrue, isFalse = metav1.ConditionTrue, metav1.ConditionFalse
	now, since := fixture.Now.Time, fixture.Earlier.Time
	for name, test := range map[string]struct {
		stored  *metav1.Condition
		changed bool
		want    time.Time
	}{
		"New":             {nil, true, now},
		"Begins":          {fixture.Degraded(isFalse, satisfiedReason, ""), true, now},
		"AfterOptional":   {fixture.Degraded(isTrue, optionalReason, ""), true, now},
		"Restarted":       {fixture.Degraded(isTrue, requiredReason, ""), false, since},
		"OnlyTheMessage":  {fixture.Degraded(isTrue, requiredReason, ""), true, since},
		"NeverWrittenYet": {nil, false, now},
	} {
		if got := WaitsSince(test.stored, test.changed, now); !got.Equal(test.want) {
			t.Errorf("%s: since %s, want %s", name, got, test.want)
		}
	}
}
