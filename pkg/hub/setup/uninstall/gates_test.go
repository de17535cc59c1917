package uninstall

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/fixture"
)

func withGate(name, gate string, conditions ...string) *addonv1alpha1.ManagedClusterAddOn {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: name}}
	addOn.Annotations = map[string]string{"kept": "yes"}
	if gate != "" {
		addOn.Annotations[addonv1alpha1.GateAnnotation] = gate
	}
	for _, condition := range conditions {
		kind, reason, _ := strings.Cut(condition, " ")
		addOn.Status.Conditions = append(addOn.Status.Conditions, metav1.Condition{Type: kind, Status: "False", Reason: reason})
		if kind == "Upgradable" {
			*addOn = fixture.Holds("v2", *addOn)
		}
	}
	return addOn
}

// withRelated adds a related object that is not ours.
func withRelated(addOn *addonv1alpha1.ManagedClusterAddOn) *addonv1alpha1.ManagedClusterAddOn {
	theirs := ocmv1alpha1.ObjectReference{Group: "apps", Resource: "deployments", Name: "a"}
	addOn.Status.RelatedObjects = append(addOn.Status.RelatedObjects, theirs)
	return addOn
}

// listApplied lists add-ons, one of them with the managed fields of the condition Installable that addon-manager applied.
func listApplied(name string) func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
	return func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
		err := c.List(ctx, list, options...)
		if page, ok := list.(*unstructured.UnstructuredList); ok {
			for i := range page.Items {
				if page.Items[i].GetName() == name {
					page.Items[i].SetManagedFields([]metav1.ManagedFieldsEntry{{
						Manager: names.AddonManager, Operation: metav1.ManagedFieldsOperationApply, Subresource: "status",
						FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:status":{"f:conditions":{"k:{\"type\":\"Installable\"}":{".":{}}}}}`)},
					}})
				}
			}
		}
		return err
	}
}

func TestGatesAreRemoved(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := addonv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var broken error
	hub := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&addonv1alpha1.ManagedClusterAddOn{}).WithObjects(
		withGate("closed", "closed", "Installable WaitingForDependencies", "Other Mine"), withGate("open", "open", "Installable GateOpened"),
		withGate("of-its-author", "", "Installable WaitingForDependencies"),
		withGate("of-another", "closed", "Installable TheirOwn"), withGate("none", ""),
		withGate(
			"held-back",
			"",
			"Upgradable WaitingForDependencies",
			"Other Mine",
		), withRelated(withGate("of-an-operator", "", "Upgradable NothingWaits")),
		withGate("both", "open", "Installable GateOpened", "Upgradable NothingWaits"),
		withGate("its-annotation-removed", "", "Installable GateOpened"),
	).
		WithInterceptorFuncs(interceptor.Funcs{
			List: listApplied("its-annotation-removed"),
			Patch: func(ctx context.Context, c client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
				if broken != nil {
					return broken
				}
				return c.Patch(ctx, object, patch, options...)
			},
		}).Build()
	u := &uninstallation{hub: hub, options: Options{Out: &bytes.Buffer{}}}
	broken = errors.New("away")
	if _, err := u.removeGates(t.Context()); err == nil || !strings.Contains(err.Error(), "ManagedClusterAddOn cluster1/") {
		t.Errorf("error %v", err)
	}
	broken = nil
	summary, err := u.removeGates(t.Context())
	if err != nil || summary != "4 opened and removed, none is left on any of 9 ManagedClusterAddOns" {
		t.Errorf("%q, %v", summary, err)
	}
	var list addonv1alpha1.ManagedClusterAddOnList
	if err := hub.List(t.Context(), &list); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, addOn := range list.Items {
		if diff := cmp.Diff(map[string]string{"kept": "yes"}, addOn.Annotations); diff != "" {
			t.Errorf("%s: %s", addOn.Name, diff)
		}
		if related := addOn.Status.RelatedObjects; slices.ContainsFunc(related, gate.IsRelated) ||
			(addOn.Name == "of-an-operator") != (len(related) == 1) {
			t.Errorf("%s: related objects %+v", addOn.Name, related)
		}
		for _, condition := range addOn.Status.Conditions {
			got[addOn.Name] += condition.Type + " " + condition.Reason
		}
	}
	want := map[string]string{
		"closed":        "Other Mine",
		"held-back":     "Other Mine",
		"of-its-author": "Installable WaitingForDependencies",
		"of-another":    "Installable TheirOwn",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
