package status

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/hub/hubcache"
	"open-cluster-management.io/interlock/test/fixture"
)

// specify replaces the declaration of "leaf".
func (b *bench) specify(t *testing.T, spec string) {
	t.Helper()
	registration := addonv1alpha1.ClusterManagementAddOn{ObjectMeta: metav1.ObjectMeta{Name: leaf.Name}}
	if err := yaml.UnmarshalStrict([]byte(spec), &registration.Spec); err != nil {
		t.Fatal(err)
	}
	b.Declarations.Set(evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{registration})))
}

func config(name, mode string) *addonv1alpha1.AddOnDeploymentConfig {
	object := &addonv1alpha1.AddOnDeploymentConfig{ObjectMeta: metav1.ObjectMeta{Namespace: leaf.Namespace, Name: name}}
	object.Spec.CustomizedVariables = []ocmv1alpha1.CustomizedVariable{{Name: "mode", Value: mode}}
	return object
}

func configured(configs ...string) *addonv1alpha1.ManagedClusterAddOn {
	object := addOn(leaf.Name)
	for _, name := range configs {
		object.Status.ConfigReferences = append(object.Status.ConfigReferences, ocmv1alpha1.ConfigReference{
			ConfigGroupResource: ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: "addondeploymentconfigs"},
			DesiredConfig:       configHash(leaf.Namespace, name),
		})
	}
	return cached(object)
}

func configHash(namespace, name string) *ocmv1alpha1.ConfigSpecHash {
	return &ocmv1alpha1.ConfigSpecHash{ConfigReferent: ocmv1alpha1.ConfigReferent{Namespace: namespace, Name: name}, SpecHash: "tested"}
}

// cached returns an add-on as the cache stores it.
func cached(full *addonv1alpha1.ManagedClusterAddOn) *addonv1alpha1.ManagedClusterAddOn {
	for kind, options := range hubcache.Options().ByObject {
		if _, ok := kind.(*addonv1alpha1.ManagedClusterAddOn); ok {
			if lean, err := options.Transform(full); err == nil {
				return lean.(*addonv1alpha1.ManagedClusterAddOn)
			}
		}
	}
	return nil
}

// templated is "base", available, with the AddOnTemplate that runs and the desired one.
func templated(running, desired string) *addonv1alpha1.ManagedClusterAddOn {
	object := addOn("base", conditionOf("Available", metav1.ConditionTrue, "Fine"))
	object.Status.ConfigReferences = []ocmv1alpha1.ConfigReference{{
		ConfigGroupResource: ocmv1alpha1.ConfigGroupResource{Group: ocmv1alpha1.GroupName, Resource: "addontemplates"},
		DesiredConfig:       configHash("", desired),
	}}
	if running != "" {
		object.Status.ConfigReferences[0].LastAppliedConfig = configHash("", running)
	}
	return cached(object)
}

