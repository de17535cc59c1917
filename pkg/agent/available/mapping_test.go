package available

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/availability"
)

func TestRelevantChanges(t *testing.T) {
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
		"reported elsewhere":   {want: true, change: func(a *addonv1alpha1.ManagedClusterAddOn) { a.Status.Namespace = "there" }},
		"another health check": {want: true, change: func(a *addonv1alpha1.ManagedClusterAddOn) { a.Status.HealthCheck.Mode = "Customized" }},
		"a condition":          {want: true, change: with("Degraded", "True", "DependencyNotSatisfied")},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			before := proxy(func(a *addonv1alpha1.ManagedClusterAddOn) {
				a.UID, a.ResourceVersion = "one", "1"
				a.Annotations = map[string]string{ocmv1alpha1.HostingClusterNameAnnotationKey: "mgmt"}
			})
			after := before.DeepCopy()
			tt.change(after)
			if got := relevant().Update(event.TypedUpdateEvent[*addonv1alpha1.ManagedClusterAddOn]{ObjectOld: before, ObjectNew: after}); got != tt.want {
				t.Errorf("wakes: %t, want %t", got, tt.want)
			}
		})
	}
}

func TestWaker(t *testing.T) {
	waker := NewWaker("cluster1")
	waker.Wake("too-early") // nobody to wake, and nothing breaks

	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer q.ShutDown()
	if err := waker.source().Start(t.Context(), q); err != nil {
		t.Fatal(err)
	}
	waker.Wake("proxy")
	woken, _ := q.Get()
	if woken.NamespacedName != key || q.Len() != 0 {
		t.Errorf("woke %s and %d more", woken, q.Len())
	}
}

func TestWorthAnEvent(t *testing.T) {
	before := &metav1.Condition{Status: "False", Reason: "One", Message: "words"}
	held := &metav1.Condition{Status: "False", Reason: availability.ReasonRequiredDependencyNotSatisfied}
	for name, tt := range map[string]struct {
		before *metav1.Condition
		after  metav1.Condition
		want   bool
	}{
		"the first":      {after: *before, want: true},
		"another status": {before: before, after: metav1.Condition{Status: "Unknown", Reason: "One"}, want: true},
		"well again":     {before: before, after: metav1.Condition{Status: "True", Reason: "One"}},
		"another reason": {before: before, after: metav1.Condition{Status: "False", Reason: "Two"}, want: true},
		"other words":    {before: before, after: metav1.Condition{Status: "False", Reason: "One", Message: "others"}},

		"held, as Degraded tells":     {before: before, after: *held},
		"held from the beginning":     {after: *held},
		"released, as Degraded tells": {before: held, after: metav1.Condition{Status: "True", Reason: "One"}},
		"dead when it is released":    {before: held, after: metav1.Condition{Status: "False", Reason: "One"}, want: true},
		"unknown when it is released": {before: held, after: metav1.Condition{Status: "Unknown", Reason: "One"}, want: true},
	} {
		if got := worthAnEvent(tt.before, tt.after); got != tt.want {
			t.Errorf("%s: %t, want %t", name, got, tt.want)
		}
	}
}
