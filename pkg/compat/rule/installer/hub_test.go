package installer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/compat/endpoint"
	"open-cluster-management.io/interlock/pkg/compat/guard"
	"open-cluster-management.io/interlock/pkg/compat/rule"
)

// fakeHub is an API server. The test sets the kinds that it serves and acts on, and the requests that it refuses.
type fakeHub struct {
	discovery.ServerResourcesInterface
	t         *testing.T
	registry  *prometheus.Registry
	client    client.WithWatch
	installer *Installer
	clock     *clocktesting.FakeClock
	logger    logr.Logger

	policies string // the served version of policies, or empty
	// actsOn has the kinds that it acts on when they are installed.
	actsOn map[string]bool
	// refusals has errors by verb and kind, such as "apply MutatingAdmissionPolicy".
	refusals  map[string]error
	discovery error
	// writes has the writes that it received, without dry runs.
	writes  []string
	probes  int
	watched string // the version in which policies are watched
	stored  map[string]storedObject
}

type storedObject struct{ content, resourceVersion string }

func newFakeHub(t *testing.T, mode Mode, objects ...client.Object) *fakeHub {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), addonv1alpha1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	h := &fakeHub{
		t:        t,
		logger:   logr.Discard(),
		registry: prometheus.NewRegistry(),
		clock:    clocktesting.NewFakeClock(time.Unix(1e9, 0)),
		actsOn:   map[string]bool{},
		refusals: map[string]error{},
		stored:   map[string]storedObject{},
	}
	h.client = fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithStatusSubresource(&addonv1alpha1.ManagedClusterAddOn{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Apply: h.apply, Delete: h.delete, Get: h.get, List: h.list, SubResourcePatch: h.dryRun,
		}).Build()
	h.installer = &Installer{
		Rule: &guard.Rule, Mode: mode, Client: h.client, Live: h.client, Discovery: h,
		Clock: h.clock, Metrics: NewMetrics(h.registry),
		applied: map[string]applied{},
		watch: func(version string) error {
			h.watched = version
			return nil
		},
	}
	return h
}

func (h *fakeHub) ServerResourcesForGroupVersion(groupVersion string) (*metav1.APIResourceList, error) {
	if h.discovery != nil {
		return nil, h.discovery
	}
	if h.policies == "" || groupVersion != rule.Group+"/"+h.policies {
		return nil, apierrors.NewNotFound(schema.GroupResource{}, groupVersion)
	}
	return &metav1.APIResourceList{APIResources: []metav1.APIResource{{Kind: rule.KindBinding}, {Kind: rule.KindPolicy}}}, nil
}

