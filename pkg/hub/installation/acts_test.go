package installation

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/fixture"
)

// deny denies on all managed clusters from now on.
func (b *bench) deny(t *testing.T) {
	t.Helper()
	deny := fixture.Policy(t, "p", "{install: Deny}")
	b.Policies = func(context.Context) ([]dependencyv1alpha1.AddOnDependencyPolicy, error) {
		return []dependencyv1alpha1.AddOnDependencyPolicy{deny}, nil
	}
}

func (b *bench) allow() {
	b.Policies = func(context.Context) ([]dependencyv1alpha1.AddOnDependencyPolicy, error) { return nil, nil }
}

// once calls a function with the first write that begins with a text.
func (b *bench) once(write string, call func()) {
	b.refuse = func(of, _ string) error {
		if strings.HasPrefix(of, write) && call != nil {
			then := call
			call = nil
			then()
		}
		return nil
	}
}

// A plan is read once, and then carried out: what is denied or lost meanwhile stays as it is.
func TestAPlanStopsWhereInterlockDoesNotActAnyMore(t *testing.T) {
	for _, test := range []struct {
		name, base string
		removes    bool
		when       string
		lost       bool
		want       []string
	}{
		{
			"decisions, denied", listed, false, "create Placement", false,
			[]string{"create Unstructured " + addonv1alpha1.InstallNamespace, "create Placement base"},
		},
		{"withdrawals, denied", listed, true, "patch", false, nil},
		{"withdrawals, one cluster lost", listed, true, "patch", true, []string{"update PlacementDecision base-interlock-1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newBench(t, test.base, test.base == manual, 3)
			if test.removes {
				b = newInstalled(t, test.base, test.base == manual, 3)
				b.later(t, 0)
			}
			b.once(test.when, func() {
				if test.lost {
					b.lose(t, 2, metav1.ConditionUnknown)
				} else {
					b.deny(t)
				}
			})
			if writes := b.later(t, time.Hour); !slices.Equal(writes, test.want) {
				t.Errorf("got %v, want %v", writes, test.want)
			}
			if got := b.decided(t)["base-interlock-1"]; test.removes && test.base == listed && got != map[bool]int{true: 1, false: 3}[test.lost] {
				t.Errorf("decided %d", got)
			}
			if writes := b.later(t, time.Minute); len(writes) > 0 {
				t.Errorf("afterwards: %v", writes)
			}
		})
	}
}

func TestNothingIsDoneWhilePoliciesCannotBeReadAnyMore(t *testing.T) {
	busy := errors.New("the hub is busy")
	for base, when := range map[string]string{listed: "create Placement"} {
		b := newBench(t, base, base == manual, 3)
		b.once(when, func() {
			b.Policies = func(context.Context) ([]dependencyv1alpha1.AddOnDependencyPolicy, error) { return nil, busy }
		})
		if writes, _, err := b.reconcile(t); !errors.Is(err, busy) || len(writes) > 2 {
			t.Errorf("%v, wrote %v", err, writes)
		}
	}
}

func TestTakeBack(t *testing.T) {
	for _, test := range []struct {
		name                          string
		stored, decided, taken, wants []string
	}{
		{"an addition", []string{"a"}, []string{"a", "b", "c"}, []string{"b"}, []string{"a", "c"}},
		{"a removal", []string{"a", "b", "c"}, []string{"c"}, []string{"a"}, []string{"a", "c"}},
		{"all", []string{"a", "b"}, []string{"c"}, []string{"b", "c", "a"}, []string{"a", "b"}},
	} {
		of := &placed{stored: map[string][]string{"d": test.stored}, decided: map[string][]string{"d": test.decided}}
		for _, cluster := range test.taken {
			of.takeBack("d", cluster)
		}
		if got := of.decided["d"]; !slices.Equal(got, test.wants) {
			t.Errorf("%s: got %v, want %v", test.name, got, test.wants)
		}
	}
}
