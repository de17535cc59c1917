package crash

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/test/setup/ocmsuite"
)

const (
	manual = "{type: Manual}"
	// approved lets Interlock install and remove an add-on on the managed clusters of all runs.
	approved = addonv1alpha1.ApproveInstallAnnotation + `: "1000", ` + addonv1alpha1.ApproveRemovalAnnotation + `: "1000"`
	onDemand = approved + ", " + addonv1alpha1.InstallOnDemandAnnotation + `: "true"`
)

// addOn returns the manifest of an add-on on a managed cluster, with further metadata.
func addOn(name, metadata string) string {
	return "{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ManagedClusterAddOn, metadata: {name: " + name +
		", namespace: CLUSTER" + metadata + "}, spec: {}}"
}

// registration returns the manifest of a ClusterManagementAddOn. Its annotations, its install strategy and the other fields of its spec
// are YAML.
func registration(name, annotations, strategy, spec string) string {
	return fmt.Sprintf(`{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ClusterManagementAddOn,
		metadata: {name: %s, annotations: {%s}}, spec: {installStrategy: %s, %s}}`, name, annotations, strategy, spec)
}

// registering returns a function that creates registrations and other objects.
func registering(manifests ...string) func(context.Context) {
	return func(ctx context.Context) {
		GinkgoHelper()
		ocmsuite.Create(ctx, hub, strings.Join(manifests, "\n---\n"))
	}
}

// consentManifests returns the Placements by which the owner of an add-on lets Interlock install it by label, and the registration with
// these Placements.
func consentManifests(name string) []string {
	var manifests, references []string
	for _, placement := range []string{name + "-1", name + "-2"} {
		manifests = append(manifests, `{apiVersion: cluster.open-cluster-management.io/v1beta1, kind: Placement,
			metadata: {name: `+placement+`, namespace: places}, spec: {tolerations: [{operator: Exists}], predicates: [{requiredClusterSelector:
			{labelSelector: {matchExpressions: [{key: `+catalog.InstallLabel(name)+`, operator: Exists}]}}}]}}`)
		references = append(references, "{namespace: places, name: "+placement+"}")
	}
	strategy := "{type: Placements, placements: [" + strings.Join(references, ", ") + "]}"
	return append(manifests, registration(name, approved, strategy, "dependencies: []"))
}

// auto returns a Required edge on an add-on that Interlock installs, and removes with its last dependent.
func auto(name string) string {
	return "dependencies: [{name: " + name + ", install: Auto, removal: WithLastDependent}]"
}

// sealing registers an add-on, and another one that has it installed with a sealed variable.
func sealing(prefix string) func(context.Context) {
	return registering(
		registration(prefix+"-base", onDemand, manual,
			"supportedConfigs: [{group: addon.open-cluster-management.io, resource: addondeploymentconfigs}]"),
		registration(prefix+"-leaf", "", manual, "dependencies: [{name: "+prefix+"-base, install: Auto, "+
			"settings: {policy: Seal, variables: [{name: mode, value: grpc}]}}]"),
	)
}

// waitingTemplate completes a scenario of an add-on whose first AddOnTemplate runs. Its second one waits for an add-on that is not
// installed.
func waitingTemplate(prefix string, s scenario) scenario {
	template := func(name, annotations string) string {
		return fmt.Sprintf(`{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: AddOnTemplate, metadata: {name: %s,
			annotations: {%s}}, spec: {addonName: %s, agentSpec: {workload: {manifests: [{apiVersion: v1, kind: ConfigMap,
			metadata: {name: %s, namespace: default}}]}}, registration: []}}`, name, annotations, prefix+"-leaf", name)
	}
	first, second := prefix+"-leaf-1", prefix+"-leaf-2"
	s.register = registering(
		template(first, ""),
		template(second, fmt.Sprintf("%s: '[{name: %s-base}]'", addonv1alpha1.TemplateDependenciesAnnotation, prefix)),
		registration(prefix+"-base", "", manual, "dependencies: []"),
		registration(prefix+"-leaf", "", manual, fmt.Sprintf(`ordering: InstallAndUpgrade, dependencies: [],
			supportedConfigs: [{group: addon.open-cluster-management.io, resource: addontemplates, defaultConfig: {name: %s}}]`, first)),
	)
	s.installed = []string{addOn(prefix+"-leaf", "")}
	s.change, s.afterInstalled = configure(prefix+"-leaf", second), "add-on "+prefix+"-leaf has Upgradable=True"
	s.prepared = "add-on " + prefix + "-leaf has Upgradable=False"
	return s
}

