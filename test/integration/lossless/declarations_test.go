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

// declarations are what ten add-ons declare by field, each in another shape. All
// but elsewhere are unsatisfied, so that a lost declaration, or a part of one,
// moves a verdict.
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

// verdicts are status and reason of Degraded where they are not those of most.
var verdicts = map[string]string{
	"optional":  "True/" + addonv1alpha1.AddonDegradedReasonDependencyNotSatisfied,
	"elsewhere": "",
}

// others are registered add-ons that declare nothing.
var others = []string{"proxy", "other-1", "other-2"}

func allNames() []string { return slices.Sorted(maps.Keys(declarations)) }

// declared are the parts of a declaration, with defaults.
type declared struct {
	Dependencies []addonv1alpha1.AddonDependency
	Requirements *addonv1alpha1.AddonRequirements
	Provides     []addonv1alpha1.AddonAPI
}

func parse(text string) map[string]addonv1alpha1.ClusterManagementAddOnSpec {
	all := map[string]addonv1alpha1.ClusterManagementAddOnSpec{}
	if err := yaml.UnmarshalStrict([]byte(text), &all); err != nil {
		panic(err)
	}
	return all
}

// byField is what the fields declare.
func byField(addOn *addonv1alpha1.ClusterManagementAddOn) declared {
	registration := addOn.DeepCopy()
	registration.Annotations = nil
	read := declaration.Read(registration)
	return declared{read.Dependencies, read.Requirements, read.Provides}
}

// byRecord is what the annotation declares.
func byRecord(addOn *addonv1alpha1.ClusterManagementAddOn) declared {
	registration := &addonv1alpha1.ClusterManagementAddOn{}
	registration.Annotations = addOn.Annotations
	read := declaration.Read(registration)
	return declared{read.Dependencies, read.Requirements, read.Provides}
}

// lost are the differences between what was declared and what is there.
func lost(ctx context.Context, forms ...func(*addonv1alpha1.ClusterManagementAddOn) declared) func() ([]string, error) {
	return func() ([]string, error) {
		var all []string
		for _, name := range allNames() {
			registration := &addonv1alpha1.ClusterManagementAddOn{}
			if err := admin.Get(ctx, client.ObjectKey{Name: name}, registration); err != nil {
				return nil, err
			}
			want := byField(&addonv1alpha1.ClusterManagementAddOn{Spec: declarations[name]})
			for i, form := range forms {
				if diff := cmp.Diff(want, form(registration)); diff != "" {
					all = append(all, fmt.Sprintf("%s in form %d of %d (-declared +found):\n%s", name, i+1, len(forms), diff))
					break
				}
			}
		}
		return all, nil
	}
}

// expectKept waits until nothing is lost: by field and in the record while the
// CRD has the fields, else in the record.
func expectKept(ctx context.Context) {
	GinkgoHelper()
	forms := []func(*addonv1alpha1.ClusterManagementAddOn) declared{byRecord}
	if hasFields(ctx) {
		forms = append(forms, byField)
	}
	Eventually(lost(ctx, forms...)).WithTimeout(patience).Should(BeEmpty())
}

// registerAddOns registers all add-ons and installs them on the managed cluster,
// as yet without declarations. Only proxy is available.
func registerAddOns(ctx context.Context) {
	GinkgoHelper()
	labeled := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}}
	Expect(admin.Patch(ctx, labeled, merge(`{"metadata":{"labels":{"site":"edge"}}}`))).To(Succeed())
	for _, name := range append(allNames(), others...) {
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

// declare declares by field, where that is not declared already.
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

// settle waits until every verdict is that of its declaration.
func settle(ctx context.Context) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		reportFacts(ctx, g)
		for _, name := range allNames() {
			want, special := verdicts[name]
			if !special {
				want = "True/" + addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied
			}
			addOn := &addonv1alpha1.ManagedClusterAddOn{}
			g.Expect(admin.Get(ctx, client.ObjectKey{Namespace: cluster, Name: name}, addOn)).To(Succeed())
			found := ""
			if meta.IsStatusConditionTrue(addOn.Status.Conditions, "Degraded") {
				found = "True/" + meta.FindStatusCondition(addOn.Status.Conditions, "Degraded").Reason
			}
			g.Expect(found).To(Equal(want), name)
		}
	}).Should(Succeed())
}

// reportFacts is a double of addon-agent: the cluster serves no API that is
// requested, and every add-on runs in version 1.0.0.
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
