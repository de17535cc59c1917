package lossless

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/google/go-cmp/cmp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
)

// declarations are the declarations of ten add-ons in fields, each in another shape. All except elsewhere are unsatisfied. So a lost
// declaration, or a
// lost part of one, changes a verdict.
var declarations = parse(`
plain: {dependencies: [{name: missing}]}
optional: {dependencies: [{name: missing, type: Optional, message: Charts stay empty}]}
versioned: {dependencies: [{name: proxy, version: ">= 2.0", prereleases: {identifiers: [rc]}}]}
selected: {dependencies: [{name: missing, when: {clusterSelector: {matchLabels: {site: edge}}}}]}
elsewhere: {dependencies: [{name: missing, when: {clusterSelector: {matchLabels: {site: core}}}}]}
expressed: {dependencies: [{name: missing, when: {expression: "cluster.labels.?site.orValue('') == 'edge'"}}]}
serving: {dependencies: [{name: widgets, api: {group: example.com, kind: Widget, version: v1}}]}
aliased: {dependencies: [{name: tunnel, addOn: missing}, {name: fallback, addOn: proxy, type: Optional}]}
platform: {requirements: {kubernetes: ">= 99", claims: {example.com/zone: east}}}
provider: {dependencies: [{name: missing}, {name: proxy, type: Optional}], provides: [{group: example.com, kind: Gadget, version: v1}]}
`)

// verdicts has status and reason of Degraded for add-ons that do not have the usual verdict.
var verdicts = map[string]string{
	"optional":  "True/" + addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied,
	"elsewhere": "",
}

// undeclared are registered add-ons without a declaration.
var undeclared = []string{"proxy", "other-1", "other-2"}

func allNames() []string { return slices.Sorted(maps.Keys(declarations)) }

// parts are the parts of a declaration, with defaults.
type parts struct {
	Dependencies []addonv1alpha1.AddonDependency
	Requirements *addonv1alpha1.AddonRequirements
	Provides     []addonv1alpha1.AddonAPI
}

func parse(text string) map[string]addonv1alpha1.ClusterManagementAddOnSpec {
	specs := map[string]addonv1alpha1.ClusterManagementAddOnSpec{}
	if err := yaml.UnmarshalStrict([]byte(text), &specs); err != nil {
		panic(err)
	}
	return specs
}

// byField returns the declaration in the fields.
func byField(addOn *addonv1alpha1.ClusterManagementAddOn) parts {
	registration := addOn.DeepCopy()
	registration.Annotations = nil
	content := declaration.Read(registration)
	return parts{content.Dependencies, content.Requirements, content.Provides}
}

// byRecord returns the declaration in the annotation.
func byRecord(addOn *addonv1alpha1.ClusterManagementAddOn) parts {
	registration := &addonv1alpha1.ClusterManagementAddOn{}
	registration.Annotations = addOn.Annotations
	content := declaration.Read(registration)
	return parts{content.Dependencies, content.Requirements, content.Provides}
}

// lostDeclarations returns the differences between the original declarations and those on the hub.
func lostDeclarations(ctx context.Context, forms ...func(*addonv1alpha1.ClusterManagementAddOn) parts) func() ([]string, error) {
	return func() ([]string, error) {
		var differences []string
		for _, name := range allNames() {
			registration := &addonv1alpha1.ClusterManagementAddOn{}
			if err := admin.Get(ctx, client.ObjectKey{Name: name}, registration); err != nil {
				return nil, err
			}
			expected := byField(&addonv1alpha1.ClusterManagementAddOn{Spec: declarations[name]})
			for i, form := range forms {
				if diff := cmp.Diff(expected, form(registration)); diff != "" {
					differences = append(differences, fmt.Sprintf("%s in form %d of %d (-declared +found):\n%s", name, i+1, len(forms), diff))
					break
				}
			}
		}
		return differences, nil
	}
}

