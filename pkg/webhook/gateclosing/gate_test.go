package gateclosing

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// imagined is a fleet with fixed inputs.
type imagined struct {
	declared          declaration.Declaration
	verdict           evaluation.Verdict
	unknown           bool
	registered, fails error
	// contradicts is the message of a contradiction if OCM creates the add-on. reviewed is the error of that review.
	contradicts string
	reviewed    error
	// requested is the cluster of the add-on whose verdicts were requested.
	requested string
	// template is the AddOnTemplate that does not exist.
	template string
}

func (f *imagined) Registered(context.Context, string) (declaration.Declaration, error) {
	return f.declared, f.registered
}

func (f *imagined) Created(_ context.Context, addOn *addonv1alpha1.ManagedClusterAddOn) (gate.Creation, error) {
	f.requested = addOn.Namespace
	edge := &addonv1alpha1.AddonDependency{Name: "base", Type: addonv1alpha1.DependencyTypeRequired}
	findings := []evaluation.Finding{{Dependency: edge, Verdict: f.verdict}}
	return gate.Creation{Findings: findings, Missing: f.template, Evaluated: !f.unknown}, f.fails
}

func (f *imagined) Contradicts(_ context.Context, _ *addonv1alpha1.ManagedClusterAddOn, user authenticationv1.UserInfo) (string, error) {
	if user.Username != ocm {
		return "", nil
	}
	return f.contradicts, f.reviewed
}

// ocm is the user that creates add-ons by Placements.
const ocm = "system:serviceaccount:open-cluster-management-hub:addon-manager-controller-sa"

// lifecycle is a Lifecycle with an error. Without one, a leader runs with --lifecycle.
type lifecycle struct{ err error }

func (l lifecycle) Require(context.Context) error { return l.err }

func TestCloser(t *testing.T) {
	ordered := declaration.Declaration{Ordering: addonv1alpha1.OrderingInstall}
	missing := imagined{declared: ordered, verdict: evaluation.NotInstalled}
	const key = "/metadata/annotations/dependency.addon.open-cluster-management.io~1gate"
	closes := []jsonpatch.Operation{{
		Operation: "add", Path: "/metadata/annotations", Value: map[string]string{addonv1alpha1.GateAnnotation: "closed"},
	}}
	broken := errors.New("the hub is busy")
	for name, test := range map[string]struct {
		object string
		fleet  imagined
		patch  []jsonpatch.Operation
		warns  string
	}{
		"Unsatisfied": {
			`{"metadata":{"name":"gateway"}}`, missing, closes, "add-on 'gateway' is not installed on cluster1 yet: Required addon 'base'",
		},
		"WithAnnotations": {
			`{"metadata":{"name":"gateway","annotations":{"a":"b"}}}`, missing,
			[]jsonpatch.Operation{{Operation: "add", Path: key, Value: "closed"}},
			"not installed on cluster1 yet",
		},
		"NullAnnotations": {`{"metadata":{"name":"gateway","annotations":null}}`, missing, closes, "yet"},
		"OpenedByUser": {
			`{"metadata":{"name":"gateway","annotations":{"dependency.addon.open-cluster-management.io/gate":"open"}}}`, missing, nil, "",
		},
		"ClosedByUser": {
			`{"metadata":{"name":"gateway","annotations":{"dependency.addon.open-cluster-management.io/gate":"closed"}}}`, missing, nil, "",
		},
		"WithFinalizer": {`{"metadata":{"name":"gateway","finalizers":["example.com/x"]}}`, missing, nil, ""},
		"Agent":         {`{"metadata":{"name":"interlock-agent"}}`, missing, nil, ""},
		"Satisfied":     {`{"metadata":{"name":"gateway"}}`, imagined{declared: ordered, verdict: evaluation.Satisfied}, nil, ""},
		"Held":          {`{"metadata":{"name":"gateway"}}`, imagined{declared: ordered, verdict: evaluation.Held}, nil, ""},
		"NoTemplate": {
			`{"metadata":{"name":"gateway"}}`,
			imagined{declared: ordered, verdict: evaluation.Satisfied, template: "v2"},
			closes,
			"yet: AddOnTemplate 'v2' does not exist. Create it",
		},
		"NotKnown": {
			`{"metadata":{"name":"gateway"}}`, imagined{declared: ordered, verdict: evaluation.NotInstalled, unknown: true}, nil, "",
		},
		"NotOrdered": {`{"metadata":{"name":"gateway"}}`, imagined{verdict: evaluation.NotInstalled}, nil, ""},
		"Invalid": {
			`{"metadata":{"name":"gateway"}}`,
			imagined{declared: declaration.Declaration{Invalid: true, Ordering: addonv1alpha1.OrderingInstall}, verdict: evaluation.NotInstalled},
			nil, "",
		},
		"CatalogFails": {
			`{"metadata":{"name":"gateway"}}`, imagined{registered: broken}, nil, "does not wait for its dependencies: the hub is busy",
		},
		"ReadFails": {
			`{"metadata":{"name":"gateway"}}`,
			imagined{declared: ordered, fails: broken},
			nil,
			"does not wait for its dependencies: the hub is busy",
		},
		"NoObject": {`[]`, missing, nil, "does not wait"},
	} {
		t.Run(name, func(t *testing.T) {
			request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				Namespace: "cluster1", Name: "gateway", Operation: admissionv1.Create, Object: runtime.RawExtension{Raw: []byte(test.object)},
			}}
			response := (&Closer{Fleet: &test.fleet, Lifecycle: lifecycle{}}).Handle(t.Context(), request)
			if !response.Allowed {
				t.Fatalf("denied: %v", response.Result)
			}
			if diff := cmp.Diff(test.patch, response.Patches); diff != "" {
				t.Error(diff)
			}
			if warned := strings.Join(response.Warnings, "\n"); !strings.Contains(warned, test.warns) || test.warns == "" && warned != "" {
				t.Errorf("warnings %q", warned)
			}
			if undecided := strings.Contains(test.warns, "does not wait"); undecided != (response.AuditAnnotations[UndecidedAudit] != "") {
				t.Errorf("audit annotations %v", response.AuditAnnotations)
			}
			if test.patch != nil && test.fleet.requested != "cluster1" {
				t.Errorf("verdicts of %q", test.fleet.requested)
			}
		})
	}
}

