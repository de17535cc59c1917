package protector

import (
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/fixture"
)

// versioned sets the version of an add-on.
func versioned(addOn *addonv1alpha1.ManagedClusterAddOn, version string) *addonv1alpha1.ManagedClusterAddOn {
	metav1.SetMetaDataAnnotation(&addOn.ObjectMeta, addonv1alpha1.AddOnVersionAnnotation, version)
	return addOn
}

// fromTemplate sets the AddOnTemplate that an add-on names itself, and that runs.
func fromTemplate(addOn *addonv1alpha1.ManagedClusterAddOn, template string) *addonv1alpha1.ManagedClusterAddOn {
	referent := ocmv1alpha1.ConfigReferent{Name: template}
	addOn.Spec.Configs = []ocmv1alpha1.AddOnConfig{{ConfigGroupResource: declaration.Templates, ConfigReferent: referent}}
	runs := &ocmv1alpha1.ConfigSpecHash{ConfigReferent: referent, SpecHash: "x"}
	addOn.Status.ConfigReferences = []ocmv1alpha1.ConfigReference{{
		ConfigGroupResource: declaration.Templates, DesiredConfig: runs, LastAppliedConfig: runs,
	}}
	return addOn
}

// template returns an AddOnTemplate with a version.
func template(addOn, name, version, declares string) *addonv1alpha1.AddOnTemplate {
	created := fixture.Template(addOn, name, declares)
	metav1.SetMetaDataAnnotation(&created.ObjectMeta, addonv1alpha1.AddOnVersionAnnotation, version)
	return &created
}

// reportedOf returns facts with the version on the lease of an add-on.
func reportedOf(addOn, version string) *dependencyv1alpha1.ManagedClusterFacts {
	facts := reported(version, "")
	facts.Status.AddOns[0].Name = addOn
	return facts
}

// requestedAt returns facts that were requested, and that no agent has reported.
func requestedAt(created time.Time) *dependencyv1alpha1.ManagedClusterFacts {
	facts := &dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "cluster1"}}
	facts.CreationTimestamp = metav1.NewTime(created)
	return facts
}

// reported returns facts with the version on the lease of base. The agent is empty if it is not installed as an add-on.
func reported(version, agent string) *dependencyv1alpha1.ManagedClusterFacts {
	facts := &dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster1", Name: "cluster1"}}
	facts.Status.AgentAddOn = agent
	facts.Status.AddOns = []dependencyv1alpha1.AddOnFact{{AddOn: dependencyv1alpha1.AddOn{Name: "base"}, Version: version}}
	return facts
}

// claiming sets the only ClusterClaim of a managed cluster.
func claiming(cluster *clusterv1.ManagedCluster, name, value string) *clusterv1.ManagedCluster {
	cluster.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: name, Value: value}}
	return cluster
}

type installationCase struct {
	name string
	// declares is the declaration of leaf. stem is the declaration of the installed add-on stem.
	declares, stem string
	registered     []client.Object
	objects        []client.Object
	old, updated   *addonv1alpha1.ManagedClusterAddOn
	user           authenticationv1.UserInfo
	fails          failing
	refuses, warns string
	emits          string
}

const (
	contradicts    = "add-on 'leaf' on cluster cluster1 contradicts what it needs: "
	adviceOnChange = ". To change it nevertheless, give it the annotation dependency.addon.open-cluster-management.io/force: '<why>'"
	advice         = ". To install it nevertheless, give it the annotation " +
		"dependency.addon.open-cluster-management.io/force: '<why>'"
	tooOld = contradicts + "Required addon 'base' is not installed or not available in version '>= 2.0'. " +
		"(version 1.0 from its ManagedClusterAddOn)"
	notInFull = "add-on 'leaf' on cluster cluster1 was not reviewed in full: "
	noVersion = " (version not known: set the annotation dependency.addon.open-cluster-management.io/version on the lease of its agent, " +
		"on its AddOnTemplate, on its ManagedClusterAddOn or on its ClusterManagementAddOn)"
	breaksStem = "add-on 'leaf' on cluster cluster1 would break 1 add-on: stem: "
)