// expectKept waits until nothing is lost: in fields and in the record while the CRD has the fields, and otherwise in the record.
func expectKept(ctx context.Context) {
	GinkgoHelper()
	forms := []func(*addonv1alpha1.ClusterManagementAddOn) parts{byRecord}
	if hasFields(ctx) {
		forms = append(forms, byField)
	}
	Eventually(lostDeclarations(ctx, forms...)).WithTimeout(patience).Should(BeEmpty())
}

// registerAddOns registers all add-ons and installs them on the managed cluster, without declarations at first. Only proxy is
// available.
func registerAddOns(ctx context.Context) {
	GinkgoHelper()
	managedCluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}}
	Expect(admin.Patch(ctx, managedCluster, merge(`{"metadata":{"labels":{"site":"edge"}}}`))).To(Succeed())
	for _, name := range append(allNames(), undeclared...) {
		registration := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
		registration.Spec.InstallStrategy.Type = "Manual"
		Expect(admin.Create(ctx, registration)).To(Succeed())
		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
		Expect(admin.Create(ctx, addOn)).To(Succeed())
	}
	renewing, stop := context.WithCancel(context.Background())
	exit := make(chan error, 1)
	go func() { exit <- managed.RenewLease(renewing, "proxy", patience) }()
	DeferCleanup(func() { stop(); Expect(<-exit).To(Succeed()) })
	Eventually(func(g Gomega) {
		proxy := &addonv1alpha1.ManagedClusterAddOn{}
		g.Expect(admin.Get(ctx, client.ObjectKey{Namespace: cluster, Name: "proxy"}, proxy)).To(Succeed())
		g.Expect(meta.IsStatusConditionTrue(proxy.Status.Conditions, "Available")).To(BeTrue())
	}).Should(Succeed())
}

// declare declares dependencies in fields, unless they are already declared there.
func declare(ctx context.Context) {
	GinkgoHelper()
	for _, name := range allNames() {
		spec := declarations[name]
		fields, err := json.Marshal(map[string]any{"spec": map[string]any{
			"dependencies": spec.Dependencies, "requirements": spec.Requirements, "provides": spec.Provides,
		}})
		Expect(err).NotTo(HaveOccurred())
		addOn := &addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: name}}
		Expect(admin.Patch(ctx, addOn, client.RawPatch(types.MergePatchType, fields))).To(Succeed())
	}
}

// settle waits until every verdict follows from its declaration.
func settle(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		reportFacts(ctx, g)
		for _, name := range allNames() {
			expected, listed := verdicts[name]
			if !listed {
				expected = "True/" + addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
			}
			addOn := &addonv1alpha1.ManagedClusterAddOn{}
			g.Expect(admin.Get(ctx, client.ObjectKey{Namespace: cluster, Name: name}, addOn)).To(Succeed())
			current := ""
			if meta.IsStatusConditionTrue(addOn.Status.Conditions, "Degraded") {
				current = "True/" + meta.FindStatusCondition(addOn.Status.Conditions, "Degraded").Reason
			}
			g.Expect(current).To(Equal(expected), name)
		}
	}).Should(Succeed())
}

// reportFacts is a double of addon-agent. The cluster serves no requested API, and every add-on runs in version 1.0.0.
func reportFacts(ctx context.Context, g Gomega) {
	facts := &dependencyv1alpha1.ManagedClusterFacts{}
	g.Expect(admin.Get(ctx, client.ObjectKey{Namespace: cluster, Name: cluster}, facts)).To(Succeed())
	if facts.Status.ObservedGeneration == facts.Generation {
		return
	}
	facts.Status = dependencyv1alpha1.ManagedClusterFactsStatus{ObservedGeneration: facts.Generation}
	for _, api := range facts.Spec.APIs {
		facts.Status.APIs = append(facts.Status.APIs, dependencyv1alpha1.APIFact{API: api.API, Served: metav1.ConditionFalse})
	}
	for _, addOn := range facts.Spec.AddOns {
		facts.Status.AddOns = append(facts.Status.AddOns, dependencyv1alpha1.AddOnFact{AddOn: addOn, Version: "1.0.0"})
	}
	g.Expect(admin.Status().Update(ctx, facts)).To(Succeed())
}

func merge(body string) client.Patch { return client.RawPatch(types.MergePatchType, []byte(body)) }
