package protector

import (
	"cmp"
	"context"
	"errors"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/gate"
	"open-cluster-management.io/interlock/pkg/kube/leadership"
	"open-cluster-management.io/interlock/test/fixture"
)

// withRoot returns three clusters that also have root, in version 1.0.
func withRoot(registered ...client.Object) []client.Object {
	objects := threeClusters(append(registered, ptr.To(fixture.Registration("root")))...)
	for _, cluster := range []string{"c1", "c2", "c3"} {
		objects = append(objects, versioned(installedOn(cluster, addOn("root")), "1.0"))
	}
	return objects
}

// TestReviewOfEditedTemplates edits an AddOnTemplate in place, or creates it after a registration named it. OCM rolls it out at once.
func TestReviewOfEditedTemplates(t *testing.T) {
	v1 := func(version, declares string) *addonv1alpha1.AddOnTemplate {
		return template("base", "v1", version, declares)
	}
	labeled := v1("", "[]")
	labeled.Annotations = nil
	labeled.Labels = map[string]string{addonv1alpha1.TemplateVersionLabel: "2.0"}
	reasoned := v1("2.0", "[]")
	reasoned.Annotations[addonv1alpha1.ForceAnnotation] = "moving"
	const (
		breaks = "AddOnTemplate 'v1' of add-on 'base' would break 1 add-on on 3 clusters: leaf requires base in version '< 2.0' (c1, c2 and " +
			"1 more)"
		own = "AddOnTemplate 'v1' of add-on 'base' would break 1 add-on on 3 clusters: base conflicts with root (c1, c2 and 1 more)"
	)
	for name, test := range map[string]struct {
		old, updated   *addonv1alpha1.AddOnTemplate
		registered     *addonv1alpha1.ClusterManagementAddOn
		mode           dependencyv1alpha1.Protection
		fails          failing
		refuses, warns string
	}{
		"AnotherVersion":        {old: v1("1.0", "[]"), updated: v1("2.0", "[]"), refuses: breaks + changeAdvice},
		"AnotherVersionByLabel": {old: v1("1.0", "[]"), updated: labeled, refuses: breaks + changeAdvice},
		"AnotherDeclaration": {
			old: v1("1.0", "[]"), updated: v1("1.0", "[{name: root, type: Conflicts}]"), refuses: own + changeAdvice,
		},
		"Created":           {updated: v1("2.0", "[]"), refuses: breaks + changeAdvice},
		"CreatedInOrder":    {updated: v1("1.0", "[]")},
		"NothingElse":       {old: v1("1.0", "[]"), updated: v1("1.0", "[]"), fails: failing{list: "registrations"}},
		"ThatFits":          {old: v1("1.0", "[]"), updated: v1("1.1", "[]")},
		"BothAreWrong":      {old: v1("2.0", "[]"), updated: v1("3.0", "[]")},
		"OfAnotherTemplate": {old: v1("1.0", "[]"), updated: v1("2.0", "[]"), registered: registeredWith("v2")},
		"OfAPlacement": {old: v1("1.0", "[]"), updated: v1("2.0", "[]"), registered: registeredWith("v2", "all=v1"), refuses: breaks +
			changeAdvice},
		"Unusable":    {old: v1("1.0", "[]"), updated: v1("2.0", "[{")},
		"WithAReason": {old: v1("1.0", "[]"), updated: reasoned, warns: breaks + ". It is changed nevertheless: moving"},
		"Warned":      {old: v1("1.0", "[]"), updated: v1("2.0", "[]"), mode: dependencyv1alpha1.ProtectionWarn, warns: breaks},
		"RegistrationsFail": {
			old: v1("1.0", "[]"), updated: v1("2.0", "[]"), fails: failing{list: "registrations"},
			warns: "whether add-ons contradict AddOnTemplate 'v1' was not checked: list registered add-ons: the hub is busy",
		},
	} {
		t.Run(name, func(t *testing.T) {
			leaf := fixture.Specified(t, "leaf", `dependencies: [{name: base, version: "< 2.0"}]`)
			if test.registered == nil {
				test.registered = registeredWith("v1")
			}
			objects := append(withRoot(test.registered, &leaf), template("base", "v2", "1.0", "[]"))
			request := admissionv1.AdmissionRequest{
				Operation: admissionv1.Create, Name: "v1", Resource: metav1.GroupVersionResource{Resource: "addontemplates"},
			}
			request.Object.Raw = raw(t, test.updated)
			if test.old != nil {
				request.Operation, request.OldObject.Raw = admissionv1.Update, raw(t, test.old)
				objects = append(objects, test.old)
			}
			mode := cmp.Or(test.mode, dependencyv1alpha1.ProtectionEnforce)
			response, _ := handleRequest(t, mode, test.fails, request, "v1", objects...)
			expect(t, response, test.refuses, test.warns)
		})
	}
}

