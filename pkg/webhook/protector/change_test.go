package protector

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/test/fixture"
)

// changeCase changes the registration of base. The clusters c1, c2 and c3 have base, leaf and root. Placement first selects c1, all
// selects the three, and new has no PlacementDecision yet.
type changeCase struct {
	name         string
	old, updated *addonv1alpha1.ClusterManagementAddOn
	leaf, root   string
	// objects are further objects on the hub. remove reports whether an object is left out.
	objects        []client.Object
	remove         func(client.Object) bool
	mode           dependencyv1alpha1.Protection
	user           string
	groups         []string
	fails          failing
	refuses, warns string
	emits          string
}

const changeAdvice = ". To change it nevertheless, give it the annotation dependency.addon.open-cluster-management.io/force: '<why>'"

func (c changeCase) run(t *testing.T) {
	t.Helper()
	objects := threeClusters(c.old, ptr.To(fixture.Specified(t, "leaf", c.leaf)), ptr.To(fixture.Specified(t, "root", c.root)))
	for _, cluster := range []string{"c1", "c2", "c3"} {
		root := versioned(addOn("root"), "1.0")
		root.Namespace = cluster
		objects = append(objects, root)
	}
	objects = append(objects, c.objects...)
	if c.remove != nil {
		objects = slices.DeleteFunc(objects, c.remove)
	}
	request := admissionv1.AdmissionRequest{
		Operation: admissionv1.Update, Resource: metav1.GroupVersionResource{Resource: "clustermanagementaddons"},
		UserInfo: authenticationv1.UserInfo{Username: c.user, Groups: c.groups},
	}
	request.OldObject.Raw, request.Object.Raw = raw(t, c.old), raw(t, c.updated)
	if c.mode == "" {
		c.mode = dependencyv1alpha1.ProtectionEnforce
	}
	response, emitted := handleRequest(t, c.mode, c.fails, request, "base", objects...)
	expect(t, response, c.refuses, c.warns)
	if got := strings.Join(emitted, "; "); got != c.emits {
		t.Errorf("emitted %q, want %q", got, c.emits)
	}
}

// installedOn moves an add-on to one of the three clusters.
func installedOn(cluster string, addOn *addonv1alpha1.ManagedClusterAddOn) *addonv1alpha1.ManagedClusterAddOn {
	addOn.Namespace = cluster
	return addOn
}

// factsOnC1 moves facts to the first of the three clusters.
func factsOnC1(facts *dependencyv1alpha1.ManagedClusterFacts) *dependencyv1alpha1.ManagedClusterFacts {
	facts.Namespace, facts.Name = "c1", "c1"
	return facts
}

func isAddOn(name, cluster string) func(client.Object) bool {
	return func(object client.Object) bool {
		_, installed := object.(*addonv1alpha1.ManagedClusterAddOn)
		return installed && object.GetName() == name && (cluster == "" || object.GetNamespace() == cluster)
	}
}

