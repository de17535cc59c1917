package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/names"
)

var (
	leaf  = types.NamespacedName{Namespace: "cluster1", Name: "leaf"}
	aTime = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
)

// specified returns the evaluator of a hub on which "leaf" has the spec.
func specified(t testing.TB, spec string) *evaluation.Evaluator {
	t.Helper()
	registered := addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: leaf.Name}}
	if err := yaml.UnmarshalStrict([]byte(spec), &registered.Spec); err != nil {
		t.Fatal(err)
	}
	return evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{registered}))
}

func installed(name string) *addonv1alpha1.ManagedClusterAddOn {
	addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: leaf.Namespace, Name: name}}
	addOn.Annotations = map[string]string{addonv1alpha1.FormerVersionAnnotation: "0.4.0", "tier": "gold"}
	addOn.Status.Conditions = []metav1.Condition{{
		Type: addonv1alpha1.ManagedClusterAddOnConditionAvailable, Status: metav1.ConditionTrue, Reason: "Fine",
		LastTransitionTime: metav1.NewTime(aTime),
	}}
	addOn.Status.ConfigReferences = []ocmv1alpha1.ConfigReference{
		reference(configResource, leaf.Namespace, "config", "config"), reference(templateResource, "", "template-2", "template-1"),
	}
	return addOn
}

// everything returns an object of each kind that evaluation uses.
func everything(clusterAvailable metav1.ConditionStatus) []client.Object {
	cluster := &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: leaf.Namespace, Labels: map[string]string{"network": "private"}},
	}
	cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: clusterAvailable}}
	cluster.Status.Version.Kubernetes = "v1.31.2"
	cluster.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "product", Value: "OpenShift"}}
	config := &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: leaf.Namespace, Name: "config"}}
	config.Spec.CustomizedVariables = []ocmv1alpha1.CustomizedVariable{{Name: "mode", Value: "proxy"}}
	facts := &dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{Namespace: leaf.Namespace, Name: leaf.Namespace}}
	facts.Status.APIs = []dependencyv1alpha1.APIFact{
		{API: dependencyv1alpha1.API{Group: "apps", Kind: "Deployment"}, Served: metav1.ConditionTrue, Versions: []string{"v1"}},
		{API: dependencyv1alpha1.API{Kind: "Widget"}, Served: metav1.ConditionFalse},
	}
	facts.Status.AddOns = []dependencyv1alpha1.AddOnFact{{AddOn: dependencyv1alpha1.AddOn{Name: "leased"}, Version: "0.7.0"}}
	template := func(name, version string) client.Object {
		object := &addonv1alpha1.AddOnTemplate{}
		object.Name, object.Annotations = name, map[string]string{addonv1alpha1.AddOnVersionAnnotation: version}
		return object
	}
	crd := CRD()
	crd.Name, crd.Annotations = OCMVersionCRD, map[string]string{names.OCMVersion: "1.3.1"}
	return []client.Object{
		installed(leaf.Name), installed("base"), installed("leased"), cluster, config, facts,
		template("template-1", "0.5.0"), template("template-2", "0.6.0"), crd,
	}
}

// hub returns a client, and the requests that it has received.
func hub(t *testing.T, failure error, objects ...client.Object) (client.Reader, *[]string) {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{AddToScheme, metav1.AddMetaToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	var requests []string
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Get: func(ctx context.Context, hub client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			kind := strings.TrimPrefix(fmt.Sprintf("%T", object), "*")
			if metadata, ok := object.(*metav1.PartialObjectMetadata); ok {
				kind = metadata.Kind
			}
			requests = append(requests, "get "+kind[strings.LastIndex(kind, ".")+1:]+" "+key.Name)
			if failure != nil {
				return failure
			}
			return hub.Get(ctx, key, object, options...)
		},
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("the author's library has no right to list")
		},
	}).Build(), &requests
}

const readsAll = `
dependencies:
- {name: base, version: ">= 0.6"}
- {name: leased, version: ">= 0.6"}
- {name: absent, type: Optional}
- {name: private, addOn: base, when: {clusterSelector: {matchLabels: {network: private}}}}
- {name: proxied, addOn: base, when: {expression: "config.?mode.orValue('') == 'proxy' && addOn.annotations.tier == 'gold'"}}
- {name: deployments, api: {group: apps, kind: Deployment}}
- {name: widgets, api: {kind: Widget}}
requirements: {kubernetes: ">= 1.32", ocm: ">= 1.3", claims: {product: OpenShift}}
`

func TestLoadReadsVersionOfOCMIfAnAddOnDeclaresIt(t *testing.T) {
	for name, test := range map[string]struct {
		spec, version string
		read          string
	}{
		"OCM":         {`dependencies: [{name: base, version: ">= 1"}]`, " @ocm", "1.3.1"},
		"Number":      {`dependencies: [{name: base, version: ">= 1"}]`, "1.0.0", ""},
		"NotCompared": {`dependencies: [{name: base}]`, "@ocm", ""},
		"AlreadyRead": {`{dependencies: [{name: base, version: ">= 1"}], requirements: {ocm: ">= 1"}}`, "@ocm", "1.3.1"},
	} {
		t.Run(name, func(t *testing.T) {
			base := installed("base")
			base.Annotations = map[string]string{addonv1alpha1.AddOnVersionAnnotation: test.version}
			crd := CRD()
			crd.Name, crd.Annotations = OCMVersionCRD, map[string]string{names.OCMVersion: "1.3.1"}
			reader, _ := hub(t, nil, base, crd)
			loader := Loader{Reader: newLive(reader)}
			state, err := loader.Load(t.Context(), specified(t, test.spec), leaf, aTime)
			if err != nil || state.Cluster.OCMVersion != test.read {
				t.Errorf("read %q, error %v", state.Cluster.OCMVersion, err)
			}
		})
	}
}

