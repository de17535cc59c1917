package graft

import (
	"errors"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var leaseKey = client.ObjectKey{Namespace: "interlock-system", Name: "interlock-addon-manager"}

func isLease(object client.Object) bool {
	return object.GetObjectKind().GroupVersionKind().Kind == "Lease"
}

// elect adds the lease of the leader election, with or without the mark.
func (b *bench) elect(t *testing.T, marked bool) {
	t.Helper()
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: leaseKey.Namespace, Name: leaseKey.Name, Annotations: map[string]string{"other": "stays"},
	}}
	lease.Spec.HolderIdentity = ptr.To("leader")
	if marked {
		lease.Annotations[MarkAnnotation] = "true"
	}
	b.create(t, lease)
	b.Lease = leaseKey
}

func (b *bench) expectMark(t *testing.T, marked bool) {
	t.Helper()
	lease := &coordinationv1.Lease{}
	if err := b.hub.Get(t.Context(), leaseKey, lease); err != nil {
		t.Fatal(err)
	}
	if got := lease.Annotations[MarkAnnotation] == "true"; got != marked {
		t.Errorf("marked: %t", got)
	}
	if lease.Annotations["other"] != "stays" || ptr.Deref(lease.Spec.HolderIdentity, "") != "leader" {
		t.Errorf("the leader's lease is changed: %v", lease)
	}
}

func TestTheMark(t *testing.T) {
	type state struct{ grafted, marked bool }
	untouched, grafted, marked, graftedAndMarked := state{}, state{grafted: true}, state{marked: true}, state{true, true}
	for name, test := range map[string]struct {
		reason        string
		enabled, keep bool
		stored, want  state
		writes        int // the writes of the lease
	}{
		"NoSettingNothingFound": {"nothing was ever turned on", false, true, untouched, untouched, 0},
		"NoSettingGraftFound":   {"it was turned on by a version that made no marks", false, true, grafted, graftedAndMarked, 1},
		"NoSettingMarkFound":    {"another writer put OCM's CRD back meanwhile", false, true, marked, graftedAndMarked, 0},
		"NoSettingBothFound":    {"an upgrade without the setting", false, true, graftedAndMarked, graftedAndMarked, 0},
		"On":                    {"it is turned on", true, false, untouched, graftedAndMarked, 1},
		"StillOn":               {"a restart", true, false, graftedAndMarked, graftedAndMarked, 0},
		"Off":                   {"it is turned off", false, false, graftedAndMarked, untouched, 1},
		"OffWhileReplaced":      {"no later version grafts again", false, false, marked, untouched, 1},
		"StillOff":              {"a restart", false, false, untouched, untouched, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if test.stored.grafted {
				b.expect(t, ReasonGrafted, true)
			}
			b.elect(t, test.stored.marked)
			b.restart(test.enabled, test.keep)
			reason := ReasonOff
			if test.want.grafted {
				reason = ReasonGrafted
			}
			for range 3 {
				b.expect(t, reason, test.want.grafted)
			}
			b.expectMark(t, test.want.marked)
			if b.leaseWrites != test.writes {
				t.Errorf("%s: %d writes of the lease, want %d", test.reason, b.leaseWrites, test.writes)
			}
		})
	}
}

func TestTheMarkIsWrittenBesideTheLeadersRenewals(t *testing.T) {
	b := newBench(t)
	b.elect(t, false)
	b.restart(true, false)
	renewals := 2
	b.fail = func(verb string, object client.Object) error {
		if verb != "update" || !isLease(object) || renewals == 0 {
			return nil
		}
		renewals--
		return apierrors.NewConflict(coordinationv1.Resource("leases"), leaseKey.Name, nil)
	}
	b.expect(t, ReasonGrafted, true)
	b.expectMark(t, true)
}

func TestNothingIsDecidedWithoutTheMark(t *testing.T) {
	for _, verb := range []string{"get", "update"} {
		b := newBench(t)
		b.elect(t, true)
		b.restart(false, false)
		b.fail = func(failing string, object client.Object) error {
			if failing == verb && isLease(object) {
				return errors.New("no answer")
			}
			return nil
		}
		if _, err := b.reconcile(t); err == nil {
			t.Errorf("%s: no error", verb)
		}
		b.fail = nil
		b.expect(t, ReasonOff, false)
		b.expectMark(t, false)
	}
}