func TestReviewOfVersions(t *testing.T) {
	version := func(version string) *addonv1alpha1.ClusterManagementAddOn {
		return ptr.To(fixture.Versioned(fixture.Registration("base"), version))
	}
	former := func(version string) *addonv1alpha1.ClusterManagementAddOn {
		base := fixture.Registration("base")
		metav1.SetMetaDataAnnotation(&base.ObjectMeta, addonv1alpha1.FormerVersionAnnotation, version)
		return &base
	}
	forcedTo := func(value string) *addonv1alpha1.ClusterManagementAddOn {
		base := version(value)
		metav1.SetMetaDataAnnotation(&base.ObjectMeta, addonv1alpha1.ForceAnnotation, "moving")
		return base
	}
	const (
		needsOld = `dependencies: [{name: base, version: "< 2.0"}]`
		breaks   = "the change of add-on 'base' would break 1 add-on on 3 clusters: leaf requires base in version '< 2.0' (c1, c2 and 1 more)"
		on2and3  = "the change of add-on 'base' would break 1 add-on on 2 clusters: leaf requires base in version '< 2.0' (c2, c3)"
	)
	lost := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
	lost.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionUnknown}}
	pending := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
	c1 := func(object client.Object) bool {
		_, cluster := object.(*clusterv1.ManagedCluster)
		return cluster && object.GetName() == "c1" && object != lost && object != pending
	}
	waiting := installedOn("c1", addOn("leaf"))
	metav1.SetMetaDataAnnotation(&waiting.ObjectMeta, addonv1alpha1.GateAnnotation, addonv1alpha1.GateClosed)
	begun := waiting.DeepCopy()
	meta.SetStatusCondition(&begun.Status.Conditions, metav1.Condition{
		Type: ocmv1alpha1.ManagedClusterAddOnRegistrationApplied, Status: metav1.ConditionTrue, Reason: "x",
	})
	var waits, runs client.Object = waiting, begun
	var ownVersion client.Object = installedOn("c1", versioned(addOn("base"), "1.5"))
	for _, test := range []changeCase{
		{name: "that is too new", leaf: needsOld, old: version("1.0"), updated: version("2.0"), refuses: breaks + changeAdvice},
		{name: "under its former key", leaf: needsOld, old: former("1.0"), updated: former("2.0"), refuses: breaks + changeAdvice},
		{
			name: "with a warning", leaf: needsOld, old: version("1.0"), updated: version("2.0"),
			mode: dependencyv1alpha1.ProtectionWarn, warns: breaks,
		},
		{name: "that is accepted", leaf: needsOld, old: version("1.0"), updated: version("1.9")},
		{
			name: "of which nothing is known", leaf: needsOld, old: version("1.0"), updated: version("newest"),
			warns: "the change of add-on 'base' was not reviewed in full: leaf requires base in version '< 2.0' " +
				"(version newest from its ClusterManagementAddOn: it is no semantic version)",
		},
		{
			name: "that is removed", leaf: needsOld, old: version("1.0"), updated: version(""),
			warns: "the change of add-on 'base' was not reviewed in full: leaf requires base in version '< 2.0' (version not known: " +
				"set the annotation dependency.addon.open-cluster-management.io/version on the lease of its agent, on its AddOnTemplate, " +
				"on its ManagedClusterAddOn or on its ClusterManagementAddOn)",
		},
		{name: "that was not known before", leaf: needsOld, old: version("newest"), updated: version("")},
		{name: "that is too new, as the one before", leaf: needsOld, old: version("2.0"), updated: version("3.0")},
		{name: "that is known for the first time", leaf: needsOld, old: version(""), updated: version("2.0"), refuses: breaks + changeAdvice},
		{name: "that nothing compares", leaf: "dependencies: [{name: base}]", old: version("1.0"), updated: version("2.0")},
		{
			name: "that an Optional edge does not accept", leaf: `dependencies: [{name: base, type: Optional, version: "< 2.0"}]`,
			old: version("1.0"), updated: version("2.0"),
		},
		{
			name: "beside which a dependent does not work", leaf: `dependencies: [{name: base, type: IfInstalled, version: "< 2.0"}]`,
			old: version("1.0"), updated: version("2.0"),
			refuses: strings.Replace(breaks, "'< 2.0'", "'< 2.0' where it is installed", 1) + changeAdvice,
		},
		{
			name: "that conflicts with a dependent", leaf: `dependencies: [{name: base, type: Conflicts, version: ">= 2.0"}]`,
			old: version("1.0"), updated: version("2.0"),
			refuses: strings.Replace(breaks, "requires base in version '< 2.0'", "conflicts with base in version '>= 2.0'", 1) + changeAdvice,
		},
		{
			name: "where one add-on has a version of its own", leaf: needsOld, old: version("1.0"), updated: version("2.0"),
			objects: []client.Object{ownVersion}, remove: func(o client.Object) bool { return isAddOn("base", "c1")(o) && o != ownVersion },
			refuses: on2and3 + changeAdvice,
		},
		{
			name: "where the dependent is on two clusters only", leaf: needsOld, old: version("1.0"), updated: version("2.0"),
			remove: isAddOn("leaf", "c1"), refuses: on2and3 + changeAdvice,
		},
		{
			name: "where the dependent waits behind its gate", leaf: needsOld, old: version("1.0"), updated: version("2.0"),
			objects: []client.Object{waits}, remove: func(o client.Object) bool { return isAddOn("leaf", "c1")(o) && o != waits },
			refuses: on2and3 + changeAdvice,
		},
		{
			name: "where the gate of the dependent was closed too late", leaf: needsOld, old: version("1.0"), updated: version("2.0"),
			objects: []client.Object{runs}, remove: func(o client.Object) bool { return isAddOn("leaf", "c1")(o) && o != runs },
			refuses: breaks + changeAdvice,
		},
		{name: "of what is not installed", leaf: needsOld, old: version("1.0"), updated: version("2.0"), remove: isAddOn("base", "")},
		{
			name: "where an agent has reported nothing", leaf: needsOld, old: version("1.0"), updated: version("2.0"),
			objects: []client.Object{installedOn("c1", addOn("interlock-agent"))}, refuses: breaks + changeAdvice,
		},
		{
			name: "where an agent reports another one", leaf: needsOld, old: version("1.0"), updated: version("2.0"),
			objects: []client.Object{factsOnC1(reported("1.0", ""))}, refuses: on2and3 + changeAdvice,
		},
		{
			name: "where an agent has just been requested", leaf: needsOld, old: version("1.0"), updated: version("2.0"),
			objects: []client.Object{factsOnC1(requestedAt(now))}, refuses: breaks + changeAdvice,
		},
		{
			name: "where no agent has reported anything", leaf: needsOld, old: version("1.0"), updated: version("2.0"),
			objects: []client.Object{factsOnC1(requestedAt(now.Add(-time.Hour)))}, refuses: breaks + changeAdvice,
		},
		{
			name: "where facts cannot be read", leaf: needsOld, old: version("1.0"), updated: version("2.0"), fails: failing{list: "facts"},
			warns: "whether add-on 'base' contradicts others was not checked: load what leaf rests on: list ManagedClusterFacts: the hub is busy",
		},
		{
			name: "where a cluster is lost", leaf: needsOld, old: version("1.0"), updated: version("2.0"),
			objects: []client.Object{lost}, remove: c1, refuses: on2and3 + changeAdvice,
		},
		{
			name: "where a cluster never joined", leaf: needsOld, old: version("1.0"), updated: version("2.0"),
			objects: []client.Object{pending}, remove: c1, refuses: on2and3 + changeAdvice,
		},
		{
			name: "where the dependent's declaration cannot be used",
			leaf: `{dependencies: [{name: base, version: "< 2.0"}], requirements: {interlock: ">= 99"}}`,
			old:  version("1.0"), updated: version("2.0"),
		},
		{
			name: "with a reason", leaf: needsOld, old: version("1.0"), updated: forcedTo("2.0"), user: "alice",
			warns: breaks + ". It is changed nevertheless: moving",
			emits: "Warning ChangeForced alice: " + breaks + ". It is changed nevertheless: moving",
		},
		{
			name: "by OCM", leaf: needsOld, old: version("1.0"), updated: version("2.0"), user: "sa",
			groups: []string{"system:serviceaccounts:open-cluster-management"}, warns: breaks + ". OCM changes it nevertheless",
			emits: "Warning ChangeNotRefused sa: " + breaks + ". OCM changes it nevertheless",
		},
		{
			name: "where add-ons cannot be read", leaf: needsOld, old: version("1.0"), updated: version("2.0"), fails: failing{list: "add-ons"},
			warns: "whether add-on 'base' contradicts others was not checked: list add-on base of the fleet: the hub is busy",
		},
	} {
		t.Run(test.name, test.run)
	}
}

