package installer

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/compat/guard"
)

var (
	policy  = map[string]bool{guard.KindPolicy: true, guard.KindBinding: true}
	webhook = map[string]bool{guard.KindWebhook: true}
	both    = map[string]bool{guard.KindPolicy: true, guard.KindBinding: true, guard.KindWebhook: true}
	nothing = map[string]bool{}
)

func TestFormThatIsInForce(t *testing.T) {
	served := []client.Object{deployed("authority"), anAddOn()}
	for _, test := range []struct {
		name     string
		mode     Mode
		policies string
		actsOn   []string
		objects  []client.Object
		there    map[string]bool
		form     Form
		recheck  time.Duration
	}{
		{"auto: a policy that the API server acts on is enough", ModeAuto, "v1", []string{guard.KindPolicy, guard.KindWebhook}, served, policy, FormPolicy, recheckInForce},
		{"auto: a policy that is served only", ModeAuto, "v1beta1", []string{guard.KindWebhook}, served, both, FormWebhook, recheckInForce},
		{"auto: no policies", ModeAuto, "", []string{guard.KindWebhook}, served, webhook, FormWebhook, recheckInForce},
		{"auto: no policies, a webhook that does not respond", ModeAuto, "", nil, served, webhook, FormNone, recheckNone},
		{"auto: neither", ModeAuto, "", nil, []client.Object{anAddOn()}, nothing, FormNone, recheckNone},
		{"auto: policies served only, no webhook", ModeAuto, "v1beta1", nil, []client.Object{anAddOn()}, policy, FormNone, recheckNone},
		{"auto: a webhook that has not run yet", ModeAuto, "", nil, []client.Object{deployed(""), anAddOn()}, nothing, FormNone, recheckNone},
		{"auto: no add-on to find out with", ModeAuto, "v1", []string{guard.KindPolicy}, []client.Object{deployed("authority")}, both, FormUnproven, recheckNone},
		{"policy", ModePolicy, "v1", []string{guard.KindPolicy}, served, policy, FormPolicy, recheckInForce},
		{"policy: served only", ModePolicy, "v1", []string{guard.KindWebhook}, served, policy, FormNone, recheckNone},
		{"policy: not served", ModePolicy, "", []string{guard.KindWebhook}, served, nothing, FormNone, recheckNone},
		{"webhook", ModeWebhook, "v1", []string{guard.KindPolicy, guard.KindWebhook}, served, webhook, FormWebhook, recheckInForce},
		{"webhook: not deployed", ModeWebhook, "v1", []string{guard.KindPolicy}, []client.Object{anAddOn()}, nothing, FormNone, recheckNone},
		{"off", ModeOff, "v1", []string{guard.KindPolicy, guard.KindWebhook}, served, nothing, "", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newFakeHub(t, test.mode, test.objects...)
			h.policies = test.policies
			for _, kind := range test.actsOn {
				h.actsOn[kind] = true
			}
			if after := h.settle(); after != test.recheck {
				t.Errorf("probed again after %s, want %s", after, test.recheck)
			}
			if diff := cmp.Diff(test.there, h.there()); diff != "" {
				t.Error(diff)
			}
			if form := h.form(); form != string(test.form) {
				t.Errorf("in force: %q, want %q", form, test.form)
			}
		})
	}
}

func TestAutoFollowsTheAPIServer(t *testing.T) {
	h := newFakeHub(t, ModeAuto, deployed("authority"), anAddOn())
	h.actsOn[guard.KindWebhook] = true
	for _, step := range []struct {
		name, policies string
		acts           bool
		there          map[string]bool
		form           Form
	}{
		{"no policies", "", false, webhook, FormWebhook},
		{"upgraded: served", "v1beta1", false, both, FormWebhook},
		{"feature gate on", "v1beta1", true, policy, FormPolicy},
		{"upgraded: another version", "v1", true, policy, FormPolicy},
		{"rolled back", "v1beta1", false, both, FormWebhook},
		{"rolled back further", "", false, both, FormWebhook}, // a policy that is not served is out of reach, and of force
	} {
		h.policies, h.actsOn[guard.KindPolicy] = step.policies, step.acts
		h.settle()
		if form := h.form(); form != string(step.form) || h.watched != step.policies || !cmp.Equal(step.there, h.there()) {
			t.Errorf("%s: %q in force, %v, policies of %q watched", step.name, form, h.there(), h.watched)
		}
	}
}

