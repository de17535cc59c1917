package dependency

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/condition/whatif"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/installation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
	"open-cluster-management.io/interlock/test/fixture"
)

// example is an example from the documentation of KUDO, Carvel or Helm, converted to add-ons.
type example struct {
	// addOns are the declarations by add-on. The dependencies of the add-on dependent are evaluated.
	addOns    map[string]string
	dependent string
	policy    string
	// installed are the add-ons on the managed cluster with their versions, without the dependent. config has its settings.
	installed map[string]string
	config    map[string]string
	cluster   evaluation.Cluster
	// verdicts are the verdicts on the dependencies, installs the add-ons to install, and wishes their settings.
	verdicts, installs, wishes string
}

func (e example) run(t *testing.T) {
	for name := range e.config {
		if !variableName.MatchString(name) {
			t.Errorf("OCM has no variable %q", name)
		}
	}
	declared, observations := e.declared(t), e.observations()
	state := declared.State(e.dependent, e.cluster, func(name string) evaluation.Observation { return observations[name] })
	var verdicts, wishes []string
	findings := declared.Evaluate(e.dependent, state)
	for i := range findings {
		verdicts = append(verdicts, fmt.Sprintf("%s=%s", findings[i].Name(), findings[i].Verdict))
		wished, _ := findings[i].Settings()
		for _, variable := range wished {
			if variable.Problem == "" {
				wishes = append(wishes, fmt.Sprintf("%s:%s=%s", findings[i].Name(), variable.Name, variable.Value))
			}
		}
	}
	for _, compared := range []struct{ subject, want, got string }{
		{"verdicts", e.verdicts, strings.Join(verdicts, " ")},
		{"installs", e.installs, strings.Join(installation.Needed(declared.Catalog, findings), " ")},
		{"wishes", e.wishes, strings.Join(wishes, " ")},
	} {
		if diff := cmp.Diff(compared.want, compared.got); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", compared.subject, diff)
		}
	}
}

func (e example) declared(t *testing.T) *evaluation.Evaluator {
	t.Helper()
	var registrations []addonv1alpha1.ClusterManagementAddOn
	for name, spec := range e.addOns {
		registrations = append(registrations, fixture.Specified(t, name, spec))
	}
	var policies []dependencyv1alpha1.AddOnDependencyPolicy
	if e.policy != "" {
		policies = append(policies, fixture.Policy(t, "install", e.policy))
	}
	return evaluation.New(catalog.New(registrations).WithPolicies(policy.Read(policies)))
}

// variableName is the pattern of OCM's CRD of AddOnDeploymentConfigs.
var variableName = regexp.MustCompile("^[a-zA-Z_][_a-zA-Z0-9]*$")

func (e example) observations() map[string]evaluation.Observation {
	observations := map[string]evaluation.Observation{e.dependent: {Name: e.dependent, Installed: true, Config: e.config}}
	for name, version := range e.installed {
		observations[name] = evaluation.Observation{
			Name: name, Installed: true, Available: fixture.Available(metav1.ConditionTrue, ""), Version: version,
		}
	}
	return observations
}

func TestKUDOExamples(t *testing.T) {
	kafka := map[string]string{
		"kafka": `{dependencies: [{name: zookeeper, version: 0.3.0, install: Auto, settings: {variables: [
			{name: NODE_COUNT, valueFrom: "config[?'ZOOKEEPER_NODES'].orValue('3')"}]}}]}`, "zookeeper": "{}",
	}
	parent := func(variable string) map[string]string {
		return map[string]string{
			"parent": "{dependencies: [{name: child, install: Auto, settings: {variables: [{name: USERNAME, " + variable + "}]}}]}", "child": "{}",
		}
	}
	required := parent(`valueFrom: "config[?'CHILD_USERNAME']", required: true`)
	for name, test := range map[string]example{
		"Kafka brings ZooKeeper": {
			addOns: kafka, dependent: "kafka", verdicts: "zookeeper=NotInstalled", installs: "zookeeper", wishes: "zookeeper:NODE_COUNT=3",
		},
		"Kafka's parameters are those of ZooKeeper": {
			addOns: kafka, dependent: "kafka", config: map[string]string{"ZOOKEEPER_NODES": "5"}, verdicts: "zookeeper=NotInstalled",
			installs: "zookeeper", wishes: "zookeeper:NODE_COUNT=5",
		},
		"an existing ZooKeeper is used": {
			addOns: kafka, dependent: "kafka", installed: map[string]string{"zookeeper": "0.3.0"}, verdicts: "zookeeper=Satisfied",
			wishes: "zookeeper:NODE_COUNT=3",
		},
		"a ZooKeeper that is incompatible is reported, and not replaced": {
			addOns: kafka, dependent: "kafka", installed: map[string]string{"zookeeper": "0.4.0"}, verdicts: "zookeeper=VersionMismatch",
			wishes: "zookeeper:NODE_COUNT=3",
		},
		"install parent": {addOns: required, dependent: "parent", verdicts: "child=NotInstalled"},
		"install parent -p CHILD_USERNAME=secret": {
			addOns: required, dependent: "parent", config: map[string]string{"CHILD_USERNAME": "secret"}, verdicts: "child=NotInstalled",
			installs: "child", wishes: "child:USERNAME=secret",
		},
		"a sensible default": {
			addOns: parent(`valueFrom: "config[?'CHILD_USERNAME'].orValue('admin')", required: true`), dependent: "parent",
			verdicts: "child=NotInstalled", installs: "child", wishes: "child:USERNAME=admin",
		},
		"the username is not exposed": {
			addOns: parent("value: admin"), dependent: "parent", config: map[string]string{"CHILD_USERNAME": "secret"},
			verdicts: "child=NotInstalled", installs: "child", wishes: "child:USERNAME=admin",
		},
	} {
		t.Run(name, test.run)
	}
}