// scenarios returns the entries of the table.
func scenarios() []TableEntry {
	return []TableEntry{
		entry("installs on demand", scenario{
			register: registering(
				registration("i-base", onDemand, manual, "dependencies: []"),
				registration("i-mid", onDemand, manual, auto("i-base")),
				registration("i-leaf", "", manual, auto("i-mid")),
			),
			act:   install(addOn("i-leaf", "")),
			final: []string{"installation i-base is Installed", "installation i-mid is Installed"},
		}),
		entry("installs by label", scenario{
			register: registering(append(consentManifests("l-base"), registration("l-leaf", "", manual, auto("l-base")))...),
			act:      install(addOn("l-leaf", "")),
			final:    []string{"installation l-base is Installed"},
		}),
		entry("removes with the last dependent", scenario{
			register: registering(
				registration("r-base", onDemand, manual, "dependencies: []"),
				registration("r-leaf", "", manual, auto("r-base")),
			),
			installed: []string{addOn("r-leaf", "")},
			prepared:  "installation r-base is Installed",
			act:       uninstall("r-leaf"),
			final:     []string{"deleted r-base"},
		}),
		entry("removes by label", scenario{
			register:  registering(append(consentManifests("w-base"), registration("w-leaf", "", manual, auto("w-base")))...),
			installed: []string{addOn("w-leaf", "")},
			prepared:  "installation w-base is Installed",
			act:       uninstall("w-leaf"),
			final:     []string{"deleted w-base"},
		}),
		entry("keeps an add-on that another one uses", scenario{
			register: registering(
				registration("u-base", onDemand, manual, "dependencies: []"),
				registration("u-leaf", "", manual, auto("u-base")),
				registration("u-user", "", manual, "dependencies: [{name: u-base, type: Optional}, {name: u-leaf, type: Optional}]"),
			),
			installed: []string{addOn("u-user", ""), addOn("u-leaf", "")},
			prepared:  "installation u-base is Installed",
			act:       uninstall("u-leaf"),
			final:     []string{"add-on u-user has Degraded=True"},
		}),
		entry("sets settings", scenario{
			register: registering(
				`{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: AddOnDeploymentConfig, metadata: {name: s-base, namespace: places},
				 spec: {agentInstallNamespace: of-the-default, customizedVariables: [{name: level, value: low}]}}`,
				registration("s-base", onDemand, manual, `supportedConfigs: [{group: addon.open-cluster-management.io,
					resource: addondeploymentconfigs, defaultConfig: {name: s-base, namespace: places}}]`),
				registration("s-leaf", "", manual, `dependencies: [{name: s-base, install: Auto,
					settings: {policy: Seal, variables: [{name: mode, value: grpc}]}}]`),
			),
			act:   install(addOn("s-leaf", "")),
			final: []string{"installation s-base is Installed", "settings interlock-s-base"},
		}),
		entry("keeps settings for which there is no request yet", scenario{
			register: registering(registration("k-base", "", manual, `supportedConfigs: [{group: addon.open-cluster-management.io,
				resource: addondeploymentconfigs}]`)),
			act: install(strings.Replace(addOn("k-base", ""), "spec: {}", `spec: {configs: [{group: addon.open-cluster-management.io,
				resource: addondeploymentconfigs, namespace: CLUSTER, name: interlock-k-base}]}`, 1)),
			final: []string{"settings interlock-k-base"},
		}),
		entry("puts sealed settings back", scenario{
			register:  sealing("e"),
			installed: []string{addOn("e-leaf", "")},
			prepared:  "settings interlock-e-base, undone 0 times",
			act:       setMode("e-base"),
			final:     []string{"settings interlock-e-base, undone 1 times, given up false"},
		}),
		entry("gives up settings that another writer undoes", scenario{
			register:       sealing("v"),
			installed:      []string{addOn("v-leaf", "")},
			afterInstalled: "settings interlock-v-base, undone 0 times",
			change:         setMode("v-base"),
			prepared:       "settings interlock-v-base, undone 1 times, given up false",
			act:            setMode("v-base"),
			final:          []string{"settings interlock-v-base, undone 2 times, given up true"},
		}),
		entry("opens a gate", scenario{
			register: registering(
				registration("g-base", "", manual, "dependencies: []"),
				registration("g-leaf", "", manual, "ordering: Install, dependencies: [{name: g-base}]"),
			),
			installed: []string{addOn("g-leaf", ", annotations: {"+addonv1alpha1.GateAnnotation+": closed}")},
			prepared:  "add-on g-leaf has Installable=False",
			act:       install(addOn("g-base", "")),
			final:     []string{`gate "open"`, "add-on g-leaf has Installable=True"},
		}),
		entry("lets a waiting AddOnTemplate pass", waitingTemplate("t", scenario{
			act:   install(addOn("t-base", "")),
			final: []string{"add-on t-leaf has Upgradable=True", `add-on t-leaf runs "t-leaf-2"`},
		})),
		entry("lets go of a waiting AddOnTemplate that OCM is not to roll out any more", waitingTemplate("b", scenario{
			act:   configure("b-leaf", "b-leaf-1"),
			final: []string{"add-on b-leaf has Upgradable=True", `add-on b-leaf runs "b-leaf-1"`},
		})),
		entry("removes in order", scenario{
			register: registering(
				registration("o-base", "", manual, "ordering: Install, dependencies: []"),
				registration("o-leaf", "", manual, "ordering: Install, dependencies: [{name: o-base}]"),
			),
			installed: []string{
				addOn("o-base", ", finalizers: ["+addonv1alpha1.WaitForDependentsFinalizer+"]"),
				addOn("o-leaf", ", finalizers: ["+addonv1alpha1.WaitForDependentsFinalizer+"]"),
			},
			prepared: "add-on o-base has Available=True",
			act:      uninstall("o-base", "o-leaf"),
			final:    []string{"deleted o-base", "deleted o-leaf"},
		}),
		entry("reports a chain, and a bundle", scenario{
			register: registering(
				registration("c-base", "", manual, "dependencies: []"),
				registration("c-mid", "", manual, "dependencies: [{name: c-base}]"),
				registration("c-leaf", "", manual, "dependencies: [{name: c-mid}]"),
				registration("c-unit", addonv1alpha1.BundleAnnotation+`: "true"`, manual, "dependencies: [{name: c-leaf}]"),
			),
			installed: []string{
				addOn("c-base", ""), addOn("c-mid", ""), addOn("c-leaf", ""), addOn("c-unit", ", annotations: {"+withoutAgent+`: "true"}`),
			},
			prepared: "add-on c-unit has Available=True",
			act:      uninstall("c-base"),
			final:    []string{"add-on c-unit has Available=False", "add-on c-unit has Degraded=True"},
		}),
	}
}

func entry(does string, s scenario) TableEntry { return Entry(does, NodeTimeout(15*time.Minute), s) }