func TestLoadReadsOnlyInputsOfEdges(t *testing.T) {
	addOn := func(names ...string) []string {
		var reads []string
		for _, name := range names {
			reads = append(reads, "get ManagedClusterAddOn "+name)
		}
		return reads
	}
	for name, test := range map[string]struct {
		spec    string
		offline evaluation.OfflinePolicy
		cluster metav1.ConditionStatus
		want    []string
	}{
		"Nothing":    {`{}`, evaluation.OfflineHold, "True", nil},
		"Proposal":   {`dependencies: [{name: base}, {name: absent}]`, evaluation.OfflineStrict, "True", addOn("absent", "base")},
		"Hold":       {`dependencies: [{name: base}]`, evaluation.OfflineHold, "True", append(addOn("base"), "get ManagedCluster cluster1")},
		"Lost":       {`dependencies: [{name: base}]`, evaluation.OfflineHold, "Unknown", []string{"get ManagedCluster cluster1"}},
		"LostStrict": {`dependencies: [{name: base}]`, evaluation.OfflineStrict, "Unknown", addOn("base")},
		"AnyVersion": {`dependencies: [{name: base, version: "*"}]`, evaluation.OfflineStrict, "True", addOn("base")},
		"NotInstalled": {
			`dependencies: [{name: absent, version: ">= 1"}]`, evaluation.OfflineStrict, "True",
			append(addOn("absent"), "get ManagedClusterFacts cluster1"),
		},
		"Version": {
			`dependencies: [{name: base, version: ">= 1"}]`, evaluation.OfflineStrict, "True",
			append(addOn("base"), "get AddOnTemplate template-1", "get AddOnTemplate template-2", "get ManagedClusterFacts cluster1"),
		},
		"Config": {
			`dependencies: [{name: base, when: {expression: "'a' in config"}}]`, evaluation.OfflineStrict, "True",
			append(addOn("base", "leaf"), "get AddOnDeploymentConfig config"),
		},
		"Kubernetes": {`requirements: {kubernetes: "1"}`, evaluation.OfflineStrict, "True", []string{"get ManagedCluster cluster1"}},
		"OCM":        {`requirements: {ocm: "1"}`, evaluation.OfflineStrict, "True", []string{"get CustomResourceDefinition " + OCMVersionCRD}},
	} {
		t.Run(name, func(t *testing.T) {
			reader, requests := hub(t, nil, everything(test.cluster)...)
			loader := Loader{Reader: newLive(reader), Offline: test.offline}
			if _, err := loader.Load(t.Context(), specified(t, test.spec), leaf, aTime); err != nil {
				t.Fatal(err)
			}
			slices.Sort(*requests)
			slices.Sort(test.want)
			if diff := cmp.Diff(test.want, *requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStateSurvivesJSON(t *testing.T) {
	reader, _ := hub(t, nil, everything("True")...)
	evaluator := specified(t, readsAll)
	state, err := Loader{Reader: newLive(reader), Offline: evaluation.OfflineHold}.Load(t.Context(), evaluator, leaf, aTime)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(state)
	if err != nil {
		t.Fatal(err)
	}
	var replayed evaluation.State
	if err := json.Unmarshal(text, &replayed); err != nil {
		t.Fatal(err)
	}
	findings := evaluator.Evaluate(leaf.Name, state)
	shared := cmp.Comparer(func(a, b *declaration.Requirement) bool { return a == b }) // with the catalog
	if diff := cmp.Diff(findings, evaluator.Evaluate(leaf.Name, replayed), shared); diff != "" {
		t.Errorf("from JSON, the findings differ: %s", diff)
	}
	if state.String() != string(text) || replayed.String() != string(text) {
		t.Errorf("it prints\n%s, and from JSON\n%s, not\n%s", state, replayed, text)
	}
	var verdicts []string
	for _, finding := range findings {
		verdicts = append(verdicts, finding.Name()+"="+string(finding.Verdict))
	}
	want := []string{
		"base=VersionMismatch", "leased=Satisfied", "absent=NotInstalled", "private=Satisfied", "proxied=Satisfied", "deployments=Satisfied",
		"widgets=APINotServed", "requirements.kubernetes=RequirementNotMet", "requirements.ocm=Satisfied",
		"requirements.claims[product]=Satisfied",
	}
	if diff := cmp.Diff(want, verdicts); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
}

func TestLoadReturnsReadErrors(t *testing.T) {
	broken := errors.New("away")
	for name, spec := range map[string]string{
		"managed cluster add-on cluster1/base":  `dependencies: [{name: base}]`,
		"managed cluster cluster1":              `requirements: {kubernetes: "1"}`,
		"CustomResourceDefinition managedclust": `requirements: {ocm: "1"}`,
		"ManagedClusterFacts cluster1/cluster1": `dependencies: [{name: base, api: {kind: Pod}}]`,
	} {
		reader, _ := hub(t, broken)
		_, err := Loader{Reader: newLive(reader), Offline: evaluation.OfflineStrict}.Load(t.Context(), specified(t, spec), leaf, aTime)
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "read "+name) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
