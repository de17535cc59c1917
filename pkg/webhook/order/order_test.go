package order

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/kube/leadership"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/webhook/gateclosing"
)

var now = time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC)

// closer is a response of the gate.
type closer admission.Response

func (g closer) Handle(context.Context, admission.Request) admission.Response {
	return admission.Response(g)
}

// dependents are the add-ons that are removed before gateway.
type dependents struct {
	names []string
	fails error
}

func (b dependents) GoBefore(_ context.Context, addOn string) ([]string, error) {
	if addOn != "gateway" {
		return nil, b.fails
	}
	return b.names, b.fails
}

// leaseOf returns the lease of a holder with --lifecycle that renewed it a while ago.
func leaseOf(holder string, ago time.Duration) *coordinationv1.Lease {
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "interlock-system", Name: names.AddonManager, Annotations: map[string]string{names.LifecycleLeader: holder},
		},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, RenewTime: &metav1.MicroTime{Time: now.Add(-ago)}, LeaseDurationSeconds: ptr.To[int32](15),
		},
	}
}

// preparer returns a Preparer on a hub that may have a lease, and may fail.
func preparer(t *testing.T, fleet Fleet, response admission.Response, lease *coordinationv1.Lease, fails error) *Preparer {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := coordinationv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if fails != nil {
				return fails
			}
			return c.Get(ctx, key, object, options...)
		},
	})
	if lease != nil {
		builder.WithObjects(lease)
	}
	return &Preparer{Gate: closer(response), Fleet: fleet, Lifecycle: leadership.Lifecycle{
		Live: builder.Build(), Lease: client.ObjectKey{Namespace: "interlock-system", Name: names.AddonManager},
		Clock: clocktesting.NewFakePassiveClock(now),
	}}
}

func TestPreparer(t *testing.T) {
	led, oneDependent, busy := leaseOf("pod-1", time.Second), dependents{names: []string{"portal"}}, errors.New("the hub is busy")
	closed := jsonpatch.NewOperation("add", "/metadata/annotations", map[string]string{addonv1alpha1.GateAnnotation: "closed"})
	first := jsonpatch.NewOperation("add", "/metadata/finalizers", []string{addonv1alpha1.WaitForDependentsFinalizer})
	appended := jsonpatch.NewOperation("add", "/metadata/finalizers/-", addonv1alpha1.WaitForDependentsFinalizer)
	noLifecycle := leaseOf("pod-1", time.Second)
	noLifecycle.Annotations = map[string]string{names.LifecycleLeader: "pod-0"}
	const gateway = `{"metadata":{"name":"gateway"}}`
	for name, test := range map[string]struct {
		object string
		gate   admission.Response
		fleet  dependents
		lease  *coordinationv1.Lease
		fails  error
		want   []jsonpatch.Operation
		// undecided is the error in the audit log.
		undecided string
	}{
		"OthersDependOnIt": {gateway, admission.Allowed(""), oneDependent, led, nil, []jsonpatch.Operation{first}, ""},
		"AndItIsGated":     {gateway, admission.Patched("", closed), oneDependent, led, nil, []jsonpatch.Operation{closed, first}, ""},
		"WithFinalizers": {
			`{"metadata":{"name":"gateway","finalizers":["a/b"]}}`, admission.Allowed(""), oneDependent, led, nil,
			[]jsonpatch.Operation{appended},
			"",
		},
		"WithThisFinalizer": {
			`{"metadata":{"name":"gateway","finalizers":["` + addonv1alpha1.WaitForDependentsFinalizer + `"]}}`,
			admission.Allowed(""), oneDependent, led, nil, nil, "",
		},
		"NoneDependsOnIt": {gateway, admission.Allowed(""), dependents{}, led, nil, nil, ""},
		"Agent":           {`{"metadata":{"name":"interlock-agent"}}`, admission.Allowed(""), oneDependent, led, nil, nil, ""},
		"NoLeader": {
			gateway, admission.Patched("", closed), oneDependent, nil, nil,
			[]jsonpatch.Operation{closed},
			"no addon-manager leads that runs with --lifecycle",
		},
		"WithoutLifecycle": {
			gateway, admission.Allowed(""), oneDependent, noLifecycle, nil, nil,
			"no addon-manager leads that runs with --lifecycle",
		},
		"TheLeaderDied": {
			gateway, admission.Allowed(""), oneDependent, leaseOf("pod-1", time.Minute), nil, nil,
			"no addon-manager leads that runs with --lifecycle",
		},
		"Uninstalling": {
			gateway, admission.Allowed(""), oneDependent, leaseOf(leadership.Uninstalling, time.Second), nil, nil,
			"no addon-manager leads that runs with --lifecycle",
		},
		"LeaseCannotBeRead": {
			gateway, admission.Allowed(""), oneDependent, led, busy, nil,
			"read the lease of addon-manager: the hub is busy",
		},
		"CatalogCannotBe": {gateway, admission.Allowed(""), dependents{fails: busy}, led, nil, nil, "the hub is busy"},
		"ObjectCannotBeRead": {
			`[]`, admission.Allowed(""), oneDependent, led, nil, nil,
			"json: cannot unmarshal array into Go value of type v1.PartialObjectMetadata",
		},
	} {
		t.Run(name, func(t *testing.T) {
			request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Object: runtime.RawExtension{Raw: []byte(test.object)}}}
			response := preparer(t, test.fleet, test.gate, test.lease, test.fails).Handle(t.Context(), request)
			if diff := cmp.Diff(test.want, response.Patches); !response.Allowed || diff != "" {
				t.Errorf("allowed %t: %s", response.Allowed, diff)
			}
			if undecided := response.AuditAnnotations[gateclosing.UndecidedAudit]; undecided != test.undecided {
				t.Errorf("the audit log has %q", undecided)
			}
		})
	}
	denied := preparer(t, oneDependent, admission.Denied("no"), led, nil).Handle(t.Context(), admission.Request{})
	if denied.Allowed || len(denied.Patches) > 0 {
		t.Errorf("%+v", denied)
	}
}

// FuzzPreparer checks that no object makes Preparer deny a request or panic, and that its patch fits the object.
func FuzzPreparer(f *testing.F) {
	for _, seed := range []string{
		`{"metadata":{"name":"gateway","finalizers":[]}}`, `{"metadata":{"name":"gateway","finalizers":null}}`, `{"metadata":7}`, `null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, object []byte) {
		request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Object: runtime.RawExtension{Raw: object}}}
		portal := dependents{names: []string{"portal"}}
		response := preparer(t, portal, admission.Allowed(""), leaseOf("pod-1", 0), nil).Handle(t.Context(), request)
		if !response.Allowed {
			t.Fatalf("denied: %v", response.Result)
		}
		if len(response.Patches) == 0 {
			return
		}
		var written struct {
			Metadata struct{ Finalizers *[]any }
		}
		if err := json.Unmarshal(object, &written); err != nil {
			t.Fatal(err)
		}
		if whole := response.Patches[0].Path == "/metadata/finalizers"; whole != (written.Metadata.Finalizers == nil) {
			t.Errorf("%v for %s", response.Patches, object)
		}
	})
}
