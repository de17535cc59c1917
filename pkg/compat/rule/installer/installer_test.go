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
	"open-cluster-management.io/interlock/pkg/compat/rule"
)

var (
	policy   = map[string]bool{rule.KindPolicy: true, rule.KindBinding: true}
	webhook  = map[string]bool{rule.KindWebhook: true}
	allKinds = map[string]bool{rule.KindPolicy: true, rule.KindBinding: true, rule.KindWebhook: true}
	nothing  = map[string]bool{}
)

func TestFormThatIsInForce(t *testing.T) {
	served := []client.Object{deployed("authority"), anAddOn()}
	for _, test := range []struct {
		name     string
		mode     Mode
		policies string
		actsOn   []string
		objects  []client.Object
		kinds    map[string]bool
		form     Form
		recheck  time.Duration
	}{
		{
			name: "auto: a policy that the API server acts on is enough", mode: ModeAuto, policies: "v1",
			actsOn: []string{rule.KindPolicy, rule.KindWebhook}, objects: served, kinds: policy, form: FormPolicy,
			recheck: recheckInForce,
		},
		{
			name: "auto: a policy that is served only", mode: ModeAuto, policies: "v1beta1", actsOn: []string{rule.KindWebhook},
			objects: served, kinds: allKinds, form: FormWebhook, recheck: recheckInForce,
		},
		{
			name: "auto: no policies", mode: ModeAuto, actsOn: []string{rule.KindWebhook}, objects: served, kinds: webhook,
			form: FormWebhook, recheck: recheckInForce,
		},
		{
			name: "auto: no policies, a webhook that does not respond", mode: ModeAuto, objects: served, kinds: webhook,
			form: FormNone, recheck: recheckNone,
		},
		{name: "auto: neither", mode: ModeAuto, objects: []client.Object{anAddOn()}, kinds: nothing, form: FormNone, recheck: recheckNone},
		{
			name: "auto: policies served only, no webhook", mode: ModeAuto, policies: "v1beta1",
			objects: []client.Object{anAddOn()}, kinds: policy, form: FormNone, recheck: recheckNone,
		},
		{
			name: "auto: a webhook that has not run yet", mode: ModeAuto, objects: []client.Object{deployed(""), anAddOn()},
			kinds: nothing, form: FormNone, recheck: recheckNone,
		},
		{
			name: "auto: no add-on to find out with", mode: ModeAuto, policies: "v1", actsOn: []string{rule.KindPolicy},
			objects: []client.Object{deployed("authority")}, kinds: allKinds, form: FormUnproven, recheck: recheckNone,
		},
		{
			name: "policy", mode: ModePolicy, policies: "v1", actsOn: []string{rule.KindPolicy}, objects: served, kinds: policy,
			form: FormPolicy, recheck: recheckInForce,
		},
		{
			name: "policy: served only", mode: ModePolicy, policies: "v1", actsOn: []string{rule.KindWebhook}, objects: served,
			kinds: policy, form: FormNone, recheck: recheckNone,
		},
		{
			name: "policy: not served", mode: ModePolicy, actsOn: []string{rule.KindWebhook}, objects: served, kinds: nothing,
			form: FormNone, recheck: recheckNone,
		},
		{
			name: "webhook", mode: ModeWebhook, policies: "v1", actsOn: []string{rule.KindPolicy, rule.KindWebhook},
			objects: served, kinds: webhook, form: FormWebhook, recheck: recheckInForce,
		},
		{
			name: "webhook: not deployed", mode: ModeWebhook, policies: "v1", actsOn: []string{rule.KindPolicy},
			objects: []client.Object{anAddOn()}, kinds: nothing, form: FormNone, recheck: recheckNone,
		},
		{name: "off", mode: ModeOff, policies: "v1", actsOn: []string{rule.KindPolicy, rule.KindWebhook}, objects: served, kinds: nothing},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newFakeHub(t, test.mode, test.objects...)
			h.policies = test.policies
			for _, kind := range test.actsOn {
				h.actsOn[kind] = true
			}
			if wait := h.settle(); wait != test.recheck {
				t.Errorf("probed again after %s, want %s", wait, test.recheck)
			}
			if diff := cmp.Diff(test.kinds, h.storedKinds()); diff != "" {
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
	h.actsOn[rule.KindWebhook] = true
	for _, step := range []struct {
		name, policies string
		acts           bool
		kinds          map[string]bool
		form           Form
	}{
		{name: "no policies", kinds: webhook, form: FormWebhook},
		{name: "upgraded: served", policies: "v1beta1", kinds: allKinds, form: FormWebhook},
		{name: "feature gate on", policies: "v1beta1", acts: true, kinds: policy, form: FormPolicy},
		{name: "upgraded: another version", policies: "v1", acts: true, kinds: policy, form: FormPolicy},
		{name: "rolled back", policies: "v1beta1", kinds: allKinds, form: FormWebhook},
		{name: "rolled back further", kinds: allKinds, form: FormWebhook}, // a policy that is not served is out of reach, and of force
	} {
		h.policies, h.actsOn[rule.KindPolicy] = step.policies, step.acts
		h.settle()
		if form := h.form(); form != string(step.form) || h.watched != step.policies || !cmp.Equal(step.kinds, h.storedKinds()) {
			t.Errorf("%s: %q in force, %v, policies of %q watched", step.name, form, h.storedKinds(), h.watched)
		}
	}
}

func TestAPolicyIsGivenTimeBeforeAWebhookTakesItsPlace(t *testing.T) {
	h := newFakeHub(t, ModeAuto, deployed("authority"), anAddOn())
	h.policies = "v1"
	for range 9 {
		if wait, err := h.reconcile(); err != nil || wait != recheckSettling || !cmp.Equal(policy, h.storedKinds()) {
			t.Fatalf("after %s, %v, %v", wait, err, h.storedKinds())
		}
		h.clock.Step(time.Second)
	}
	h.actsOn[rule.KindPolicy] = true
	if h.settle() != recheckInForce || !cmp.Equal(policy, h.storedKinds()) || h.form() != "policy" {
		t.Errorf("%v", h.storedKinds())
	}
}

func TestTheWebhookFollowsItsCA(t *testing.T) {
	h := newFakeHub(t, ModeWebhook, deployed("first"), anAddOn())
	h.actsOn[rule.KindWebhook] = true
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
	h.actsOn[rule.KindWebhook] = true
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
	anything     = schema.GroupResource{Group: rule.Group, Resource: "anything"}
	errBroken    = errors.New("etcd is on fire")
	errForbidden = apierrors.NewForbidden(anything, guard.Name, errors.New("no rights"))
)

func TestFailures(t *testing.T) {
	for _, test := range []struct {
		name    string
		mode    Mode
		refused map[string]error
		fails   string // a part of the error, or empty if there is none
		kinds   map[string]bool
		form    Form
	}{
		{
			name: "the API server fails to store", mode: ModeAuto,
			refused: map[string]error{"apply MutatingAdmissionPolicy": errBroken},
			fails:   "apply MutatingAdmissionPolicy interlock-required-dependency: etcd", kinds: nothing,
		},
		{
			name: "the API went after it was discovered", mode: ModeAuto,
			refused: map[string]error{"apply MutatingAdmissionPolicy": apierrors.NewNotFound(anything, guard.Name)},
			fails:   "apply MutatingAdmissionPolicy", kinds: nothing,
		},
		{
			name: "another writer is first", mode: ModeAuto,
			refused: map[string]error{"apply MutatingAdmissionPolicy": apierrors.NewConflict(anything, guard.Name, errBroken)},
			fails:   "apply MutatingAdmissionPolicy", kinds: nothing,
		},
		{
			name: "policies are forbidden: the webhook", mode: ModeAuto,
			refused: map[string]error{"apply MutatingAdmissionPolicy": errForbidden}, kinds: webhook, form: FormWebhook,
		},
		{
			name: "all is forbidden", mode: ModeAuto,
			refused: map[string]error{"apply MutatingAdmissionPolicy": errForbidden, "apply MutatingWebhookConfiguration": errForbidden},
			kinds:   nothing, form: FormNone,
		},
		{
			name: "the place of the webhook is forbidden", mode: ModeWebhook,
			refused: map[string]error{"get ValidatingWebhookConfiguration": errForbidden}, kinds: nothing, form: FormNone,
		},
		{
			name: "the place of the webhook cannot be read", mode: ModeWebhook,
			refused: map[string]error{"get ValidatingWebhookConfiguration": errBroken},
			fails:   "find where webhooks are served: etcd", kinds: nothing,
		},
		{
			name: "off, and forbidden to look", mode: ModeOff,
			refused: map[string]error{"get MutatingAdmissionPolicyBinding": errForbidden}, kinds: nothing,
		},
		{
			name: "off, and the API server fails", mode: ModeOff,
			refused: map[string]error{"get MutatingAdmissionPolicyBinding": errBroken},
			fails:   "remove MutatingAdmissionPolicyBinding interlock-required-dependency: etcd", kinds: nothing,
		},
		{
			name: "OCM's CRD is missing", mode: ModePolicy,
			refused: map[string]error{"list": apierrors.NewNotFound(anything, "")}, kinds: policy, form: FormUnproven,
		},
		{
			name: "another webhook allows no dry run", mode: ModePolicy,
			refused: map[string]error{"probe": apierrors.NewBadRequest("admission webhook does not support dry run")},
			kinds:   policy, form: FormUnproven,
		},
		{
			name: "the add-on of the probe went", mode: ModePolicy,
			refused: map[string]error{"probe": apierrors.NewNotFound(anything, "leaf")}, kinds: policy, form: FormUnproven,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newFakeHub(t, test.mode, deployed("authority"), anAddOn())
			h.policies, h.actsOn[rule.KindWebhook], h.refusals = "v1", true, test.refused
			if test.fails == "" {
				h.settle()
			} else if _, err := h.reconcile(); err == nil || !strings.Contains(err.Error(), test.fails) {
				t.Errorf("error %v, want %s", err, test.fails)
			}
			if form := h.form(); form != string(test.form) || !cmp.Equal(test.kinds, h.storedKinds()) {
				t.Errorf("%q in force, %v", form, h.storedKinds())
			}

			if test.mode == ModeOff {
				return
			}
			h.refusals = map[string]error{}
			h.actsOn[rule.KindPolicy] = true
			if h.settle() != recheckInForce {
				t.Errorf("it does not recover: %v", h.storedKinds())
			}
		})
	}
}

func TestAFormThatMayNotBeLookedForIsNotInTheWay(t *testing.T) {
	h := newFakeHub(t, ModeAuto, deployed("authority"), anAddOn())
	h.policies, h.actsOn[rule.KindPolicy] = "v1", true
	h.refusals["get "+rule.KindWebhook] = errForbidden
	if wait := h.settle(); wait != recheckInForce || h.form() != string(FormPolicy) {
		t.Errorf("after %s, %q in force", wait, h.form())
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
		{name: "auto, and nothing can be had", mode: ModeAuto, want: []string{
			"Nothing guards Available", "addon-agent corrects it", "the hub does not serve MutatingAdmissionPolicy",
			"there is no ValidatingWebhookConfiguration interlock-webhook",
		}},
		{
			name: "policy, and the API server does not act on it", mode: ModePolicy, served: true,
			want: []string{"Nothing guards Available", "the API server does not act on it"},
		},
		{name: "in force", mode: ModePolicy, served: true, acts: true, want: []string{"Guard is in force", `"form"="policy"`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newFakeHub(t, test.mode, anAddOn())
			h.actsOn[rule.KindPolicy] = test.acts
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
	h.policies, h.actsOn[rule.KindPolicy] = "v1", true
	h.settle()
	h.writes, h.discovery = nil, errBroken
	if _, err := h.reconcile(); !errors.Is(err, errBroken) || len(h.writes) > 0 {
		t.Errorf("error %v, wrote %v", err, h.writes)
	}
	if err := Remove(t.Context(), &guard.Rule, h.client, h); !errors.Is(err, errBroken) || !cmp.Equal(policy, h.storedKinds()) {
		t.Errorf("error %v, %v", err, h.storedKinds())
	}
}