func TestReviewOfDeclarations(t *testing.T) {
	nothing := ptr.To(fixture.Registration("base"))
	declares := func(spec string) *addonv1alpha1.ClusterManagementAddOn {
		return ptr.To(fixture.Specified(t, "base", spec))
	}
	annotated := func(text string) *addonv1alpha1.ClusterManagementAddOn {
		return ptr.To(fixture.Annotated("base", text))
	}
	kubernetes := []client.Object{}
	for i, version := range []string{"v1.29.3", "v1.31.0", ""} {
		cluster := joined(fmt.Sprintf("c%d", i+1))
		cluster.Status.Version.Kubernetes = version
		kubernetes = append(kubernetes, cluster)
	}
	unversioned := func(object client.Object) bool {
		cluster, ok := object.(*clusterv1.ManagedCluster)
		return ok && !slices.Contains(kubernetes, object) && cluster.Name != ""
	}
	const on3 = "the change of add-on 'base' would break 1 add-on on 3 clusters: base %s (c1, c2 and 1 more)" + changeAdvice
	for _, test := range []changeCase{
		{
			name: "a version of what is installed", old: nothing, updated: declares(`dependencies: [{name: root, version: ">= 2.0"}]`),
			refuses: fmt.Sprintf(on3, "requires root in version '>= 2.0'"),
		},
		{
			name: "by annotation", old: nothing, updated: annotated(`[{name: root, version: ">= 2.0"}]`),
			refuses: fmt.Sprintf(on3, "requires root in version '>= 2.0'"),
		},
		{name: "a version that is installed", old: nothing, updated: declares(`dependencies: [{name: root, version: ">= 1.0"}]`)},
		{name: "what is not installed", old: nothing, updated: declares(`dependencies: [{name: other, version: ">= 2.0"}]`)},
		{
			name: "what is installed, where agents have reported nothing", old: nothing,
			updated: declares(`dependencies: [{name: root, version: ">= 2.0"}]`),
			objects: []client.Object{installedOn("c1", addOn("interlock-agent")), installedOn("c2", addOn("interlock-agent"))},
			refuses: fmt.Sprintf(on3, "requires root in version '>= 2.0'"),
		},
		{
			name: "a conflict", old: nothing, updated: declares(`dependencies: [{name: root, type: Conflicts}]`),
			refuses: fmt.Sprintf(on3, "conflicts with root"),
		},
		{
			name: "a conflict in a version that its agent does not report",
			old:  ptr.To(fixture.Versioned(*nothing, "1.0")),
			updated: ptr.To(fixture.Versioned(fixture.Specified(t, "base", `dependencies: [{name: root, type: Conflicts, `+
				`when: {expression: "addOn.?version.orValue('').semverMatches('< 2.0')"}}]`), "1.0")),
			objects: []client.Object{factsOnC1(reported("2.1", ""))},
			refuses: "the change of add-on 'base' would break 1 add-on on 2 clusters: base conflicts with root (c2, c3)" + changeAdvice,
		},
		{
			name: "a conflict that was there", old: declares(`dependencies: [{name: root, type: Conflicts}]`),
			updated: declares(`dependencies: [{name: root, type: Conflicts}, {name: other}]`),
		},
		{
			name: "a version of Kubernetes", old: nothing, updated: declares(`requirements: {kubernetes: ">= 1.30"}`),
			objects: kubernetes, remove: unversioned,
			refuses: "the change of add-on 'base' would break 1 add-on on 1 cluster: base requires Kubernetes version '>= 1.30' (c1)" + changeAdvice,
		},
		{
			name: "a cycle", old: nothing, updated: declares(`dependencies: [{name: leaf}]`), leaf: "dependencies: [{name: root}]",
			root: "dependencies: [{name: base}]",
			refuses: "the change of add-on 'base' would break 3 add-ons on 3 clusters: " +
				"base is on the dependency cycle: base → leaf → root → base (c1, c2 and 1 more); " +
				"leaf is on the dependency cycle: base → leaf → root → base (c1, c2 and 1 more); " +
				"root is on the dependency cycle: base → leaf → root → base (c1, c2 and 1 more)" + changeAdvice,
		},
		{name: "what cannot be used", old: nothing, updated: annotated(`[{name: root, version: newest}]`)},
		{
			name: "for another Interlock", old: nothing,
			updated: declares(`{dependencies: [{name: root, type: Conflicts}], requirements: {interlock: ">= 99"}}`),
		},
		{name: "after what could not be used", old: annotated(`[{`), updated: annotated(`[{name: root, type: Conflicts}]`)},
		{
			name: "the same in another way", old: declares(`dependencies: [{name: root, type: Conflicts}]`),
			updated: annotated(`[{name: root, type: Conflicts}]`),
		},
		{
			name: "another name, which nothing reads", old: nothing, updated: reasoned(ptr.To(fixture.Registration("base"))),
			leaf: `dependencies: [{name: base, version: ">= 1"}]`, fails: failing{list: "registrations"},
		},
	} {
		t.Run(test.name, test.run)
	}
}