func TestAPolicyIsGivenTimeBeforeAWebhookTakesItsPlace(t *testing.T) {
	h := newFakeHub(t, ModeAuto, deployed("authority"), anAddOn())
	h.policies = "v1"
	for range 9 {
		if after, err := h.reconcile(); err != nil || after != recheckSettling || !cmp.Equal(policy, h.there()) {
			t.Fatalf("after %s, %v, %v", after, err, h.there())
		}
		h.clock.Step(time.Second)
	}
	h.actsOn[guard.KindPolicy] = true
	if h.settle() != recheckInForce || !cmp.Equal(policy, h.there()) || h.form() != "policy" {
		t.Errorf("%v", h.there())
	}
}

func TestTheWebhookFollowsItsCA(t *testing.T) {
	h := newFakeHub(t, ModeWebhook, deployed("first"), anAddOn())
	h.actsOn[guard.KindWebhook] = true
	h.settle()
	configuration := deployed("second")
	stored := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := h.client.Get(t.Context(), client.ObjectKeyFromObject(configuration), stored); err != nil {
		t.Fatal(err)
	}
	stored.Webhooks = configuration.Webhooks
	if err := h.client.Update(t.Context(), stored); err != nil {
		t.Fatal(err)
	}
	h.settle()
	var installed admissionregistrationv1.MutatingWebhookConfiguration
	if err := h.client.Get(t.Context(), client.ObjectKey{Name: guard.Name}, &installed); err != nil {
		t.Fatal(err)
	}
	want := configuration.Webhooks[0].ClientConfig
	want.Service.Path = ptr.To(guard.Path)
	if diff := cmp.Diff(want, installed.Webhooks[0].ClientConfig); diff != "" {
		t.Error(diff)
	}
}

func TestAnotherReconcileAppliesAndRemovesNothingNew(t *testing.T) {
	h := newFakeHub(t, ModeAuto, deployed("authority"), anAddOn())
	h.actsOn[guard.KindWebhook] = true
	h.settle()
	logged, probes := h.installer.reported, h.probes
	h.writes = nil
	h.settle()
	if len(h.writes) > 0 {
		t.Errorf("wrote %q", h.writes)
	}
	if h.installer.reported != logged || h.probes != probes+1 {
		t.Errorf("reported %v, %d probes", h.installer.reported, h.probes)
	}
}

var (
	anything     = schema.GroupResource{Group: guard.Group, Resource: "anything"}
	errBroken    = errors.New("etcd is on fire")
	errForbidden = apierrors.NewForbidden(anything, guard.Name, errors.New("no rights"))
)

