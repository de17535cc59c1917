package status

import (
	"context"
	"errors"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/hub/firstpass"
	"open-cluster-management.io/interlock/pkg/kube/trigger"
)

func TestTheFirstPassIsOverOnceAllIsAssessed(t *testing.T) {
	for name, test := range map[string]struct {
		objects []client.Object
		broken  bool
		// everywhere and onCluster report whether the pass is complete for all clusters, and for the cluster of the add-on.
		everywhere, onCluster bool
	}{
		"evaluated":           {[]client.Object{addOn("leaf")}, false, true, true},
		"deleted meanwhile":   {nil, false, true, true},
		"cannot be evaluated": {[]client.Object{addOn("leaf")}, true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, test.objects...)
			b.FirstPass = firstpass.New()
			b.FirstPass.Add(leaf)
			b.FirstPass.Listed()
			if test.broken {
				b.read(failing{b.hub, "*v1.ManagedCluster", errors.New("the cache is broken")})
			}
			if b.FirstPass.Await(firstpass.Everywhere, trigger.New(), leaf) {
				t.Fatal("over before anything was evaluated")
			}
			if _, err := b.reconcile(t); (err != nil) != !test.onCluster {
				t.Fatal(err)
			}
			if complete := b.FirstPass.Await(firstpass.Everywhere, trigger.New(), leaf); complete != test.everywhere {
				t.Errorf("over everywhere: %t", complete)
			}
			if complete := b.FirstPass.Await(leaf.Namespace, trigger.New(), leaf); complete != test.onCluster {
				t.Errorf("over on the cluster: %t", complete)
			}
		})
	}
}

// A refused write does not count as a failed assessment.
func TestARefusedWriteDoesNotDelayTheFirstPass(t *testing.T) {
	b := newBench(t, addOn("leaf"))
	b.FirstPass = firstpass.New()
	b.FirstPass.Add(leaf)
	b.FirstPass.Listed()
	b.refusal = errors.New("no right")
	if _, err := b.reconcile(t); !errors.Is(err, b.refusal) || !b.FirstPass.Await(leaf.Namespace, trigger.New(), leaf) {
		t.Errorf("%v, and the pass is not over", err)
	}
}

// synced is a source that has handled all objects or never will.
type synced struct {
	clusterSource
	err error
}

type clusterSource interface {
	Start(context.Context, queue) error
}

func (s synced) WaitForSync(context.Context) error { return s.err }

func TestListed(t *testing.T) {
	stopping, stop := context.WithCancel(t.Context())
	stop()
	for name, test := range map[string]struct {
		ctx  context.Context
		err  error
		want bool
	}{
		"all is handled": {t.Context(), nil, true}, "the process stops": {stopping, nil, false}, "it fails": {
			t.Context(), errors.New("no"),
			false,
		},
	} {
		called := false
		err := listedSource{synced{err: test.err}, func() { called = true }}.WaitForSync(test.ctx)
		if !errors.Is(err, test.err) || called != test.want {
			t.Errorf("%s: %v, called: %t", name, err, called)
		}
	}
}
