package webhookca

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"open-cluster-management.io/interlock/pkg/names"
)

const namespace = "interlock-system"

// hub is a fake API server that counts writes.
type hub struct {
	client.Client
	recorder   *events.FakeRecorder
	reconciler *Reconciler
	writes     []string // kinds
	refusals   map[string]error
}

func newHub(objects ...client.Object) *hub {
	h := &hub{recorder: events.NewFakeRecorder(10), refusals: map[string]error{}}
	h.Client = fake.NewClientBuilder().WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			kind := object.GetObjectKind().GroupVersionKind().Kind
			h.writes = append(h.writes, kind)
			if err := h.refusals[kind]; err != nil {
				return err
			}
			return c.Update(ctx, object, options...)
		},
	}).Build()
	h.reconciler = &Reconciler{Client: h.Client, Recorder: h.recorder, Namespace: namespace}
	return h
}

func publishing(text string) *corev1.ConfigMap {
	published := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: names.WebhookCA}}
	if text != "" {
		published.Data = map[string]string{"ca.crt": text}
	}
	return published
}

func validating(name, bundle string) *admissionregistrationv1.ValidatingWebhookConfiguration {
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{
			{ClientConfig: admissionregistrationv1.WebhookClientConfig{CABundle: []byte(bundle)}},
		},
	}
}

func mutating(bundle string) *admissionregistrationv1.MutatingWebhookConfiguration {
	return &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "interlock-webhook"},
		Webhooks: []admissionregistrationv1.MutatingWebhook{
			{ClientConfig: admissionregistrationv1.WebhookClientConfig{CABundle: []byte(bundle)}},
		},
	}
}

// trusts returns the CAs that the API server trusts: in the validating configuration, the mutating
// configuration, and the configuration of another component.
func (h *hub) trusts(t *testing.T) []string {
	t.Helper()
	first, second, third := validating("interlock-webhook", ""), mutating(""), validating("another", "")
	for _, object := range []client.Object{first, second, third} {
		if err := client.IgnoreNotFound(h.Get(t.Context(), client.ObjectKeyFromObject(object), object)); err != nil {
			t.Fatal(err)
		}
	}
	return []string{
		string(first.Webhooks[0].ClientConfig.CABundle), string(second.Webhooks[0].ClientConfig.CABundle),
		string(third.Webhooks[0].ClientConfig.CABundle),
	}
}

func TestTheCAIsInjected(t *testing.T) {
	ours, _ := pair(t, "ours")
	kinds := []string{"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"}
	conflict := apierrors.NewConflict(schema.GroupResource{}, "interlock-webhook", errors.New("changed"))
	for _, test := range []struct {
		name      string
		published string
		old       string
		refusal   error // of the write of the validating configuration
		want      []string
		writes    []string
		fails     bool
	}{
		{name: "at first", published: ours, want: []string{ours, ours}, writes: kinds},
		{name: "after a renewal", published: ours, old: "former", want: []string{ours, ours}, writes: kinds},
		{name: "nothing differs", published: ours, old: ours, want: []string{ours, ours}},
		{name: "nothing is published", old: "by hand", want: []string{"by hand", "by hand"}},
		{name: "no CA is published", published: "x", old: "former", want: []string{"former", "former"}},
		{name: "another writer was first", published: ours, refusal: conflict, want: []string{"", ours}, writes: kinds},
		{name: "one is refused", published: ours, refusal: errors.New("forbidden"), want: []string{"", ours}, writes: kinds, fails: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newHub(publishing(test.published),
				validating("interlock-webhook", test.old), mutating(test.old), validating("another", "others"))
			h.refusals[kinds[0]] = test.refusal
			_, err := h.reconciler.Reconcile(t.Context(), reconcile.Request{})
			if (err != nil) != test.fails || !slices.Equal(h.writes, test.writes) {
				t.Errorf("error %v after the writes %v", err, h.writes)
			}
			if got := h.trusts(t); !slices.Equal(got, append(test.want, "others")) {
				t.Errorf("trusted: %q", got)
			}
		})
	}
}

func TestNothingIsInjectedWhereNothingIsDeployed(t *testing.T) {
	ours, _ := pair(t, "ours")
	for name, h := range map[string]*hub{"no ConfigMap": newHub(mutating("")), "no configurations": newHub(publishing(ours))} {
		if _, err := h.reconciler.Reconcile(t.Context(), reconcile.Request{}); err != nil || len(h.writes) > 0 {
			t.Errorf("%s: error %v, writes %v", name, err, h.writes)
		}
	}
}

func TestARefusedCAIsReportedOnce(t *testing.T) {
	h := newHub(publishing("\x1b[31mx"), mutating("former"))
	for range 2 {
		if _, err := h.reconciler.Reconcile(t.Context(), reconcile.Request{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Update(t.Context(), publishing("y")); err != nil {
		t.Fatal(err)
	}
	if _, err := h.reconciler.Reconcile(t.Context(), reconcile.Request{}); err != nil {
		t.Fatal(err)
	}
	close(h.recorder.Events)
	var emitted []string
	const about = "ConfigMap interlock-system/interlock-webhook-ca, key ca.crt"
	for event := range h.recorder.Events {
		emitted = append(emitted, event)
		if !strings.Contains(event, "Warning "+EventRefused) || !strings.Contains(event, about) {
			t.Errorf("event %q", event)
		}
	}
	if len(emitted) != 2 {
		t.Errorf("%d events, want one for each content: %q", len(emitted), emitted)
	}
}

func TestTheFurtherConfigurationOfTheLifecycleIsTrusted(t *testing.T) {
	ours, _ := pair(t, "ours")
	for _, lifecycle := range []bool{true, false} {
		further := mutating("")
		further.Name = LifecycleName
		h := newHub(publishing(ours), validating("interlock-webhook", ours), mutating(ours), further)
		h.reconciler.Lifecycle = lifecycle
		if _, err := h.reconciler.Reconcile(t.Context(), reconcile.Request{}); err != nil {
			t.Fatal(err)
		}
		if err := h.Get(t.Context(), client.ObjectKeyFromObject(further), further); err != nil {
			t.Fatal(err)
		}
		if trusted := string(further.Webhooks[0].ClientConfig.CABundle) == ours; trusted != lifecycle {
			t.Errorf("with the lifecycle %t: trusted %t", lifecycle, trusted)
		}
	}
}