// TestCloserDoesNotRepeatPlans creates add-ons by kubectl addon. Its plan shows the dependencies that an add-on waits for.
func TestCloserDoesNotRepeatPlans(t *testing.T) {
	ordered := declaration.Declaration{Ordering: addonv1alpha1.OrderingInstall}
	missing := imagined{declared: ordered, verdict: evaluation.NotInstalled}
	noTemplate := imagined{declared: ordered, verdict: evaluation.Satisfied, template: "v2"}
	for name, test := range map[string]struct {
		options string
		fleet   imagined
		warns   bool
	}{
		"Plugin":           {`{"fieldManager":"kubectl-addon"}`, missing, false},
		"PluginDry":        {`{"fieldManager":"kubectl-addon","dryRun":["All"]}`, missing, false},
		"Kubectl":          {`{"fieldManager":"kubectl-client-side-apply"}`, missing, true},
		"WithoutOptions":   {"", missing, true},
		"PluginNoTemplate": {`{"fieldManager":"kubectl-addon"}`, noTemplate, true},
	} {
		request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
			Namespace: "cluster1", Name: "gateway", Operation: admissionv1.Create,
			Object:  runtime.RawExtension{Raw: []byte(`{"metadata":{"name":"gateway"}}`)},
			Options: runtime.RawExtension{Raw: []byte(test.options)},
		}}
		response := (&Closer{Fleet: &test.fleet, Lifecycle: lifecycle{}}).Handle(t.Context(), request)
		if len(response.Patches) == 0 || len(response.Warnings) > 0 != test.warns {
			t.Errorf("%s: patches %v, warnings %q", name, response.Patches, response.Warnings)
		}
	}
}

// requireCount counts the calls of Require. No leader runs with --lifecycle.
type requireCount int

func (c *requireCount) Require(context.Context) error {
	*c++
	return errors.New("none leads")
}

