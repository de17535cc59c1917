package snapshot

import (
	"context"
	"errors"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/test/fixture"
)

// TestDecisions tests that the PlacementDecisions of a missing dependency are read. They only explain: without
// them, the snapshot is complete.
func TestDecisions(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{fleet.AddToScheme, metav1.AddMetaToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	dependent := fixture.Registration("gateway", fixture.Required("keys"))
	keys := fixture.Specified(t, "keys", `installStrategy: {type: Placements, placements: [{namespace: places, name: all}]}`)
	decision := func(name, placement string) *clusterv1beta1.PlacementDecision {
		decision := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
			Namespace: "places", Name: name, Labels: map[string]string{clusterv1beta1.PlacementLabel: placement},
		}}
		decision.Status.Decisions = []clusterv1beta1.ClusterDecision{{ClusterName: "c1"}, {ClusterName: "c2"}}
		return decision
	}
	installed := func(cluster, name string) *addonv1alpha1.ManagedClusterAddOn {
		return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
	}
	const missing = "not installed: none of its Placements selects this cluster"
	for name, test := range map[string]struct {
		installed []client.Object
		failure   error
		read      bool
		want      string // of gateway on c3
	}{
		"Missing":   {[]client.Object{installed("c3", "gateway")}, nil, true, missing},
		"Installed": {[]client.Object{installed("c3", "gateway"), installed("c3", "keys")}, nil, false, "Available not reported yet"},
		"Forbidden": {
			[]client.Object{installed("c3", "gateway")},
			apierrors.NewForbidden(clusterv1beta1.Resource("placementdecisions"), "", errors.New("no right")), false, "not installed",
		},
		"Failing": {[]client.Object{installed("c3", "gateway")}, errors.New("timeout"), false, "not installed"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c3"}}
			hub := fake.NewClientBuilder().WithScheme(scheme).WithObjects(test.installed...).
				WithObjects(&dependent, &keys, cluster, decision("all-1", "all"), decision("other-1", "other")).WithInterceptorFuncs(interceptor.Funcs{
				List: func(ctx context.Context, hub client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
					if _, decisions := list.(*clusterv1beta1.PlacementDecisionList); decisions && test.failure != nil {
						return test.failure
					}
					return hub.List(ctx, list, options...)
				},
			}).Build()
			snapshot, err := Take(t.Context(), hub, "")
			if err != nil {
				t.Fatal(err)
			}
			if snapshot.DecisionsRead != test.read || test.read && (len(snapshot.Decisions) != 1 || snapshot.Decisions[0].Name != "all-1") {
				t.Errorf("read %t: %v", snapshot.DecisionsRead, snapshot.Decisions)
			}
			if finding := snapshot.Evaluated("c3")("gateway")[0]; finding.Reason() != test.want {
				t.Errorf("found %q, want %q", finding.Reason(), test.want)
			}
			if unselected := slices.Clone(snapshot.Whole("c1").Unselected); len(unselected) > 0 {
				t.Errorf("c1 lacks %q, and has no add-on that needs it", unselected)
			}
		})
	}
}