// An operator and all that it depends on are installed, and removed, as one unit.
func TestKUDOUnit(t *testing.T) {
	e := example{dependent: "flink-demo", addOns: map[string]string{
		"flink-demo": "{dependencies: [{name: flink}, {name: kafka}]}", "flink": "{dependencies: [{name: zookeeper}]}",
		"kafka": "{dependencies: [{name: zookeeper}]}", "zookeeper": "{}",
	}}
	declared, cluster := e.declared(t), whatif.Cluster{Cluster: evaluation.Cluster{Name: "c", Available: metav1.ConditionTrue}}
	layers := func(plan *steps.Plan) (lines []string) {
		for _, layer := range plan.Layers {
			var names []string
			for _, step := range layer {
				names = append(names, step.AddOn)
			}
			lines = append(lines, strings.Join(names, " "))
		}
		return lines
	}
	install := steps.Install(declared, steps.Installation{AddOns: []string{e.dependent}}, []steps.Cluster{{Cluster: cluster}})
	if diff := cmp.Diff([]string{"zookeeper", "flink kafka", "flink-demo"}, layers(install)); diff != "" {
		t.Errorf("installed: -want, +got:\n%s", diff)
	}
	e.installed = map[string]string{"flink": "", "kafka": "", "zookeeper": ""}
	cluster.AddOns = e.observations()
	remove := steps.Remove(declared, steps.Removal{AddOns: []string{e.dependent}, Unit: true}, []steps.Cluster{{
		Cluster: cluster, Owned: sets.New("flink", "kafka", "zookeeper"),
	}})
	if diff := cmp.Diff([]string{"flink-demo", "flink kafka", "zookeeper"}, layers(remove)); diff != "" {
		t.Errorf("removed: -want, +got:\n%s", diff)
	}
}

func TestCarvelExamples(t *testing.T) {
	api := addonv1alpha1.AddonAPI{Group: "some.api.com", Version: "v1", Kind: "MainApi"}
	serving := func(status metav1.ConditionStatus) (cluster evaluation.Cluster) {
		cluster.Facts.APIs = evaluation.APIFacts{api: {Served: status}}
		return cluster
	}
	pkg := func(managedBy string) map[string]string {
		return map[string]string{
			"pkg": "{dependencies: [{name: dep1, addOn: pkg1, version: ~1.0.0, " + managedBy + "}, {name: dep3, addOn: pkg3, version: 0.1.0, " +
				managedBy + ", settings: {variables: [{name: valuesSecret, value: pkg3.dev-values}]}}]}",
			"pkg1": "{}", "pkg3": "{}",
		}
	}
	user := map[string]string{
		"pkg":  "{dependencies: [{name: dep1, addOn: pkg1, version: ~1.0.0}, {name: dep3, addOn: pkg3, version: 0.1.0}]}",
		"pkg1": "{}", "pkg3": "{}",
	}
	gvk := map[string]string{
		"pkg":      "{dependencies: [{name: dep2, api: {group: some.api.com, version: v1, kind: MainApi}, install: Auto}]}",
		"provider": "{provides: [{group: some.api.com, version: v1, kind: MainApi}]}",
	}
	const values = "dep3:valuesSecret=pkg3.dev-values"
	for name, test := range map[string]example{
		"OwnedPackageInstall: managedBy Auto, with values": {
			addOns: pkg("install: Auto"), dependent: "pkg", verdicts: "dep1=NotInstalled dep3=NotInstalled", installs: "pkg1 pkg3", wishes: values,
		},
		"managedBy User": {addOns: user, dependent: "pkg", verdicts: "dep1=NotInstalled dep3=NotInstalled"},
		"FoundPackageInstall": {
			addOns: pkg("install: Auto"), dependent: "pkg", installed: map[string]string{"pkg1": "1.0.7"},
			verdicts: "dep1=Satisfied dep3=NotInstalled", installs: "pkg3", wishes: values,
		},
		"FoundPackageInstallRequiresDifferentVersion": {
			addOns: pkg("install: Auto"), dependent: "pkg", installed: map[string]string{"pkg1": "0.1.1", "pkg3": "0.1.0"},
			verdicts: "dep1=VersionMismatch dep3=Satisfied", wishes: values,
		},
		"override": {
			addOns: user, dependent: "pkg", installed: map[string]string{"pkg1": "1.0.0", "pkg3": "0.1.0"},
			policy: "{overrides: [{addOn: pkg, dependency: dep1, version: 1.0.1}]}", verdicts: "dep1=VersionMismatch dep3=Satisfied",
		},
		"override of another version range": {
			addOns: user, dependent: "pkg", installed: map[string]string{"pkg1": "4.0.0", "pkg3": "0.1.0"},
			policy: "{overrides: [{addOn: pkg, dependency: dep1, version: '>= 4.0.0'}]}", verdicts: "dep1=Satisfied dep3=Satisfied",
		},
		"ExistingGVK": {addOns: gvk, dependent: "pkg", cluster: serving(metav1.ConditionTrue), verdicts: "dep2=Satisfied"},
		"automatic search of the package that provides a GVK": {
			addOns: gvk, dependent: "pkg", cluster: serving(metav1.ConditionFalse), verdicts: "dep2=APINotServed", installs: "provider",
		},
	} {
		t.Run(name, test.run)
	}
}