func (h *fakeHub) apply(ctx context.Context, c client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
	var applied unstructured.Unstructured
	content, err := json.Marshal(object)
	if err == nil {
		err = json.Unmarshal(content, &applied.Object)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	if err := h.refusals["apply "+applied.GetKind()]; err != nil {
		return err
	}
	// Unlike the fake client, an API server does not store an unchanged object again.
	if stored, ok := h.stored[applied.GetKind()]; ok && stored.content == string(content) && h.storedKinds()[applied.GetKind()] {
		object.(metav1.Object).SetResourceVersion(stored.resourceVersion)
		return nil
	}
	h.writes = append(h.writes, "apply "+applied.GetKind())
	err = c.Apply(ctx, object, options...)
	h.stored[applied.GetKind()] = storedObject{string(content), object.(metav1.Object).GetResourceVersion()}
	return err
}

func (h *fakeHub) delete(ctx context.Context, c client.WithWatch, object client.Object, options ...client.DeleteOption) error {
	kind := object.GetObjectKind().GroupVersionKind().Kind
	if err := h.refusals["delete "+kind]; err != nil {
		return err
	}
	h.writes = append(h.writes, "delete "+kind)
	return c.Delete(ctx, object, options...)
}

func (h *fakeHub) get(
	ctx context.Context,
	c client.WithWatch,
	key client.ObjectKey,
	object client.Object,
	options ...client.GetOption,
) error {
	if err := h.refusals["get "+object.GetObjectKind().GroupVersionKind().Kind]; err != nil {
		return err
	}
	return c.Get(ctx, key, object, options...)
}

func (h *fakeHub) list(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
	if err := h.refusals["list"]; err != nil {
		return err
	}
	return c.List(ctx, list, options...)
}

// dryRun responds to the probe like an API server with the guard.
func (h *fakeHub) dryRun(
	_ context.Context, _ client.Client, _ string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption,
) error {
	var applied client.SubResourcePatchOptions
	applied.ApplyOptions(options)
	if len(applied.DryRun) != 1 || applied.DryRun[0] != metav1.DryRunAll {
		h.t.Error("the probe is written")
	}
	if err := h.refusals["probe"]; err != nil {
		return err
	}
	h.probes++
	content, err := patch.Data(object)
	if err != nil {
		h.t.Fatal(err)
	}
	var probe addonv1alpha1.ManagedClusterAddOn
	if err := json.Unmarshal(content, &probe); err != nil {
		h.t.Fatal(err)
	}
	kinds := map[string]string{string(rule.FormPolicy): rule.KindPolicy, string(rule.FormWebhook): rule.KindWebhook}
	kind := kinds[meta.FindStatusCondition(probe.Status.Conditions, rule.TypeProbe).Reason]
	addOn := object.(*addonv1alpha1.ManagedClusterAddOn)
	addOn.Status.Conditions = []metav1.Condition{{Type: guard.TypeAvailable, Status: metav1.ConditionTrue}}
	if h.actsOn[kind] && h.storedKinds()[kind] {
		addOn.Status.Conditions[0].Status = metav1.ConditionFalse
	}
	return nil
}

// storedKinds returns the kinds of the guard's objects that are stored.
func (h *fakeHub) storedKinds() map[string]bool {
	kinds := map[string]bool{}
	for _, kind := range []string{rule.KindPolicy, rule.KindBinding, rule.KindWebhook} {
		for _, version := range []string{"v1", "v1beta1"} {
			object := &unstructured.Unstructured{}
			object.SetGroupVersionKind(schema.GroupVersionKind{Group: rule.Group, Version: version, Kind: kind})
			refused := h.refusals["get "+kind]
			delete(h.refusals, "get "+kind)
			err := h.client.Get(context.Background(), client.ObjectKey{Name: guard.Name}, object)
			if refused != nil {
				h.refusals["get "+kind] = refused
			}
			if err == nil {
				kinds[kind] = true
			} else if !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
				h.t.Fatal(err)
			}
		}
	}
	return kinds
}

func (h *fakeHub) reconcile() (time.Duration, error) {
	result, err := h.installer.Reconcile(log.IntoContext(h.t.Context(), h.logger), reconcile.Request{})
	return result.RequeueAfter, err
}

// settle reconciles like the controller until the rule has settled.
func (h *fakeHub) settle() time.Duration {
	h.t.Helper()
	for range 30 {
		wait, err := h.reconcile()
		if err != nil {
			h.t.Fatal(err)
		}
		if wait != recheckSettling {
			return wait
		}
		h.clock.Step(wait)
	}
	h.t.Fatal("it does not settle")
	return 0
}

// form returns the form in the metric.
func (h *fakeHub) form() string {
	h.t.Helper()
	families, err := h.registry.Gather()
	if err != nil {
		h.t.Fatal(err)
	}
	var forms []string
	for _, family := range families {
		for _, series := range family.GetMetric() {
			forms = append(forms, fmt.Sprintf("%s%.0f", series.GetLabel()[0].GetValue(), series.GetGauge().GetValue()))
		}
	}
	return strings.TrimSuffix(strings.Join(forms, " "), "1")
}

func anAddOn() client.Object {
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "leaf"}}
}

// deployed returns the configuration that is installed together with addon-manager webhook.
func deployed(authority string) *admissionregistrationv1.ValidatingWebhookConfiguration {
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: endpoint.ConfigurationName},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "admission.example.com",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				CABundle: []byte(authority),
				Service: &admissionregistrationv1.ServiceReference{
					Namespace: "interlock-system", Name: "webhook", Path: ptr.To("/validate"), Port: ptr.To(int32(443)),
				},
			},
		}},
	}
}
