package leadership

import (
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestLeader(t *testing.T) {
	now := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	for name, test := range map[string]struct {
		holder  *string
		renewed *metav1.MicroTime
		want    string
	}{
		"never held":                            {nil, nil, ""},
		"released":                              {ptr.To(""), microTime(now), ""},
		"held":                                  {ptr.To("pod-1"), microTime(now.Add(-14 * time.Second)), "pod-1"},
		"held by a leader that died":            {ptr.To("pod-1"), microTime(now.Add(-15 * time.Second)), ""},
		"held by an interrupted uninstallation": {ptr.To(Uninstalling), microTime(now), ""},
		"held, without a time of renewal":       {ptr.To("pod-1"), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			lease := &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{
				HolderIdentity: test.holder, RenewTime: test.renewed, LeaseDurationSeconds: ptr.To(int32(15)),
			}}
			if got := Leader(lease, now); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func microTime(t time.Time) *metav1.MicroTime { return ptr.To(metav1.NewMicroTime(t)) }