func TestLoadedState(t *testing.T) {
	const inProxyMode = `dependencies: [{name: a, when: {expression: "config.?mode.orValue('') == 'proxy'"}}]`
	reported := &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{Name: leaf.Namespace, Labels: map[string]string{"network": "private"}},
	}
	reported.Status.Version.Kubernetes = "v1.27.3"
	reported.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "product", Value: "OpenShift"}}
	pod := map[addonv1alpha1.AddonAPI]evaluation.APIFact{{Kind: "Pod"}: {Served: metav1.ConditionFalse}}
	versioned := addOn("base", conditionOf("Available", metav1.ConditionTrue, "Fine"))
	versioned.Annotations = map[string]string{addonv1alpha1.AddOnVersionAnnotation: "0.5.0"}
	former := addOn("base", conditionOf("Available", metav1.ConditionTrue, "Fine"))
	former.Annotations = map[string]string{addonv1alpha1.FormerVersionAnnotation: "0.6.0"}
	ofOCM := addOn("base", conditionOf(addonv1alpha1.ManagedClusterAddOnConditionAvailable, metav1.ConditionTrue, "Fine"))
	ofOCM.Annotations = map[string]string{addonv1alpha1.AddOnVersionAnnotation: "@ocm"}
	fromLease := func(version string, former bool) evaluation.Facts {
		return evaluation.Facts{Versions: map[string]evaluation.VersionFact{"base": {Version: version, Former: former}}}
	}
	const onVersion = `dependencies: [{name: base, version: ">= 0.6"}]`
	templates := lazy{templatesRead: true, templates: map[string]string{"v5": "0.5.0", "v6": "0.6.0"}}

	for name, test := range map[string]struct {
		spec    string
		objects []client.Object
		watched lazy
		want    evaluation.Verdict
	}{
		"Labels": {
			`dependencies: [{name: a, when: {clusterSelector: {matchLabels: {network: private}}}}]`,
			[]client.Object{addOn("leaf"), reported},
			lazy{},
			evaluation.NotInstalled,
		},
		"NoCluster": {
			`dependencies: [{name: a, when: {clusterSelector: {matchLabels: {network: private}}}}]`,
			[]client.Object{addOn("leaf")},
			lazy{},
			evaluation.NotApplicable,
		},
		"Name": {
			`dependencies: [{name: a, when: {expression: "cluster.name == 'cluster1'"}}]`,
			[]client.Object{addOn("leaf")},
			lazy{},
			evaluation.NotInstalled,
		},
		"Kubernetes": {
			`requirements: {kubernetes: ">= 1.28"}`,
			[]client.Object{addOn("leaf"), reported},
			lazy{},
			evaluation.RequirementNotMet,
		},
		"Claims": {
			`requirements: {claims: {product: OpenShift}}`,
			[]client.Object{addOn("leaf"), reported},
			lazy{},
			evaluation.Satisfied,
		},
		"OCM": {
			`requirements: {ocm: ">= 1.3"}`,
			[]client.Object{addOn("leaf")},
			lazy{ocm: true, version: "1.2.0"},
			evaluation.RequirementNotMet,
		},
		"OCMNotYet":  {`requirements: {ocm: ">= 1.3"}`, []client.Object{addOn("leaf")}, lazy{}, evaluation.Held},
		"OCMNowhere": {`requirements: {ocm: ">= 1.3"}`, []client.Object{addOn("leaf")}, lazy{ocm: true}, evaluation.VersionUnknown},
		"Version": {
			`dependencies: [{name: base, version: ">= 0.6"}]`,
			[]client.Object{addOn("leaf"), versioned},
			lazy{},
			evaluation.VersionMismatch,
		},
		"LeaseVersion": {
			`dependencies: [{name: base, version: ">= 0.6"}]`,
			[]client.Object{addOn("leaf"), versioned},
			lazy{facts: fromLease("0.6", false)},
			evaluation.Satisfied,
		},
		"VersionOfOCM":   {onVersion, []client.Object{addOn("leaf"), ofOCM}, lazy{ocm: true, version: "0.6.1"}, evaluation.Satisfied},
		"OCMNotRead":     {onVersion, []client.Object{addOn("leaf"), ofOCM}, lazy{}, evaluation.Held},
		"FormerVersion":  {onVersion, []client.Object{addOn("leaf"), former}, lazy{}, evaluation.Satisfied},
		"FormerLease":    {onVersion, []client.Object{addOn("leaf"), versioned}, lazy{facts: fromLease("0.6", true)}, evaluation.VersionMismatch},
		"Template":       {onVersion, []client.Object{addOn("leaf"), templated("v6", "v5")}, templates, evaluation.Satisfied},
		"TemplateOld":    {onVersion, []client.Object{addOn("leaf"), templated("v5", "v6")}, templates, evaluation.VersionMismatch},
		"TemplateGone":   {onVersion, []client.Object{addOn("leaf"), templated("gone", "v6")}, templates, evaluation.VersionUnknown},
		"TemplateNotYet": {onVersion, []client.Object{addOn("leaf"), templated("v6", "v6")}, lazy{}, evaluation.Held},
		"API": {
			`dependencies: [{name: a, api: {kind: Pod}}]`,
			[]client.Object{addOn("leaf")},
			lazy{facts: evaluation.Facts{APIs: pod}},
			evaluation.APINotServed,
		},
		"Config": {inProxyMode, []client.Object{configured("one"), config("one", "proxy")}, lazy{configs: true}, evaluation.NotInstalled},
		"ConfigFirst": {
			inProxyMode,
			[]client.Object{configured("one", "two"), config("one", "proxy"), config("two", "direct")},
			lazy{configs: true},
			evaluation.NotInstalled,
		},
		"ConfigSecond": {
			inProxyMode,
			[]client.Object{configured("one", "two"), config("one", "direct"), config("two", "proxy")},
			lazy{configs: true},
			evaluation.NotApplicable,
		},
		"ConfigGone": {
			inProxyMode,
			[]client.Object{configured("one", "two"), config("two", "proxy")},
			lazy{configs: true},
			evaluation.NotApplicable,
		},
		"ConfigNotYet":  {inProxyMode, []client.Object{configured("one"), config("one", "proxy")}, lazy{}, evaluation.Held},
		"NothingIsRead": {`dependencies: [{name: a}]`, []client.Object{addOn("leaf")}, lazy{}, evaluation.NotInstalled},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, test.objects...)
			*b.lazy = test.watched
			b.specify(t, test.spec)
			findings := b.findings(t)
			if len(findings) != 1 || findings[0].Verdict != test.want {
				t.Errorf("found %+v, want %s", findings, test.want)
			}
		})
	}
}

