package installer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/compat/guard"
	"open-cluster-management.io/interlock/pkg/compat/rule"
)

func TestRemove(t *testing.T) {
	h := newFakeHub(t, ModeAuto, deployed("authority"), anAddOn())
	h.policies, h.actsOn[rule.KindWebhook] = "v1beta1", true
	h.settle()
	if !cmp.Equal(allKinds, h.storedKinds()) {
		t.Fatalf("%v", h.storedKinds())
	}
	h.writes = nil
	for range 2 { // the second call has nothing to remove
		if err := Remove(t.Context(), &guard.Rule, h.client, h); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"delete " + rule.KindBinding, "delete " + rule.KindPolicy, "delete " + rule.KindWebhook}
	if diff := cmp.Diff(want, h.writes); diff != "" {
		t.Error(diff)
	}
	if !cmp.Equal(nothing, h.storedKinds()) {
		t.Errorf("%v", h.storedKinds())
	}
}

func TestRemoveLeavesWhatIsNotOurs(t *testing.T) {
	foreign := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: guard.Name}}
	h := newFakeHub(t, ModeOff, foreign)
	if err := Remove(t.Context(), &guard.Rule, h.client, h); err != nil || !cmp.Equal(webhook, h.storedKinds()) {
		t.Errorf("%v, %v", err, h.storedKinds())
	}
}

func TestRemoveSaysWhatItCouldNot(t *testing.T) {
	for name, refused := range map[string]error{
		"forbidden": apierrors.NewForbidden(anything, guard.Name, errBroken),
		"replaced":  apierrors.NewConflict(anything, guard.Name, errBroken),
		"failed":    errBroken,
	} {
		t.Run(name, func(t *testing.T) {
			h := newFakeHub(t, ModeWebhook, deployed("authority"), anAddOn())
			h.actsOn[rule.KindWebhook] = true
			h.settle()
			h.refusals["delete "+rule.KindWebhook] = refused
			err := Remove(t.Context(), &guard.Rule, h.client, h)
			if err == nil || !strings.Contains(err.Error(), "remove MutatingWebhookConfiguration interlock-required-dependency") {
				t.Errorf("error %v", err)
			}
		})
	}
	t.Run("gone meanwhile", func(t *testing.T) {
		h := newFakeHub(t, ModeWebhook, deployed("authority"), anAddOn())
		h.actsOn[rule.KindWebhook] = true
		h.settle()
		h.refusals["delete "+rule.KindWebhook] = apierrors.NewNotFound(anything, guard.Name)
		if err := Remove(t.Context(), &guard.Rule, h.client, h); err != nil {
			t.Error(err)
		}
	})
}