func (i installationCase) run(t *testing.T) {
	t.Helper()
	objects := append([]client.Object{ptr.To(fixture.Specified(t, "base", "{}")), addOn("stem")}, i.registered...)
	for name, spec := range map[string]string{"leaf": i.declares, "stem": i.stem} {
		if spec != "" {
			objects = append(objects, ptr.To(fixture.Specified(t, name, spec)))
		}
	}
	if i.objects == nil {
		i.objects = []client.Object{cluster()}
	}
	if i.updated == nil {
		i.updated = addOn("leaf")
	}
	request := admissionv1.AdmissionRequest{Operation: admissionv1.Create, Name: "leaf", UserInfo: i.user}
	request.Object.Raw = raw(t, i.updated)
	if i.old != nil {
		request.Operation, request.OldObject.Raw = admissionv1.Update, raw(t, i.old)
		objects = append(objects, i.old)
	}
	response, emitted := handleRequest(t, dependencyv1alpha1.ProtectionEnforce, i.fails, request, "leaf", append(objects, i.objects...)...)
	expect(t, response, i.refuses, i.warns)
	if got := strings.Join(emitted, "; "); got != i.emits {
		t.Errorf("emitted %q, want %q", got, i.emits)
	}
}

// held closes the gate of an add-on as admission does because of a contradiction.
func held(addOn *addonv1alpha1.ManagedClusterAddOn) *addonv1alpha1.ManagedClusterAddOn {
	metav1.SetMetaDataAnnotation(&addOn.ObjectMeta, addonv1alpha1.GateAnnotation, addonv1alpha1.GateClosed)
	metav1.SetMetaDataAnnotation(&addOn.ObjectMeta, addonv1alpha1.GateCauseAnnotation, addonv1alpha1.GateCauseContradiction)
	return addOn
}