// led is a lifecycle with an error. Without one, an addon-manager leads with --lifecycle.
type led struct{ err error }

func (l led) Require(context.Context) error { return l.err }

// TestNeedsOfATemplateThatWaits changes the AddOnTemplate with ordering: InstallAndUpgrade. Its own requirements are not refused, because
// waiting satisfies them. If it breaks a dependent, it is refused.
func TestNeedsOfATemplateThatWaits(t *testing.T) {
	declares := func(template string) *addonv1alpha1.ClusterManagementAddOn {
		registered := registeredWith(template)
		registered.Spec.Ordering = addonv1alpha1.OrderingInstallAndUpgrade
		return registered
	}
	const (
		waits = "the change of add-on 'base' waits on 3 clusters, because of ordering: InstallAndUpgrade, until that is satisfied: " +
			"base requires root in version '>= 2.0' (c1, c2 and 1 more)"
		needs      = "the change of add-on 'base' would break 1 add-on on 3 clusters: base requires root in version '>= 2.0' (c1, c2 and 1 more)"
		breaksLeaf = "the change of add-on 'base' would break 1 add-on on 3 clusters: leaf requires base in version '< 2.0' (c1, c2 and 1 more)"
	)
	for name, test := range map[string]struct {
		lifecycle      lifecycle
		unmarked       bool
		leaf           string
		refuses, warns string
	}{
		"Waits":            {lifecycle: led{}, leaf: "{}", warns: waits},
		"BreaksADependent": {lifecycle: led{}, leaf: `dependencies: [{name: base, version: "< 2.0"}]`, refuses: breaksLeaf + changeAdvice},
		"NoLeader":         {lifecycle: led{leadership.ErrNoLifecycle}, leaf: "{}", refuses: needs + changeAdvice},
		"LifecycleIsOff":   {leaf: "{}", refuses: needs + changeAdvice},
		"NotMarkedYet":     {lifecycle: led{}, unmarked: true, leaf: "{}", refuses: needs + changeAdvice},
		"LeaseCannotBeRead": {
			lifecycle: led{errors.New("the hub is busy")}, leaf: "{}",
			warns: "whether add-on 'base' contradicts others was not checked: the hub is busy",
		},
	} {
		t.Run(name, func(t *testing.T) {
			leaf := fixture.Specified(t, "leaf", test.leaf)
			objects := append(withRoot(declares("v1"), &leaf), template("base", "v1", "1.0", "[]"),
				template("base", "v2", "2.0", `[{name: root, version: ">= 2.0"}]`))
			for _, object := range objects {
				if addOn, ok := object.(*addonv1alpha1.ManagedClusterAddOn); ok && addOn.Name == "base" && !test.unmarked {
					addOn.Status.Conditions = append(addOn.Status.Conditions, metav1.Condition{
						Type:   gate.ConditionUpgradable,
						Status: metav1.ConditionTrue,
					})
				}
			}
			v := creationsOn(t, failing{}, objects...)
			v.mode, v.lifecycle = dependencyv1alpha1.ProtectionEnforce, test.lifecycle
			request := admissionv1.AdmissionRequest{Operation: admissionv1.Update, Name: "base"}
			request.OldObject.Raw, request.Object.Raw = raw(t, declares("v1")), raw(t, declares("v2"))
			registrations := &RegistrationValidator{&fleetReviewer{v.responder, v.reviewer}}
			expect(t, registrations.Handle(t.Context(), admission.Request{AdmissionRequest: request}), test.refuses, test.warns)
		})
	}
}