// The verdicts of a cluster follow the template that runs there, through a rollout.
func TestTheDeclarationFollowsTheTemplateThatRuns(t *testing.T) {
	evaluator := evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{fixture.Deployed(fixture.Registration("base"))},
		fixture.Template("base", "v1", `[{name: a}]`), fixture.Template("base", "v2", `[{name: a}, {name: b}]`)))
	base := types.NamespacedName{Namespace: leaf.Namespace, Name: "base"}
	m, b, _ := mapped(t)
	b.Declarations.Set(evaluator)
	untemplated := addOn("base")
	for _, step := range []struct {
		name         string
		old, updated *addonv1alpha1.ManagedClusterAddOn
		want         []string
	}{
		{"nothing is known of a process that starts during an installation", nil, templated("", "v1"), []string{""}},
		{"it is being installed", untemplated, templated("", "v1"), []string{"a"}},
		{"it is installed", templated("", "v1"), templated("v1", "v1"), []string{"a"}},
		{"the rollout begins", templated("v1", "v1"), templated("", "v2"), []string{"a"}},
		{"it is done", templated("", "v2"), templated("v2", "v2"), []string{"a", "b"}},
	} {
		if step.old != nil {
			enqueues := enqueued(t, func(q queue) { m.AddOns().Update(t.Context(), updateOf(step.old, step.updated), q) })
			if !slices.Contains(enqueues, base.String()) {
				t.Errorf("%s: enqueues %q", step.name, enqueues)
			}
		}
		b.read(fake.NewClientBuilder().WithScheme(b.hub.Scheme()).WithObjects(step.updated).Build())
		state, err := b.Assessor.Loader.Load(t.Context(), evaluator, base, aTime)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, finding := range evaluator.Evaluate(base.Name, state) {
			names = append(names, finding.Name())
		}
		if !slices.Equal(names, step.want) {
			t.Errorf("%s: evaluates %q, want %q", step.name, names, step.want)
		}
	}
}

// OCM drops lastAppliedConfig when a rollout to another template begins.
func TestDuringARolloutTheOldTemplateCounts(t *testing.T) {
	const spec = `dependencies: [{name: base, version: ">= 0.6"}]`
	begun := templated("", "v6")
	m, _, _ := mapped(t)
	b := newBench(t, addOn("leaf"), begun)
	b.lazy.templatesRead, b.lazy.templates = true, map[string]string{"v5": "0.5.0", "v6": "0.6.0"}
	m.Memory = b.Memory
	b.specify(t, spec)
	find := func() evaluation.Finding {
		t.Helper()
		findings := b.findings(t)
		if len(findings) != 1 {
			t.Fatalf("%v", findings)
		}
		return findings[0]
	}
	if got := find(); got.Verdict != evaluation.Held {
		t.Errorf("a process that starts during the rollout: %s, want Held", got.Verdict)
	}
	enqueued(t, func(q queue) { m.AddOns().Update(t.Context(), updateOf(templated("v5", "v5"), begun), q) })
	got := find()
	if got.Verdict != evaluation.VersionMismatch || got.Detail.Version.Number != "0.5.0" || got.Detail.Version.RollingOut != "0.6.0" {
		t.Errorf("during the rollout: %s, %+v", got.Verdict, got.Detail)
	}
	enqueued(t, func(q queue) { m.AddOns().Delete(t.Context(), deletionOf(begun), q) })
	if got := find(); got.Verdict != evaluation.Held {
		t.Errorf("after a deletion: %s, want Held", got.Verdict)
	}
}

func TestAnAnswerThatIsDueIsWaitedFor(t *testing.T) {
	b := newBench(t, addOn("leaf"))
	b.lazy.facts.Requested = aTime
	b.specify(t, `dependencies: [{name: a, api: {kind: Pod}}]`)
	if result, err := b.reconcile(t); err != nil || result.RequeueAfter != 30*time.Second || b.applies != 0 {
		t.Fatalf("result %v, error %v, %d writes; want to look again in 30 seconds", result, err, b.applies)
	}
	b.clock.SetTime(aTime.Add(30 * time.Second))
	if _, err := b.reconcile(t); err != nil || b.applies != 1 {
		t.Errorf("error %v, %d writes, want 1: the agent never answered", err, b.applies)
	}
}

func TestWhatCannotBeReadIsAnError(t *testing.T) {
	broken := errors.New("not synced")
	for kind, spec := range map[string]string{
		"*v1.ManagedCluster":              `requirements: {kubernetes: ">= 1.28"}`,
		"*v1alpha1.AddOnDeploymentConfig": `dependencies: [{name: a, when: {expression: "config.size() == 0"}}]`,
	} {
		b := newBench(t, configured("one"))
		b.specify(t, spec)
		b.read(failing{b.hub, kind, broken})
		if _, err := b.reconcile(t); !errors.Is(err, broken) || !strings.Contains(err.Error(), "cluster1") {
			t.Errorf("%s: error %v", kind, err)
		}
	}
}

