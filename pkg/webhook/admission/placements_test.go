package admission

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

func TestMissingPlacements(t *testing.T) {
	const (
		existing = `,"spec":{"installStrategy":{"type":"Placements","placements":[{"namespace":"n","name":"there"}]}}`
		missing  = `,"spec":{"installStrategy":{"type":"Placements","placements":[` +
			`{"namespace":"n","name":"there"},{"namespace":"n","name":"gone"}]}}`
		warning = `spec.installStrategy.placements[1]: there is no Placement "gone" in namespace "n", so it installs the add-on nowhere`
	)
	for name, test := range map[string]struct {
		previous, current string
		fails             error
		want              []string
		lookups           int
	}{
		"None":         {"", "", nil, nil, 0},
		"Exists":       {"", existing, nil, nil, 1},
		"Missing":      {"", missing, nil, []string{warning}, 2},
		"Added":        {existing, missing, nil, []string{warning}, 1},
		"Unchanged":    {missing, missing, nil, nil, 0},
		"NotReadable":  {"", missing, errors.New("forbidden"), nil, 2},
		"Incomplete":   {"", `,"spec":{"installStrategy":{"type":"Placements","placements":[{"name":"n"}]}}`, nil, nil, 0},
		"Leftover":     {"", strings.Replace(missing, `"type":"Placements"`, `"type":"Manual"`, 1), nil, nil, 0},
		"OfOtherTypes": {"", `,"spec":{"installStrategy":{"type":"Placements","placements":7}}`, nil, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			for _, add := range []func(*runtime.Scheme) error{addonv1alpha1.AddToScheme, clusterv1beta1.Install} {
				if err := add(scheme); err != nil {
					t.Fatal(err)
				}
			}
			placement := &clusterv1beta1.Placement{}
			placement.Namespace, placement.Name = "n", "there"
			lookups := 0
			reader := fake.NewClientBuilder().WithScheme(scheme).WithObjects(placement).WithInterceptorFuncs(interceptor.Funcs{
				Get: func(ctx context.Context, hub client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
					lookups++
					if test.fails != nil {
						return test.fails
					}
					return hub.Get(ctx, key, into, options...)
				},
			}).Build()
			request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				Name: "gateway", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: written("v1alpha1", test.current)},
			}}
			if test.previous != "" {
				request.Operation, request.OldObject.Raw = admissionv1.Update, written("v1alpha1", test.previous)
			}
			if got := missingPlacements(t.Context(), reader, request); !slices.Equal(got, test.want) || lookups != test.lookups {
				t.Errorf("after %d lookups: %q", lookups, got)
			}
			response := NewValidator(reader, nil).Handle(t.Context(), request)
			if test.fails == nil && name != "OfOtherTypes" && (!response.Allowed || !slices.Equal(response.Warnings, test.want)) {
				t.Errorf("allowed %t, warnings %q: %s", response.Allowed, response.Warnings, response.Result.Message)
			}
		})
	}
}