func TestFailures(t *testing.T) {
	for _, test := range []struct {
		name    string
		mode    Mode
		refused map[string]error
		fails   string // what the error has to say; nothing if it is no error
		there   map[string]bool
		form    Form
	}{
		{"the API server fails to store", ModeAuto, map[string]error{"apply MutatingAdmissionPolicy": errBroken}, "apply MutatingAdmissionPolicy interlock-required-dependency: etcd", nothing, ""},
		{"the API went after it was discovered", ModeAuto, map[string]error{"apply MutatingAdmissionPolicy": apierrors.NewNotFound(anything, guard.Name)}, "apply MutatingAdmissionPolicy", nothing, ""},
		{"another writer is first", ModeAuto, map[string]error{"apply MutatingAdmissionPolicy": apierrors.NewConflict(anything, guard.Name, errBroken)}, "apply MutatingAdmissionPolicy", nothing, ""},
		{"policies are forbidden: the webhook", ModeAuto, map[string]error{"apply MutatingAdmissionPolicy": errForbidden}, "", webhook, FormWebhook},
		{"all is forbidden", ModeAuto, map[string]error{"apply MutatingAdmissionPolicy": errForbidden, "apply MutatingWebhookConfiguration": errForbidden}, "", nothing, FormNone},
		{"the place of the webhook is forbidden", ModeWebhook, map[string]error{"get ValidatingWebhookConfiguration": errForbidden}, "", nothing, FormNone},
		{"the place of the webhook cannot be read", ModeWebhook, map[string]error{"get ValidatingWebhookConfiguration": errBroken}, "find where webhooks are served: etcd", nothing, ""},
		{"off, and forbidden to look", ModeOff, map[string]error{"get MutatingAdmissionPolicyBinding": errForbidden}, "", nothing, ""},
		{"off, and the API server fails", ModeOff, map[string]error{"get MutatingAdmissionPolicyBinding": errBroken}, "remove MutatingAdmissionPolicyBinding interlock-required-dependency: etcd", nothing, ""},
		{"OCM's CRD is missing", ModePolicy, map[string]error{"list": apierrors.NewNotFound(anything, "")}, "", policy, FormUnproven},
		{"another webhook allows no dry run", ModePolicy, map[string]error{"probe": apierrors.NewBadRequest("admission webhook does not support dry run")}, "", policy, FormUnproven},
		{"the add-on of the probe went", ModePolicy, map[string]error{"probe": apierrors.NewNotFound(anything, "leaf")}, "", policy, FormUnproven},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newFakeHub(t, test.mode, deployed("authority"), anAddOn())
			h.policies, h.actsOn[guard.KindWebhook], h.refusals = "v1", true, test.refused
			if test.fails == "" {
				h.settle()
			} else if _, err := h.reconcile(); err == nil || !strings.Contains(err.Error(), test.fails) {
				t.Errorf("error %v, want %s", err, test.fails)
			}
			if form := h.form(); form != string(test.form) || !cmp.Equal(test.there, h.there()) {
				t.Errorf("%q in force, %v", form, h.there())
			}

			if test.mode == ModeOff {
				return
			}
			h.refusals = map[string]error{}
			h.actsOn[guard.KindPolicy] = true
			if h.settle() != recheckInForce {
				t.Errorf("it does not recover: %v", h.there())
			}
		})
	}
}

func TestAFormThatMayNotBeLookedForIsNotInTheWay(t *testing.T) {
	h := newFakeHub(t, ModeAuto, deployed("authority"), anAddOn())
	h.policies, h.actsOn[guard.KindPolicy] = "v1", true
	h.refusals["get "+guard.KindWebhook] = errForbidden
	if after := h.settle(); after != recheckInForce || h.form() != string(FormPolicy) {
		t.Errorf("after %s, %q in force", after, h.form())
	}
}

func TestWhatIsLogged(t *testing.T) {
	for _, test := range []struct {
		name   string
		mode   Mode
		served bool
		acts   bool
		want   []string
	}{
		{"auto, and nothing can be had", ModeAuto, false, false, []string{
			"Nothing guards Available", "addon-agent corrects it", "the hub does not serve MutatingAdmissionPolicy",
			"there is no ValidatingWebhookConfiguration interlock-webhook",
		}},
		{"policy, and the API server does not act on it", ModePolicy, true, false, []string{"Nothing guards Available", "the API server does not act on it"}},
		{"in force", ModePolicy, true, true, []string{"Guard is in force", `"form"="policy"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newFakeHub(t, test.mode, anAddOn())
			h.actsOn[guard.KindPolicy] = test.acts
			if test.served {
				h.policies = "v1"
			}
			var logged []string
			h.logger = funcr.New(func(_, line string) { logged = append(logged, line) }, funcr.Options{})
			h.settle()
			h.settle()
			count := 0
			for _, line := range logged {
				if strings.Contains(line, test.want[0]) {
					count++
					for _, want := range test.want {
						if !strings.Contains(line, want) {
							t.Errorf("%q does not say %q", line, want)
						}
					}
				}
			}
			if count != 1 {
				t.Errorf("logged %d times: %q", count, logged)
			}
		})
	}
}

func TestDiscoveryThatFailsChangesNothing(t *testing.T) {
	h := newFakeHub(t, ModeAuto, deployed("authority"), anAddOn())
	h.policies, h.actsOn[guard.KindPolicy] = "v1", true
	h.settle()
	h.writes, h.discovery = nil, errBroken
	if _, err := h.reconcile(); !errors.Is(err, errBroken) || len(h.writes) > 0 {
		t.Errorf("error %v, wrote %v", err, h.writes)
	}
	if err := Remove(t.Context(), h.client, h); !errors.Is(err, errBroken) || !cmp.Equal(policy, h.there()) {
		t.Errorf("error %v, %v", err, h.there())
	}
}
