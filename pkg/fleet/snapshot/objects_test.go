package snapshot

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

// factsFail is a hub whose ManagedClusterFacts cannot be listed.
type factsFail struct {
	client.Reader
	err error
}

func (f factsFail) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if _, facts := list.(*dependencyv1alpha1.ManagedClusterFactsList); facts && f.err != nil {
		return f.err
	}
	return f.Reader.List(ctx, list, options...)
}

// TestTakeReadsObjects tests that facts are read if an add-on that provides an API may be removed. They only cause warnings, so that users
// do not need the right to read them.
func TestTakeReadsObjects(t *testing.T) {
	const provides = "provides: [{group: a.io, kind: Widget}]"
	busy, resource := errors.New("the hub is busy"), dependencyv1alpha1.Resource.GroupResource()
	for _, test := range []struct {
		name, spec string
		additions  Additions
		err        error
		want       bool
		fails      bool
	}{
		{name: "an add-on provides an API", spec: provides, additions: Additions{Objects: true}, want: true},
		{name: "no add-on provides an API", spec: "{}", additions: Additions{Objects: true}},
		{name: "nothing is removed", spec: provides},
		{name: "without the right", spec: provides, additions: Additions{Objects: true}, err: apierrors.NewForbidden(resource, "", busy)},
		{name: "without the CRD", spec: provides, additions: Additions{Objects: true}, err: apierrors.NewNotFound(resource, "")},
		{name: "from a hub that does not respond", spec: provides, additions: Additions{Objects: true}, err: busy, fails: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			facts := &dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "cluster1"}}
			snapshot, err := Take(t.Context(), factsFail{reader(t, test.spec, joined("cluster1"), facts), test.err}, "", test.additions)
			if test.fails != (err != nil) {
				t.Fatalf("ends with %v", err)
			}
			if err == nil && (snapshot.FactsObject("cluster1") != nil) != test.want {
				t.Errorf("has %v", snapshot.FactsObject("cluster1"))
			}
		})
	}
}
