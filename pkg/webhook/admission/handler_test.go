package admission

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

func hub(t *testing.T, fails error) client.Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := addonv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	base := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "base"}}
	base.Spec.Dependencies = []addonv1alpha1.AddonDependency{{Name: "gateway"}}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(base).WithInterceptorFuncs(interceptor.Funcs{
		List: func(ctx context.Context, reader client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if fails != nil {
				return fails
			}
			return reader.List(ctx, list, options...)
		},
	}).Build()
}

func TestACacheThatIsLateDeniesNothing(t *testing.T) {
	object := written("v1alpha1", `,"spec":{"dependencies":[{"name":"base"}]}`) // a cycle, as base is registered in hub
	lists := 0
	counted := func(reader client.Reader) client.Reader {
		return interceptor.NewClient(reader.(client.WithWatch), interceptor.Funcs{
			List: func(ctx context.Context, reader client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				lists++
				return reader.List(ctx, list, options...)
			},
		})
	}
	emptyHub := fake.NewClientBuilder().WithScheme(hub(t, nil).(client.Client).Scheme()).Build()
	for _, test := range []struct {
		name        string
		cache, live client.Reader
		object      []byte
		allowed     bool
		lists       int
	}{
		{"both have the cycle", hub(t, nil), hub(t, nil), object, false, 1},
		{"the cycle is gone", hub(t, nil), emptyHub, object, true, 1},
		{"the cycle is new", emptyHub, hub(t, nil), object, true, 0}, // evaluation reports it
		{"the cache cannot be read", hub(t, errors.New("not synced")), hub(t, nil), object, false, 1},
		{"what depends on no other add-on", emptyHub, emptyHub, written("v1alpha1", `,"spec":{"dependencies":[{"name":""}]}`), false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			lists = 0
			validator := NewValidator(counted(test.live), test.cache)
			got := validator.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				Name: "gateway", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: test.object},
			}})
			if got.Allowed != test.allowed || lists != test.lists {
				t.Errorf("allowed %t after %d live lists: %s", got.Allowed, lists, got.Result.Message)
			}
		})
	}
}

// An API server waits for some seconds, and then no component reads the response.
func TestAReviewWhoseTimeIsOverWaitsForNoOther(t *testing.T) {
	listing, listed := make(chan struct{}), make(chan struct{})
	validator := NewValidator(interceptor.NewClient(hub(t, nil).(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, reader client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			close(listing)
			<-listed
			return reader.List(ctx, list, options...)
		},
	}), nil)
	request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Name: "gateway", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: written("v1alpha1", "")},
	}}
	first := make(chan admission.Response)
	go func() { first <- validator.Handle(context.WithoutCancel(t.Context()), request) }()
	<-listing

	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	response := validator.Handle(canceled, request)
	warnings := strings.Join(response.Warnings, "")
	if !response.Allowed || !strings.Contains(warnings, "wait for other reviews: context canceled") {
		t.Errorf("allowed %t, warnings %q", response.Allowed, warnings)
	}
	close(listed)
	if response := <-first; !response.Allowed || len(response.Warnings) > 0 {
		t.Errorf("allowed %t, warnings %q", response.Allowed, response.Warnings)
	}
}

func written(version, rest string) []byte {
	return []byte(`{"apiVersion":"addon.open-cluster-management.io/` + version + `","kind":"ClusterManagementAddOn",` +
		`"metadata":{"name":"gateway"}` + rest + "}")
}

func TestHandle(t *testing.T) {
	const (
		cycle   = `,"spec":{"dependencies":[{"name":"base"}]}`
		missing = `,"spec":{"dependencies":[{"name":"missing"}]}`
		beta    = `,"spec":{"defaultConfigs":[{"resource":"r","name":"n"}],"dependencies":[{"name":"base"}]}`
	)
	for _, test := range []struct {
		name            string
		operation       admissionv1.Operation
		object, old     []byte
		fails           error
		denied, warning string
	}{
		{name: "nothing declared", operation: "CREATE", object: written("v1alpha1", "")},
		{name: "a cycle", operation: "CREATE", object: written("v1alpha1", cycle), denied: "base → gateway → base"},
		{name: "a cycle in v1beta1", operation: "CREATE", object: written("v1beta1", beta), denied: "base → gateway → base"},
		{name: "a warning", operation: "CREATE", object: written("v1beta1", missing), warning: `"missing"`},
		{
			name: "an update closes the cycle", operation: "UPDATE", object: written("v1alpha1", cycle),
			old: written("v1alpha1", ""), denied: "base → gateway",
		},
		{name: "an update of something else", operation: "UPDATE", object: written("v1beta1", beta), old: written("v1beta1", cycle)},
		{
			name: "a range that is none", operation: "CREATE", object: written(
				"v1beta1", `,"spec":{"dependencies":[{"name":"base2","version":">= four"}]}`,
			),
			denied: `spec.dependencies[0].version: Invalid value: ">= four"`,
		},
		{
			name: "a requirement that is none", operation: "CREATE", object: written("v1alpha1", `,"spec":{"requirements":{"kubernetes":"latest"}}`),
			denied: `spec.requirements.kubernetes: Invalid value: "latest"`,
		},
		{
			name: "an update adds an expression that is none", operation: "UPDATE", old: written("v1alpha1", missing),
			object: written("v1alpha1", `,"spec":{"dependencies":[{"name":"missing","when":{"expression":"clsuter.name == ''"}}]}`),
			denied: "undeclared reference to 'clsuter'",
		},
		{
			name: "an API that is none", operation: "CREATE", object: written("v1alpha1", `,"spec":{"provides":[{"kind":""}]}`),
			denied: "spec.provides[0].kind",
		},
		{name: "a deletion", operation: "DELETE", old: written("v1alpha1", cycle)},
		{name: "no object", operation: "CREATE", warning: "not checked"},
		{name: "no old object", operation: "UPDATE", object: written("v1alpha1", cycle), warning: "not checked"},
		{name: "not readable", operation: "CREATE", object: written("v1", `,"spec":{"dependencies":{}}`), warning: "not checked"},
		{
			name: "the cache fails", operation: "CREATE", object: written("v1alpha1", cycle), fails: errors.New("not synced"),
			warning: "not synced",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			validator := NewValidator(hub(t, test.fails), nil)
			got := validator.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				Name: "gateway", Operation: test.operation,
				Object: runtime.RawExtension{Raw: test.object}, OldObject: runtime.RawExtension{Raw: test.old},
			}})
			if got.Allowed != (test.denied == "") || !strings.Contains(got.Result.Message, test.denied) {
				t.Errorf("allowed %t, %q", got.Allowed, got.Result.Message)
			}
			if !got.Allowed && got.Result.Code != http.StatusForbidden {
				t.Errorf("code %d", got.Result.Code)
			}
			if warnings := strings.Join(got.Warnings, "\n"); !strings.Contains(warnings, test.warning) || (test.warning == "") != (warnings == "") {
				t.Errorf("warnings %q, want %q", warnings, test.warning)
			}
		})
	}
}