// registeredWith returns base with a default AddOnTemplate, and with the AddOnTemplates of Placements, such as "all=v1".
func registeredWith(standard string, placements ...string) *addonv1alpha1.ClusterManagementAddOn {
	base := fixture.Deployed(fixture.Registration("base"))
	if standard != "" {
		//nolint:staticcheck // v1alpha1 has no other field for it
		base.Spec.SupportedConfigs[0].DefaultConfig = &ocmv1alpha1.ConfigReferent{Name: standard}
	}
	var names []string
	for _, placement := range placements {
		names = append(names, strings.Split(placement, "=")[0])
	}
	made := placed(base, names...)
	for i, placement := range placements {
		if _, template, ok := strings.Cut(placement, "="); ok {
			made.Spec.InstallStrategy.Placements[i].Configs = []ocmv1alpha1.AddOnConfig{{
				ConfigGroupResource: declaration.Templates, ConfigReferent: ocmv1alpha1.ConfigReferent{Name: template},
			}}
		}
	}
	return made
}

func TestReviewOfRollouts(t *testing.T) {
	templates := []client.Object{
		template("base", "v1", "1.0", "[]"), template("base", "v2", "2.0", `[]`), template("base", "v3", "3.0", "[]"),
		template("base", "needy", "1.1", `[{name: root, type: Conflicts}]`),
	}
	withTemplates := func(objects ...client.Object) []client.Object { return append(objects, templates...) }
	const (
		needsOld = `dependencies: [{name: base, version: "< 2.0"}]`
		on3      = "the change of add-on 'base' would break 1 add-on on 3 clusters: leaf requires base in version '< 2.0' (c1, c2 and 1 more)"
		on2and3  = "the change of add-on 'base' would break 1 add-on on 2 clusters: leaf requires base in version '< 2.0' (c2, c3)"
		on1      = "the change of add-on 'base' would break 1 add-on on 1 cluster: leaf requires base in version '< 2.0' (c1)"
	)
	own := []client.Object{installedOn("c1", fromTemplate(addOn("base"), "v1"))}
	for _, test := range []changeCase{
		{name: "the default", old: registeredWith("v1"), updated: registeredWith("v2"), refuses: on3 + changeAdvice},
		{
			name: "the default, where one that does not run cannot be used", old: registeredWith("v1"), updated: registeredWith("v2"),
			objects: []client.Object{template("base", "unusable", "1.0", "[{")}, refuses: on3 + changeAdvice,
		},
		{
			name: "the default, to one that cannot be used", old: registeredWith("v1"), updated: registeredWith("unusable"),
			objects: []client.Object{template("base", "unusable", "2.0", "[{")},
		},
		{
			name: "the default, of one that cannot be used", old: registeredWith("unusable"), updated: registeredWith("v2"),
			objects: []client.Object{template("base", "unusable", "1.0", "[{")},
		},
		{name: "the first default", old: registeredWith(""), updated: registeredWith("v2"), refuses: on3 + changeAdvice},
		{name: "back", old: registeredWith("v2"), updated: registeredWith("v1")},
		{name: "both are wrong", old: registeredWith("v2"), updated: registeredWith("v3")},
		{name: "one that does not exist yet", old: registeredWith("v1"), updated: registeredWith("v4")},
		{name: "none any more", old: registeredWith("v1"), updated: registeredWith("")},
		{
			name: "the default, where one add-on names its own", old: registeredWith("v1"), updated: registeredWith("v2"),
			objects: own, remove: func(o client.Object) bool { return isAddOn("base", "c1")(o) && o != own[0] }, refuses: on2and3 + changeAdvice,
		},
		{
			name: "the default, where an agent may report another version: that of the former one", old: registeredWith("v1"),
			updated: registeredWith("v2"), objects: []client.Object{installedOn("c1", addOn("interlock-agent"))}, refuses: on3 + changeAdvice,
		},
		{name: "of a Placement", old: registeredWith("v1", "all"), updated: registeredWith("v1", "all=v2"), refuses: on3 + changeAdvice},
		{
			name: "of a Placement that selects one cluster", old: registeredWith("v1", "first", "second"),
			updated: registeredWith("v1", "first=v2", "second"), refuses: on1 + changeAdvice,
		},
		{
			name: "the default, where a Placement has another one", old: registeredWith("v1", "first=v1"),
			updated: registeredWith("v2", "first=v1"),
			refuses: on2and3 + changeAdvice,
		},
		{
			name: "of two Placements that do not agree",
			old:  registeredWith("v1", "all"), updated: registeredWith("v1", "all=v2", "first=v1"), refuses: on2and3 + changeAdvice,
		},
		{name: "of a Placement that has not selected yet", old: registeredWith("v1", "new"), updated: registeredWith("v1", "new=v2")},
		{
			name: "one that declares something else", old: registeredWith("v1"), updated: registeredWith("needy"),
			refuses: "the change of add-on 'base' would break 1 add-on on 3 clusters: base conflicts with root (c1, c2 and 1 more)" + changeAdvice,
		},
		{
			name: "what Placements select cannot be read", old: registeredWith("v1", "all"), updated: registeredWith("v1", "all=v2"),
			fails: failing{list: "decisions"},
			warns: "whether add-on 'base' contradicts others was not checked: list what Placement default/all selects: the hub is busy",
		},
	} {
		test.leaf, test.objects = needsOld, withTemplates(test.objects...)
		t.Run(test.name, test.run)
	}
}