func TestOnlyUsedInputsEnqueue(t *testing.T) {
	old := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: leaf.Namespace}}
	label := func(c *clusterv1.ManagedCluster) { c.Labels = map[string]string{"a": "b"} }
	claim := func(c *clusterv1.ManagedCluster) {
		c.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "a", Value: "b"}}
	}
	upgrade := func(c *clusterv1.ManagedCluster) { c.Status.Version.Kubernetes = "v1.28.0" }
	heartbeat := func(c *clusterv1.ManagedCluster) {
		meta.SetStatusCondition(&c.Status.Conditions, conditionOf("ClockSynced", metav1.ConditionTrue, "Test"))
	}
	const selector, claims, kubernetes = `dependencies: [{name: a, when: {clusterSelector: {matchLabels: {a: b}}}}]`,
		`requirements: {claims: {a: b}}`, `requirements: {kubernetes: "*"}`
	for name, test := range map[string]struct {
		spec     string
		change   func(*clusterv1.ManagedCluster)
		enqueues bool
	}{
		"Label": {selector, label, true}, "LabelUnused": {claims, label, false},
		"Claim": {claims, claim, true}, "ClaimUnused": {kubernetes, claim, false},
		"Upgrade": {kubernetes, upgrade, true}, "UpgradeUnused": {selector, upgrade, false},
		"Heartbeat": {selector, heartbeat, false}, "Proposal": {`dependencies: [{name: a}]`, label, false},
	} {
		for _, hold := range []bool{true, false} {
			m, b, _ := mapped(t)
			m.Hold = hold
			b.specify(t, test.spec)
			updated := old.DeepCopy()
			test.change(updated)
			var want []string
			if test.enqueues {
				want = []string{leaf.String()}
			}
			expectEnqueued(t, name, want, func(q queue) { m.Clusters().Update(t.Context(), updateOf(old, updated), q) })
			expectEnqueued(t, name+", created", want, func(q queue) { m.Clusters().Create(t.Context(), creationOf(updated), q) })
			expectEnqueued(t, name+", deleted", want, func(q queue) { m.Clusters().Delete(t.Context(), deletionOf(updated), q) })
		}
	}
}

func TestOwnChangesEnqueueTheConditionsThatUseThem(t *testing.T) {
	relabeled, reconfigured, upgraded := addOn("leaf"), configured("one"), addOn("base")
	relabeled.Labels = map[string]string{"a": "b"}
	upgraded.Annotations = map[string]string{addonv1alpha1.AddOnVersionAnnotation: "1.0.0"}
	former := addOn("base")
	former.Annotations = map[string]string{addonv1alpha1.FormerVersionAnnotation: "1.0.0"}
	for name, test := range map[string]struct {
		spec         string
		old, updated *addonv1alpha1.ManagedClusterAddOn
		want         []string
	}{
		"Label": {
			`dependencies: [{name: a, when: {expression: "'a' in addOn.labels"}}]`,
			addOn("leaf"),
			relabeled,
			[]string{leaf.String()},
		},
		"LabelUnused": {`dependencies: [{name: a}]`, addOn("leaf"), relabeled, nil},
		"Config": {
			`dependencies: [{name: a, when: {expression: "'a' in config"}}]`,
			addOn("leaf"),
			reconfigured,
			[]string{leaf.String()},
		},
		"ConfigUnused":   {`dependencies: [{name: a}]`, addOn("leaf"), reconfigured, nil},
		"Version":        {`dependencies: [{name: base, version: "1"}]`, addOn("base"), upgraded, []string{leaf.String()}},
		"VersionUnused":  {`dependencies: [{name: base}]`, addOn("base"), upgraded, nil},
		"VersionAny":     {`dependencies: [{name: base, version: "*"}]`, addOn("base"), upgraded, nil},
		"FormerVersion":  {`dependencies: [{name: base, version: "1"}]`, addOn("base"), former, []string{leaf.String()}},
		"Template":       {`dependencies: [{name: base, version: "1"}]`, templated("v5", "v5"), templated("v6", "v6"), []string{leaf.String()}},
		"Rollout":        {`dependencies: [{name: base, version: "1"}]`, templated("v5", "v5"), templated("v5", "v6"), []string{leaf.String()}},
		"SameTemplate":   {`dependencies: [{name: base, version: "1"}]`, templated("v5", "v6"), templated("v5", "v6"), nil},
		"TemplateUnused": {`dependencies: [{name: base}]`, templated("v5", "v5"), templated("v6", "v6"), nil},
	} {
		m, b, _ := mapped(t)
		b.specify(t, test.spec)
		expectEnqueued(t, name, test.want, func(q queue) { m.AddOns().Update(t.Context(), updateOf(test.old, test.updated), q) })
	}
}
