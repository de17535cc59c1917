package available

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/event"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
)

func TestInputChanged(t *testing.T) {
	tests := map[string]struct {
		change func(*addonv1alpha1.ManagedClusterAddOn)
		want   bool
	}{
		"a write about something else": {change: func(a *addonv1alpha1.ManagedClusterAddOn) { a.ResourceVersion = "2" }},
		"replaced":                     {want: true, change: func(a *addonv1alpha1.ManagedClusterAddOn) { a.UID = "other" }},
		"no longer hosted":             {want: true, change: func(a *addonv1alpha1.ManagedClusterAddOn) { a.Annotations = nil }},
		"installed elsewhere": {want: true, change: func(a *addonv1alpha1.ManagedClusterAddOn) {
			a.Spec.InstallNamespace = "there" //nolint:staticcheck // deprecated, and still where OCM installs an add-on
		}},
		"reported elsewhere": {want: true, change: func(a *addonv1alpha1.ManagedClusterAddOn) { a.Status.Namespace = "there" }},
		"another health check": {
			want:   true,
			change: func(a *addonv1alpha1.ManagedClusterAddOn) { a.Status.HealthCheck.Mode = "Customized" },
		},
		"a condition": {want: true, change: withCondition("Degraded", "True", "DependencyNotSatisfied")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			stored := proxy(func(a *addonv1alpha1.ManagedClusterAddOn) {
				a.UID, a.ResourceVersion = "one", "1"
				a.Annotations = map[string]string{ocmv1alpha1.HostingClusterNameAnnotationKey: "mgmt"}
			})
			changed := stored.DeepCopy()
			tt.change(changed)
			if got := inputChanged().
				Update(event.TypedUpdateEvent[*addonv1alpha1.ManagedClusterAddOn]{ObjectOld: stored, ObjectNew: changed}); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}

func TestNeedsEvent(t *testing.T) {
	unavailable := &metav1.Condition{Status: "False", Reason: "One", Message: "message"}
	blocked := &metav1.Condition{Status: "False", Reason: availability.ReasonRequiredDependencyNotSatisfied}
	for name, tt := range map[string]struct {
		stored  *metav1.Condition
		desired metav1.Condition
		want    bool
	}{
		"the first":       {desired: *unavailable, want: true},
		"another status":  {stored: unavailable, desired: metav1.Condition{Status: "Unknown", Reason: "One"}, want: true},
		"available again": {stored: unavailable, desired: metav1.Condition{Status: "True", Reason: "One"}},
		"another reason":  {stored: unavailable, desired: metav1.Condition{Status: "False", Reason: "Two"}, want: true},
		"another message": {stored: unavailable, desired: metav1.Condition{Status: "False", Reason: "One", Message: "others"}},

		"blocked, which follows from Degraded":           {stored: unavailable, desired: *blocked},
		"blocked from the beginning":                     {desired: *blocked},
		"no longer blocked, which follows from Degraded": {stored: blocked, desired: metav1.Condition{Status: "True", Reason: "One"}},
		"not available when no longer blocked": {
			stored: blocked, desired: metav1.Condition{Status: "False", Reason: "One"}, want: true,
		},
		"awaited when no longer blocked": {
			stored:  blocked,
			desired: metav1.Condition{Status: "False", Reason: availability.ReasonAwaitingHealthCheck},
		},
		"awaited for too long": {
			stored:  &metav1.Condition{Status: "False", Reason: availability.ReasonAwaitingHealthCheck},
			desired: metav1.Condition{Status: "Unknown", Reason: availability.ReasonAwaitingHealthCheck}, want: true,
		},
		"unknown when no longer blocked": {stored: blocked, desired: metav1.Condition{Status: "Unknown", Reason: "One"}, want: true},
	} {
		if got := needsEvent(tt.stored, tt.desired); got != tt.want {
			t.Errorf("%s: %t, want %t", name, got, tt.want)
		}
	}
}