func TestReviewOfInstallations(t *testing.T) {
	const needs = `dependencies: [{name: base, version: ">= 2.0"}]`
	kubernetes := cluster()
	kubernetes.Status.Version.Kubernetes = "v1.29.3"
	lost := cluster()
	lost.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionUnknown}}
	stopped := addOn("interlock-agent")
	stopped.Status.Conditions = []metav1.Condition{{Type: "Available", Status: metav1.ConditionFalse}}
	for _, test := range []installationCase{
		{
			name: "its dependency is too old", declares: needs,
			objects: []client.Object{cluster(), versioned(addOn("base"), "1.0")}, refuses: tooOld + advice,
		},
		{name: "it is new enough", declares: needs, objects: []client.Object{cluster(), versioned(addOn("base"), "2.1")}},
		{
			name: "it is not known how old it is", declares: needs, objects: []client.Object{cluster(), addOn("base")},
			warns: notInFull + "leaf requires base in version '>= 2.0'" + noVersion,
		},
		{
			name: "it is not known how old it is, and OCM reads no warning", declares: needs, objects: []client.Object{cluster(), addOn("base")},
			user: authenticationv1.UserInfo{Username: "sa", Groups: []string{"system:serviceaccounts:open-cluster-management-hub"}},
		},
		{name: "it is not installed yet", declares: needs, objects: []client.Object{cluster()}},
		{name: "it is being deleted", declares: needs, objects: []client.Object{cluster(), deleting(versioned(addOn("base"), "1.0"))}},
		{
			name: "its agent reports a newer one", declares: needs,
			objects: []client.Object{cluster(), versioned(addOn("base"), "1.0"), reported("2.0", "")},
		},
		{
			name: "its agent reports an older one", declares: needs,
			objects: []client.Object{cluster(), versioned(addOn("base"), "2.0"), reported("1.0", "")},
			refuses: strings.Replace(tooOld, "its ManagedClusterAddOn", "its agent's lease", 1) + advice,
		},
		{
			name: "no agent reports anything, and none is installed", declares: needs,
			objects: []client.Object{cluster(), versioned(addOn("base"), "1.0"), requestedAt(now.Add(-time.Hour))}, refuses: tooOld + advice,
		},
		{
			name: "an agent has reported nothing yet", declares: needs,
			objects: []client.Object{cluster(), versioned(addOn("base"), "1.0"), requestedAt(now.Add(-time.Hour)), addOn("interlock-agent")},
			refuses: tooOld + advice,
		},
		{
			name: "nothing was requested of an agent long enough ago", declares: needs,
			objects: []client.Object{cluster(), versioned(addOn("base"), "1.0"), requestedAt(now.Add(-time.Second))}, refuses: tooOld + advice,
		},
		{
			name: "the last report of an agent that does not run", declares: needs,
			objects: []client.Object{cluster(), versioned(addOn("base"), "2.0"), reported("1.0", "interlock-agent"), stopped},
			refuses: strings.Replace(tooOld, "its ManagedClusterAddOn", "its agent's lease", 1) + advice,
		},
		{
			name: "the agent's report cannot be read", declares: needs, fails: failing{get: "facts"},
			objects: []client.Object{cluster(), versioned(addOn("base"), "1.0")},
			warns: "whether add-on 'leaf' contradicts others was not checked: load what leaf rests on: " +
				"read ManagedClusterFacts cluster1: the hub is busy",
		},
		{name: "the cluster is lost", declares: needs, objects: []client.Object{lost, versioned(addOn("base"), "1.0")}},
		{
			name: "an Optional dependency", declares: `dependencies: [{name: base, type: Optional, version: ">= 2.0"}]`,
			objects: []client.Object{cluster(), versioned(addOn("base"), "1.0")},
		},
		{
			name:     "a dependency that only counts where it is installed",
			declares: `dependencies: [{name: base, type: IfInstalled, version: ">= 2.0"}]`,
			objects:  []client.Object{cluster(), versioned(addOn("base"), "1.0")},
			refuses:  contradicts + "Addon 'base' is installed, but not in version '>= 2.0'. (version 1.0 from its ManagedClusterAddOn)" + advice,
		},
		{
			name: "a conflict", declares: `dependencies: [{name: base, type: Conflicts}]`, objects: []client.Object{cluster(), addOn("base")},
			refuses: contradicts + "Addon 'base' is installed, which conflicts with this addon. (installed)" + advice,
		},
		{
			name: "an older Kubernetes", declares: `requirements: {kubernetes: ">= 1.30"}`, objects: []client.Object{kubernetes},
			refuses: contradicts + "Required Kubernetes version '>= 1.30' is not met. (it is v1.29.3)" + advice,
		},
		{
			name: "a claim that is not reported yet", declares: `requirements: {claims: {platform: AWS}}`,
			objects: []client.Object{cluster()},
		},
		{
			name: "another value of a claim", declares: `requirements: {claims: {platform: AWS}}`,
			objects: []client.Object{claiming(cluster(), "platform", "GCP")},
			refuses: contradicts + "Required cluster claim 'platform' 'AWS' is not met. (it is GCP)" + advice,
		},
		{
			name: "a version that only a policy requires", declares: `dependencies: [{name: base}]`,
			objects: []client.Object{cluster(), versioned(addOn("base"), "1.0"), ptr.To(fixture.Policy(t, "strict",
				`{overrides: [{addOn: leaf, dependency: base, version: ">= 2.0"}]}`))},
			refuses: contradicts + "Required addon 'base' is not installed or not available in version '>= 2.0'. " +
				"(version 1.0 from its ManagedClusterAddOn; overridden by AddOnDependencyPolicy 'strict')" + advice,
		},
		{
			name: "the cluster's agent has not reported anything yet", declares: needs,
			objects: []client.Object{cluster(), versioned(addOn("base"), "1.0"), addOn(names.AgentAddOn)}, refuses: tooOld + advice,
		},
		{
			name: "a cycle", declares: `dependencies: [{name: stem}]`, stem: `dependencies: [{name: leaf}]`,
			refuses: contradicts + "Required addon 'stem' is not installed or not available. (dependency cycle: leaf → stem → leaf)" + advice,
		},
		{
			name: "what is installed needs an older one", declares: "{}", stem: `dependencies: [{name: leaf, type: IfInstalled, version: "< 2.0"}]`,
			updated: versioned(addOn("leaf"), "2.0"), refuses: breaksStem +
				"Addon 'leaf' is installed, but not in version '< 2.0'. (version 2.0 from its ManagedClusterAddOn)" + advice,
		},
		{
			name: "what is installed conflicts with it", declares: "{}", stem: `dependencies: [{name: leaf, type: Conflicts}]`,
			refuses: breaksStem + "Addon 'leaf' is installed, which conflicts with this addon. (installed)" + advice,
		},
		{
			name: "what is installed has other troubles", declares: "{}", objects: []client.Object{kubernetes},
			stem:  `{dependencies: [{name: leaf, version: ">= 1.0"}], requirements: {kubernetes: ">= 1.30"}}`,
			warns: notInFull + "stem requires leaf in version '>= 1.0'" + noVersion,
		},
		{
			name: "by OCM", declares: needs, objects: []client.Object{cluster(), versioned(addOn("base"), "1.0")},
			warns: tooOld + ". OCM installs it nevertheless",
			user:  authenticationv1.UserInfo{Username: "sa", Groups: []string{"system:serviceaccounts:open-cluster-management-hub"}},
			emits: "Warning InstallationNotRefused sa: " + tooOld + ". OCM installs it nevertheless",
		},
		{
			name: "by OCM, and held", declares: needs, objects: []client.Object{cluster(), versioned(addOn("base"), "1.0")},
			updated: held(addOn("leaf")),
			warns:   tooOld + ". Its gate is closed until that is over",
			user:    authenticationv1.UserInfo{Username: "sa", Groups: []string{"system:serviceaccounts:open-cluster-management-hub"}},
			emits:   "Warning InstallationHeld sa: " + tooOld + ". Its gate is closed until that is over",
		},
		{
			name: "with a reason", declares: needs, objects: []client.Object{cluster(), versioned(addOn("base"), "1.0")},
			updated: forced(addOn("leaf"), "trying"), user: authenticationv1.UserInfo{Username: "alice"},
			warns: tooOld + ". It is installed nevertheless: trying",
			emits: "Warning InstallationForced alice: " + tooOld + ". It is installed nevertheless: trying",
		},
		{
			name: "with a reason, and a gate", declares: needs, objects: []client.Object{cluster(), versioned(addOn("base"), "1.0")},
			updated: held(forced(addOn("leaf"), "trying")), user: authenticationv1.UserInfo{Username: "alice"},
			warns: tooOld + ". It is installed nevertheless once its gate is open: trying",
			emits: "Warning InstallationForced alice: " + tooOld + ". It is installed nevertheless once its gate is open: trying",
		},
	} {
		t.Run(test.name, test.run)
	}
}