// TestCloserOfContradictions creates add-ons that contradict others. A request of OCM is never refused, so the installation waits where
// protection is enforced, also if the add-on declares no order.
func TestCloserOfContradictions(t *testing.T) {
	const contradiction = "add-on 'gateway' on cluster cluster1 contradicts what it needs"
	closed := map[string]string{
		addonv1alpha1.GateAnnotation: "closed", addonv1alpha1.GateCauseAnnotation: addonv1alpha1.GateCauseContradiction,
	}
	for name, test := range map[string]struct {
		object, user string
		fleet        imagined
		want         any // of the first patch
		warns        string
	}{
		"ByOCM": {
			`{"metadata":{"name":"gateway"}}`, ocm,
			imagined{contradicts: contradiction},
			closed,
			"add-on 'gateway' is not installed on cluster1 yet: " + contradiction,
		},
		"WithAnnotations": {
			`{"metadata":{"name":"gateway","annotations":{"a":"b"}}}`, ocm, imagined{contradicts: contradiction}, "closed", contradiction,
		},
		"ByAnotherUser": {`{"metadata":{"name":"gateway"}}`, "alice", imagined{contradicts: contradiction}, nil, ""},
		"OpenedByItsCreator": {
			`{"metadata":{"name":"gateway","annotations":{"dependency.addon.open-cluster-management.io/gate":"open"}}}`, ocm,
			imagined{contradicts: contradiction},
			nil, "",
		},
		"ReviewFails": {
			`{"metadata":{"name":"gateway"}}`, ocm, imagined{reviewed: errors.New("the hub is busy")}, nil, "the hub is busy",
		},
	} {
		t.Run(name, func(t *testing.T) {
			response := (&Closer{Fleet: &test.fleet, Lifecycle: lifecycle{}}).Handle(t.Context(), admission.Request{
				AdmissionRequest: admissionv1.AdmissionRequest{
					Namespace: "cluster1", Name: "gateway", Operation: admissionv1.Create, UserInfo: authenticationv1.UserInfo{Username: test.user},
					Object: runtime.RawExtension{Raw: []byte(test.object)},
				},
			})
			var got any
			if len(response.Patches) > 0 {
				got = response.Patches[0].Value
			}
			if diff := cmp.Diff(test.want, got); !response.Allowed || diff != "" {
				t.Errorf("allowed: %t, %s", response.Allowed, diff)
			}
			if warned := strings.Join(response.Warnings, "\n"); !strings.Contains(warned, test.warns) || test.warns == "" && warned != "" {
				t.Errorf("warnings %q", warned)
			}
		})
	}
}

func TestNoGateIsClosedWithoutALeader(t *testing.T) {
	ordered := declaration.Declaration{Ordering: addonv1alpha1.OrderingInstall}
	for name, test := range map[string]struct {
		fleet imagined
		calls requireCount
	}{
		"Unsatisfied": {imagined{declared: ordered, verdict: evaluation.NotInstalled}, 1},
		"Satisfied":   {imagined{declared: ordered, verdict: evaluation.Satisfied}, 0},
		"NotOrdered":  {imagined{verdict: evaluation.NotInstalled}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var calls requireCount
			request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				Namespace: "cluster1", Name: "gateway", Operation: admissionv1.Create,
				Object: runtime.RawExtension{Raw: []byte(`{"metadata":{"name":"gateway"}}`)},
			}}
			response := (&Closer{Fleet: &test.fleet, Lifecycle: &calls}).Handle(t.Context(), request)
			if !response.Allowed || len(response.Patches) > 0 || calls != test.calls {
				t.Errorf("allowed: %t, patches %v, asked %d times", response.Allowed, response.Patches, calls)
			}
			warned := strings.Join(response.Warnings, "\n")
			if warns := strings.Contains(warned, "does not wait for its dependencies: none leads"); warns != (test.calls > 0) {
				t.Errorf("warnings %q", warned)
			}
		})
	}
}

// FuzzCloser checks that no object makes Closer deny a request or panic, and that its patches fit the object.
func FuzzCloser(f *testing.F) {
	for _, seed := range []string{
		`{"metadata":{"annotations":{}}}`, `{"metadata":{"annotations":null,"name":"x"}}`, `{"metadata":7}`, `null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, object []byte) {
		declared := declaration.Declaration{Ordering: addonv1alpha1.OrderingInstall}
		closer := &Closer{Fleet: &imagined{declared: declared, verdict: evaluation.NotInstalled}, Lifecycle: lifecycle{}}
		request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Object: runtime.RawExtension{Raw: object}}}
		response := closer.Handle(t.Context(), request)
		if !response.Allowed {
			t.Fatalf("denied: %v", response.Result)
		}
		if len(response.Patches) == 0 {
			return
		}
		var written struct {
			Metadata struct{ Annotations *map[string]any }
		}
		if err := json.Unmarshal(object, &written); err != nil {
			t.Fatal(err)
		}
		if whole := response.Patches[0].Path == "/metadata/annotations"; whole != (written.Metadata.Annotations == nil) {
			t.Errorf("%v for %s", response.Patches, object)
		}
	})
}