func TestHelmExamples(t *testing.T) {
	chart := func(dependency string) map[string]string {
		return map[string]string{"a": "{dependencies: [{name: b, install: Auto, " + dependency + "}]}", "b": "{}", "c": "{}"}
	}
	conditional := chart(
		`when: {expression: "config[?'b_enabled'].orValue(config[?'global_b_enabled'].orValue('true')) == 'true'"}`)
	// As Helm has it, a dependency with tags is enabled, unless some are false and none is true.
	tagged := chart(`when: {expression: "['front_end', 'b'].exists(tag, config[?'tags_' + tag].orValue('') == 'true') || ` +
		`!['front_end', 'b'].exists(tag, config[?'tags_' + tag].orValue('') == 'false')"}`)
	for name, test := range map[string]example{
		"values of a subchart": {
			addOns: chart(`settings: {variables: [{name: port, value: "8080"}]}`), dependent: "a", verdicts: "b=NotInstalled", installs: "b",
			wishes: "b:port=8080",
		},
		"values of the top chart, prefixed with the dependency": {
			addOns: chart(`settings: {variables: [{name: port, valueFrom: "config[?'b_port']"}]}`), dependent: "a",
			config: map[string]string{"b_port": "9090"}, verdicts: "b=NotInstalled", installs: "b", wishes: "b:port=9090",
		},
		"condition: b.enabled, global.b.enabled": {addOns: conditional, dependent: "a", verdicts: "b=NotInstalled", installs: "b"},
		"--set b.enabled=false": {
			addOns: conditional, dependent: "a", config: map[string]string{"b_enabled": "false"}, verdicts: "b=NotApplicable",
		},
		"--set global.b.enabled=false": {
			addOns: conditional, dependent: "a", config: map[string]string{"global_b_enabled": "false"}, verdicts: "b=NotApplicable",
		},
		"the first path of a condition counts": {
			addOns: conditional, dependent: "a", config: map[string]string{"b_enabled": "true", "global_b_enabled": "false"},
			verdicts: "b=NotInstalled", installs: "b",
		},
		"tags: [front-end, b]": {addOns: tagged, dependent: "a", verdicts: "b=NotInstalled", installs: "b"},
		"--set tags.front-end=false": {
			addOns: tagged, dependent: "a", config: map[string]string{"tags_front_end": "false"}, verdicts: "b=NotApplicable",
		},
		"--set tags.front-end=false --set tags.b=true": {
			addOns: tagged, dependent: "a", config: map[string]string{"tags_front_end": "false", "tags_b": "true"},
			verdicts: "b=NotInstalled", installs: "b",
		},
		"alias": {
			addOns:    map[string]string{"a": "{dependencies: [{name: b}, {name: second, addOn: b, type: Optional}]}", "b": "{}"},
			dependent: "a", installed: map[string]string{"b": ""}, verdicts: "b=Satisfied second=Satisfied",
		},
	} {
		t.Run(name, test.run)
	}
}

// import-values of Helm: a dependency gets a value of another dependency.
func TestHelmImportValues(t *testing.T) {
	e := example{dependent: "a", addOns: map[string]string{
		"a": `{dependencies: [{name: b, install: Auto, settings: {variables: [{name: port, valueFrom: "dependencies['c'].config[?'port']"}]}},
			{name: c}]}`, "b": "{}", "c": "{}",
	}}
	declared, observations := e.declared(t), e.observations()
	observations["c"] = evaluation.Observation{
		Name: "c", Installed: true, Available: fixture.Available(metav1.ConditionTrue, ""), Config: map[string]string{"port": "80"},
	}
	state := declared.State("a", e.cluster, func(name string) evaluation.Observation { return observations[name] })
	wished, ok := declared.Evaluate("a", state)[0].Settings()
	if !ok || len(wished) != 1 || wished[0].Value != "80" {
		t.Errorf("wishes %v", wished)
	}
}