func fixtureOf(name string) client.Object { return ptr.To(fixture.Registration(name)) }

// TestContradicts checks that an add-on that OCM creates has to wait where another user is refused.
func TestContradicts(t *testing.T) {
	byOCM := authenticationv1.UserInfo{Username: "sa", Groups: []string{"system:serviceaccounts:open-cluster-management-hub"}}
	leaf := fixture.Specified(t, "leaf", `dependencies: [{name: base, version: ">= 2.0"}]`)
	for name, test := range map[string]struct {
		mode  dependencyv1alpha1.Protection
		base  string // its version
		user  authenticationv1.UserInfo
		force string
		want  string
	}{
		"Enforced":    {dependencyv1alpha1.ProtectionEnforce, "1.0", byOCM, "", "contradicts what it needs: Required addon 'base'"},
		"Satisfied":   {dependencyv1alpha1.ProtectionEnforce, "2.0", byOCM, "", ""},
		"NotKnown":    {dependencyv1alpha1.ProtectionEnforce, "", byOCM, "", ""},
		"Warned":      {dependencyv1alpha1.ProtectionWarn, "1.0", byOCM, "", ""},
		"Off":         {dependencyv1alpha1.ProtectionOff, "1.0", byOCM, "", ""},
		"AnotherUser": {dependencyv1alpha1.ProtectionEnforce, "1.0", authenticationv1.UserInfo{Username: "alice"}, "", ""},
		"Forced":      {dependencyv1alpha1.ProtectionEnforce, "1.0", byOCM, "moving", ""},
	} {
		t.Run(name, func(t *testing.T) {
			base := addOn("base")
			if test.base != "" {
				versioned(base, test.base)
			}
			v := creationsOn(t, failing{}, ptr.To(leaf), ptr.To(fixture.Registration("base")), reached("True"), base)
			v.mode = test.mode
			created := addOn("leaf")
			if test.force != "" {
				forced(created, test.force)
			}
			got, err := v.Contradicts(t.Context(), created, test.user)
			if err != nil || !strings.HasPrefix(got, test.want) || test.want == "" && got != "" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// TestReviewOfTemplates checks AddOnTemplates: each has a version, and may have a declaration of its own.
func TestReviewOfTemplates(t *testing.T) {
	leaf := fixture.Deployed(fixture.Registration("leaf"))
	//nolint:staticcheck // v1alpha1 has no other field for it
	leaf.Spec.SupportedConfigs[0].DefaultConfig = &ocmv1alpha1.ConfigReferent{Name: "v2"}
	elsewhere := *leaf.DeepCopy()
	elsewhere.Spec.InstallStrategy.Type = ocmv1alpha1.AddonInstallStrategyPlacements
	elsewhere.Spec.InstallStrategy.Placements = []ocmv1alpha1.PlacementStrategy{{
		Configs: []ocmv1alpha1.AddOnConfig{{ConfigGroupResource: declaration.Templates, ConfigReferent: ocmv1alpha1.ConfigReferent{Name: "v1"}}},
	}}
	annotated := fixture.Versioned(*elsewhere.DeepCopy(), "3.0")
	old := fixture.Versioned(*leaf.DeepCopy(), "3.0")
	templates := []client.Object{template("leaf", "v1", "1.0", "[]"), template("leaf", "v2", "2.0", `[{name: base, version: ">= 2.0"}]`)}
	const needsOld = `dependencies: [{name: leaf, version: "< 2.0"}]`
	const stemBreaks = breaksStem + "Required addon 'leaf' is not installed or not available in version '< 2.0'. " +
		"(version 2.0 from its AddOnTemplate)"
	usual := []client.Object{cluster(), versioned(addOn("base"), "1.0")}
	for _, test := range []installationCase{
		{
			name: "its own, with other needs", registered: []client.Object{&leaf},
			objects: usual, updated: fromTemplate(addOn("leaf"), "v2"), refuses: tooOld + advice,
		},
		{name: "its own, without", registered: []client.Object{&leaf}, objects: usual, updated: fromTemplate(addOn("leaf"), "v1")},
		{name: "the default", registered: []client.Object{&leaf}, objects: usual, refuses: tooOld + advice},
		{name: "that of a Placement", registered: []client.Object{&elsewhere}, objects: usual},
		{
			name: "that of a Placement, for which another version is annotated", registered: []client.Object{&annotated}, stem: needsOld,
			objects: usual,
		},
		{name: "none that exists", registered: []client.Object{&leaf}, objects: usual, updated: fromTemplate(addOn("leaf"), "v3")},
		{
			name: "none that exists yet, where another version is annotated", registered: []client.Object{&old},
			stem:    `dependencies: [{name: leaf, version: "> 3"}]`,
			objects: usual, updated: fromTemplate(addOn("leaf"), "v4"),
		},
		{
			name: "another one", registered: []client.Object{&leaf}, stem: needsOld,
			old: fromTemplate(addOn("leaf"), "v1"), updated: fromTemplate(addOn("leaf"), "v2"), refuses: stemBreaks + adviceOnChange,
		},
		{
			name: "another one, with which the agent has reported nothing yet", registered: []client.Object{&leaf}, stem: needsOld,
			objects: []client.Object{cluster(), reported("1.0", "")},
			old:     fromTemplate(addOn("leaf"), "v1"), updated: fromTemplate(addOn("leaf"), "v2"), refuses: stemBreaks + adviceOnChange,
		},
		{
			name: "both are wrong, and an agent may report something", registered: []client.Object{&leaf},
			stem:    `dependencies: [{name: leaf, version: "> 3"}]`,
			objects: []client.Object{cluster(), addOn("interlock-agent")},
			old:     fromTemplate(addOn("leaf"), "v1"), updated: fromTemplate(addOn("leaf"), "v2"),
		},
		{
			name: "another version in the annotation", registered: []client.Object{fixtureOf("leaf")}, stem: needsOld,
			old: versioned(addOn("leaf"), "1.0"), updated: versioned(addOn("leaf"), "2.0"),
			refuses: strings.Replace(stemBreaks, "its AddOnTemplate", "its ManagedClusterAddOn", 1) + adviceOnChange,
		},
		{
			name: "another version in the annotation, where its agent reports one", registered: []client.Object{fixtureOf("leaf")}, stem: needsOld,
			objects: []client.Object{cluster(), reportedOf("leaf", "1.0")},
			old:     versioned(addOn("leaf"), "1.0"), updated: versioned(addOn("leaf"), "2.0"),
		},
		{
			name: "the one before", registered: []client.Object{&leaf}, stem: needsOld,
			old: fromTemplate(addOn("leaf"), "v2"), updated: fromTemplate(addOn("leaf"), "v1"),
		},
		{
			name: "both are wrong", registered: []client.Object{&leaf}, stem: `dependencies: [{name: leaf, version: "> 3"}]`,
			old: fromTemplate(addOn("leaf"), "v1"), updated: fromTemplate(addOn("leaf"), "v2"),
		},
	} {
		test.registered = append(test.registered, templates...)
		t.Run(test.name, test.run)
	}
}