// TestChangeInTheNewerVersion uses v1beta1, which has another name for the default configuration.
func TestChangeInTheNewerVersion(t *testing.T) {
	written := func(template string) *addonv1beta1.ClusterManagementAddOn {
		base := &addonv1beta1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: "base"}}
		base.APIVersion = addonv1beta1.GroupVersion.String()
		base.Spec.DefaultConfigs = []addonv1beta1.AddOnConfig{{
			ConfigGroupResource: addonv1beta1.ConfigGroupResource(declaration.Templates),
			ConfigReferent:      addonv1beta1.ConfigReferent{Name: template},
		}}
		return base
	}
	request := admissionv1.AdmissionRequest{
		Operation: admissionv1.Update, Resource: metav1.GroupVersionResource{Resource: "clustermanagementaddons"},
	}
	request.OldObject.Raw, request.Object.Raw = raw(t, written("v1")), raw(t, written("v2"))
	leaf := fixture.Specified(t, "leaf", `dependencies: [{name: base, version: "< 2.0"}]`)
	objects := append(threeClusters(registeredWith("v1"), &leaf), template("base", "v1", "1.0", "[]"), template("base", "v2", "2.0", "[]"))
	response, _ := handleRequest(t, dependencyv1alpha1.ProtectionEnforce, failing{}, request, "base", objects...)
	expect(t, response, "the change of add-on 'base' would break 1 add-on on 3 clusters: "+
		"leaf requires base in version '< 2.0' (c1, c2 and 1 more)"+changeAdvice, "")
}
