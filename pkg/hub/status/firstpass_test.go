package status

import (
	"context"
	"errors"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/hub/firstpass"
	"open-cluster-management.io/interlock/pkg/trigger"
)

func TestTheFirstPassIsOverOnceAllIsAssessed(t *testing.T) {
	for name, test := range map[string]struct {
		objects []client.Object
		broken  bool
		// everywhere and there are whether the pass is over for all clusters, and for that of the add-on.
		everywhere, there bool
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
			if _, err := b.reconcile(t); (err != nil) != !test.there {
				t.Fatal(err)
			}
			if over := b.FirstPass.Await(firstpass.Everywhere, trigger.New(), leaf); over != test.everywhere {
				t.Errorf("over everywhere: %t", over)
			}
			if over := b.FirstPass.Await(leaf.Namespace, trigger.New(), leaf); over != test.there {
				t.Errorf("over on the cluster: %t", over)
			}
		})
	}
}

// A write that is refused is no failure of the assessment.
func TestARefusedWriteDoesNotDelayTheFirstPass(t *testing.T) {
	b := newBench(t, addOn("leaf"))
	b.FirstPass = firstpass.New()
	b.FirstPass.Add(leaf)
	b.FirstPass.Listed()
	b.answer = errors.New("no right")
	if _, err := b.reconcile(t); !errors.Is(err, b.answer) || !b.FirstPass.Await(leaf.Namespace, trigger.New(), leaf) {
		t.Errorf("%v, and the pass is not over", err)
	}
}

// synced is a source that has handled all objects, or never does.
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
