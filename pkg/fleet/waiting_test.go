package fleet

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/test/fixture"
)

// versionedTemplates has the versions of AddOnTemplates by their names.
type versionedTemplates struct {
	Reader
	addOns   map[string]*addonv1alpha1.ManagedClusterAddOn
	versions map[string]string
}

func (v versionedTemplates) AddOn(_ context.Context, key types.NamespacedName) (*addonv1alpha1.ManagedClusterAddOn, error) {
	return v.addOns[key.Name], nil
}

func (v versionedTemplates) TemplateVersion(_ context.Context, name string) (string, bool, error) {
	return v.versions[name], true, nil
}

func TestWaiting(t *testing.T) {
	const installation, upgrade = dependencyv1alpha1.WaitInstallation, dependencyv1alpha1.WaitUpgrade
	created, since := metav1.NewTime(fixture.Now.Add(-time.Hour)), fixture.Earlier
	waits := func(kind, message string) metav1.Condition {
		return metav1.Condition{
			Type: kind, Status: metav1.ConditionFalse, Reason: gate.ReasonWaiting, Message: message, LastTransitionTime: since,
		}
	}
	closed := func(conditions ...metav1.Condition) addonv1alpha1.ManagedClusterAddOn {
		addOn := addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "a", CreationTimestamp: created}}
		addOn.Annotations = map[string]string{addonv1alpha1.GateAnnotation: addonv1alpha1.GateClosed}
		addOn.Status.Conditions = conditions
		return fixture.Holds("v2", addOn)
	}
	open := func(conditions ...metav1.Condition) addonv1alpha1.ManagedClusterAddOn {
		addOn := closed(conditions...)
		addOn.Annotations = nil
		return addOn
	}
	begun := closed(metav1.Condition{Type: ocmv1alpha1.ManagedClusterAddOnRegistrationApplied})
	deleted := open(waits(gate.ConditionUpgradable, "x"))
	deleted.DeletionTimestamp = &created
	for name, test := range map[string]struct {
		addOn addonv1alpha1.ManagedClusterAddOn
		want  []Waiting
	}{
		"Nothing":           {open(), nil},
		"InstallationBegun": {begun, nil},
		"BeingDeleted":      {deleted, nil},
		"GateClosed":        {closed(waits(gate.ConditionInstallable, "x")), []Waiting{{AddOn: "a", Kind: installation, Since: since}}},
		"NotDecidedYet":     {closed(), []Waiting{{AddOn: "a", Kind: installation, Since: created}}},
		"InstallationByTemplate": {
			*WithRollout(ptr.To(closed(waits(gate.ConditionInstallable, "x"))), "v1"),
			[]Waiting{{AddOn: "a", Kind: installation, Since: since, Template: Template{"v1", "1.0.0"}}},
		},
		"Upgrade": {
			*WithTemplate(ptr.To(open(waits(gate.ConditionUpgradable, "x"))), "v1"),
			[]Waiting{{AddOn: "a", Kind: upgrade, Since: since, Running: Template{"v1", "1.0.0"}, Template: Template{"v2", ""}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			reader := versionedTemplates{
				addOns: map[string]*addonv1alpha1.ManagedClusterAddOn{"a": &test.addOn}, versions: map[string]string{"v1": "1.0.0"},
			}
			got, err := Loader{Reader: reader}.Waiting(t.Context(), "cluster1", []string{"b", "a"})
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}
