package snapshot

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/test/fixture"
)

// Placements are read where an edge has an add-on installed that they install, and only those that its registration lists. They only
// explain: without them, the snapshot is taken all the same, and consent is unknown. With consent, it has the installations.
func TestConsents(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	const auto, never = "{dependencies: [{name: keys, install: Auto}]}", "{dependencies: [{name: keys}]}"
	for name, test := range map[string]struct {
		dependent string
		also      Also
		fails     error
		want      catalog.Consent
		read      int // Placements, and installations
	}{
		"Needed":    {auto, Also{}, nil, catalog.ByLabel, 1},
		"NotNeeded": {never, Also{}, nil, catalog.ConsentUnknown, 0},
		"OfPlans":   {never, Also{Placements: true}, nil, catalog.ByLabel, 1},
		"Forbidden": {
			auto, Also{}, apierrors.NewForbidden(clusterv1beta1.Resource("placements"), "", errors.New("no right")), catalog.ConsentUnknown, 0,
		},
		"NotServed":  {auto, Also{}, &meta.NoKindMatchError{}, catalog.ConsentUnknown, 0},
		"NotAnswers": {auto, Also{}, errors.New("timeout"), catalog.ConsentUnknown, 0},
	} {
		t.Run(name, func(t *testing.T) {
			keys := fixture.Specified(t, "keys", "installStrategy: {type: Placements, placements: [{namespace: places, name: keys}]}")
			dependent := fixture.Specified(t, "gateway", test.dependent)
			listed, other := fixture.Consenting("places", "keys", "keys"), fixture.Consenting("places", "other", "keys")
			listed.Annotations, other.UID = map[string]string{"note": secret}, "other"
			listed.Spec.Predicates[0].RequiredClusterSelector.CelSelector.CelExpressions = []string{"'" + secret + "' != ''"}
			installed := &dependencyv1alpha1.AddOnInstallation{ObjectMeta: metav1.ObjectMeta{Namespace: "c1", Name: "keys"}}
			hub := fake.NewClientBuilder().WithScheme(scheme).
				WithObjects(&keys, &dependent, &listed, &other, installed, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}).
				WithInterceptorFuncs(interceptor.Funcs{
					List: func(ctx context.Context, hub client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
						if _, placements := list.(*clusterv1beta1.PlacementList); placements && test.fails != nil {
							return test.fails
						}
						return hub.List(ctx, list, options...)
					},
				}).Build()
			taken, err := Take(t.Context(), hub, "", test.also)
			if err != nil {
				t.Fatal(err)
			}
			var file strings.Builder
			if err := taken.Write(&file); err != nil {
				t.Fatal(err)
			}
			read, err := Read("-", strings.NewReader(file.String()))
			if err != nil {
				t.Fatal(err)
			}
			for _, of := range []*Snapshot{taken, read} {
				if got := of.Declared.Consent("keys"); got != test.want {
					t.Errorf("consent %q, want %q", got, test.want)
				}
				if len(of.Placements) != test.read || len(of.Installations) != test.read {
					t.Errorf("read %v and %v", of.Placements, of.Installations)
				}
			}
			if strings.Contains(file.String(), secret) {
				t.Errorf("the file has what consent does not rest on: %s", file.String())
			}
		})
	}
}
