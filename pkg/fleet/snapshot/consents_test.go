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

// TestConsents tests that the Placements of an add-on are read if an edge installs the add-on. They only explain: without them, the
// snapshot is complete, and consent is unknown. With consent, it has the AddOnInstallations.
func TestConsents(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	const auto, never = "{dependencies: [{name: keys, install: Auto}]}", "{dependencies: [{name: keys}]}"
	for name, test := range map[string]struct {
		dependent string
		additions Additions
		failure   error
		want      catalog.Consent
		read      int // Placements, and installations
	}{
		"Needed":    {auto, Additions{}, nil, catalog.ByLabel, 1},
		"NotNeeded": {never, Additions{}, nil, catalog.ConsentUnknown, 0},
		"ForPlans":  {never, Additions{Placements: true}, nil, catalog.ByLabel, 1},
		"Forbidden": {
			auto, Additions{}, apierrors.NewForbidden(clusterv1beta1.Resource("placements"), "", errors.New("no right")), catalog.ConsentUnknown, 0,
		},
		"NotServed": {auto, Additions{}, &meta.NoKindMatchError{}, catalog.ConsentUnknown, 0},
		"Timeout":   {auto, Additions{}, errors.New("timeout"), catalog.ConsentUnknown, 0},
	} {
		t.Run(name, func(t *testing.T) {
			keys := fixture.Specified(t, "keys", "installStrategy: {type: Placements, placements: [{namespace: places, name: keys}]}")
			dependent := fixture.Specified(t, "gateway", test.dependent)
			listed, unlisted := fixture.Consenting("places", "keys", "keys"), fixture.Consenting("places", "other", "keys")
			listed.Annotations, unlisted.UID = map[string]string{"note": secret}, "other"
			listed.Spec.Predicates[0].RequiredClusterSelector.CelSelector.CelExpressions = []string{"'" + secret + "' != ''"}
			installed := &dependencyv1alpha1.AddOnInstallation{ObjectMeta: metav1.ObjectMeta{Namespace: "c1", Name: "keys"}}
			hub := fake.NewClientBuilder().WithScheme(scheme).
				WithObjects(&keys, &dependent, &listed, &unlisted, installed, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}).
				WithInterceptorFuncs(interceptor.Funcs{
					List: func(ctx context.Context, hub client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
						if _, placements := list.(*clusterv1beta1.PlacementList); placements && test.failure != nil {
							return test.failure
						}
						return hub.List(ctx, list, options...)
					},
				}).Build()
			original, err := Take(t.Context(), hub, "", test.additions)
			if err != nil {
				t.Fatal(err)
			}
			var file strings.Builder
			if err := original.Write(&file); err != nil {
				t.Fatal(err)
			}
			read, err := Read("-", strings.NewReader(file.String()))
			if err != nil {
				t.Fatal(err)
			}
			for _, snapshot := range []*Snapshot{original, read} {
				if got := snapshot.Declared.Consent("keys"); got != test.want {
					t.Errorf("consent %q, want %q", got, test.want)
				}
				if len(snapshot.Placements) != test.read || len(snapshot.Installations) != test.read {
					t.Errorf("read %v and %v", snapshot.Placements, snapshot.Installations)
				}
			}
			if strings.Contains(file.String(), secret) {
				t.Errorf("the file has fields that consent does not depend on: %s", file.String())
			}
		})
	}
}
