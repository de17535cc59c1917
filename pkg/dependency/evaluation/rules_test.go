package evaluation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/fixture"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
)

type beyondCase struct {
	reason  string
	spec    string // of x
	others  []addonv1alpha1.ClusterManagementAddOn
	cluster evaluation.Cluster
	addOns  map[string]evaluation.Observation
	want    string
	message string
}

func (tc beyondCase) run(t *testing.T) {
	t.Helper()
	x := fixture.Specified(t, "x", tc.spec)
	if problems := declaration.Read(&x).Problems; len(problems) > 0 {
		t.Fatalf("%s: %v", tc.reason, problems)
	}
	c := evaluator(append(tc.others, x))
	findings := c.Evaluate("x", c.State("x", tc.cluster, func(addOn string) evaluation.Observation { return tc.addOns[addOn] }))
	if got := verdicts(findings); got != tc.want {
		t.Errorf("%s: got %s, want %s", tc.reason, got, tc.want)
	}
	if diff := cmp.Diff(tc.message, condition.Message(findings, condition.MaxMessage)); diff != "" {
		t.Errorf("%s: message -want, +got:\n%s", tc.reason, diff)
	}
}

const howTo = "set the annotation dependency.addon.open-cluster-management.io/version on the lease of its agent, on its AddOnTemplate, on its ManagedClusterAddOn or on its ClusterManagementAddOn"

func TestVersions(t *testing.T) {
	const (
		spec     = `dependencies: [{name: a, version: ">= 0.6.0 < 1.0.0", message: No tokens}]`
		sentence = "Required addon 'a' is not installed or not available in version '>= 0.6.0 < 1.0.0'. No tokens "
		missing  = "Required addon 'a' is not installed or not available. No tokens "
	)
	asked := time.Unix(1000, 0)
	reported := func(version string) evaluation.Facts {
		return evaluation.Facts{Versions: map[string]evaluation.VersionFact{"a": {Version: version}}}
	}
	registered := func(version string) []addonv1alpha1.ClusterManagementAddOn {
		return []addonv1alpha1.ClusterManagementAddOn{fixture.Versioned(fixture.Registration("a"), version)}
	}
	for name, tc := range map[string]beyondCase{
		"Match": {"the annotation of the ManagedClusterAddOn", spec, nil, evaluation.Cluster{}, map[string]evaluation.Observation{"a": running("v0.6.1")}, "a=Satisfied", ""},
		"Mismatch": {
			"in the proposal's words, with the version and whence it is", spec, nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{"a": running("0.5.0")},
			"a=VersionMismatch", sentence + "(version 0.5.0 from its ManagedClusterAddOn)",
		},
		"Prerelease": {
			"the finding says what to do about it", spec, nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{"a": running("0.7.0-rc.1")},
			"a=VersionMismatch", sentence + "(version 0.7.0-rc.1 from its ManagedClusterAddOn: prereleases are not accepted)",
		},
		"LeaseFirst": {
			"what runs counts, not what was to run", spec, registered("0.9.0"),
			evaluation.Cluster{Facts: reported("0.5.9")},
			map[string]evaluation.Observation{"a": running("0.6.0")},
			"a=VersionMismatch", sentence + "(version 0.5.9 from its agent's lease)",
		},
		"RegistrationLast": {"the annotation of the ClusterManagementAddOn", spec, registered("0.6.0"), evaluation.Cluster{}, map[string]evaluation.Observation{"a": running("")}, "a=Satisfied", ""},
		"Unknown": {
			"nobody says it, and how to say it", spec, registered(""),
			evaluation.Cluster{Facts: reported("")},
			map[string]evaluation.Observation{"a": running("")},
			"a=VersionUnknown", sentence + "(version not known: " + howTo + ")",
		},
		"UnknownAsNoAnswer": {
			"an old agent does not answer", spec, nil,
			evaluation.Cluster{Facts: evaluation.Facts{Asked: asked}, Now: asked.Add(evaluation.AnswerTime)},
			map[string]evaluation.Observation{"a": running("")},
			"a=VersionUnknown", sentence + "(version not known: the managed cluster's addon-agent has not answered; " + howTo + ")",
		},
		"HeldForAnAnswer": {
			"an agent that runs answers soon", spec, nil,
			evaluation.Cluster{Facts: evaluation.Facts{Asked: asked}, Now: asked.Add(evaluation.AnswerTime - 1)},
			map[string]evaluation.Observation{"a": running("0.1.0")},
			"a=Held", "",
		},
		"RequestedWhileAway": {
			"the time counts from the return of the cluster", spec, nil,
			evaluation.Cluster{Available: "True", Offline: evaluation.OfflineHold, Facts: evaluation.Facts{Asked: asked}, Back: asked.Add(time.Hour), Now: asked.Add(time.Hour)},
			map[string]evaluation.Observation{"a": running("0.1.0")},
			"a=Held", "",
		},
		"AgentMayReport": {
			"another source does not count while the first may be back", spec, nil,
			evaluation.Cluster{Available: "True", Offline: evaluation.OfflineHold, Facts: evaluation.Facts{HeldUntil: asked.Add(1)}, Now: asked},
			map[string]evaluation.Observation{"a": running("0.6.0")},
			"a=Held", "",
		},
		"AgentDoesNotReport": {
			"the next source counts", spec, nil,
			evaluation.Cluster{Facts: evaluation.Facts{Versions: map[string]evaluation.VersionFact{"a": {Message: "no agent"}}}},
			map[string]evaluation.Observation{"a": running("0.6.0")},
			"a=Satisfied", "",
		},
		"AgentDoesNotReportNorAnother": {
			"the finding explains why", spec, nil,
			evaluation.Cluster{Facts: evaluation.Facts{Versions: map[string]evaluation.VersionFact{"a": {Message: "no agent"}}}},
			map[string]evaluation.Observation{"a": running("")},
			"a=VersionUnknown", sentence + "(version not known: no agent; " + howTo + ")",
		},
		"NotHeldWhenItMatches": {"what is said elsewhere is enough meanwhile", spec, nil, evaluation.Cluster{Facts: evaluation.Facts{Asked: asked}, Now: asked}, map[string]evaluation.Observation{"a": running("0.6.0")}, "a=Satisfied", ""},
		"NoVersion": {
			"a word is no version", spec, nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{"a": running("latest")},
			"a=VersionUnknown", sentence + "(version latest from its ManagedClusterAddOn: it is no semantic version)",
		},
		"NotInstalled": {"first it must be there", spec, nil, evaluation.Cluster{}, nil, "a=NotInstalled", missing + "(not installed)"},
		"NotAvailable": {
			"then available", spec, nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{"a": {Installed: true, Version: "0.1.0"}},
			"a=NotAvailable", missing + "(Available not reported yet)",
		},
		"AnyKnown":   {"any version", `dependencies: [{name: a, version: "*"}]`, nil, evaluation.Cluster{}, map[string]evaluation.Observation{"a": running("0.1.0-rc.1")}, "a=Satisfied", ""},
		"AnyUnknown": {"one that is not known too", `dependencies: [{name: a, version: "*"}]`, nil, evaluation.Cluster{}, map[string]evaluation.Observation{"a": running("")}, "a=Satisfied", ""},
		"Lost": {
			"a lost cluster says nothing new", spec, nil,
			evaluation.Cluster{Available: metav1.ConditionUnknown, Offline: evaluation.OfflineHold},
			map[string]evaluation.Observation{"a": running("0.1.0")},
			"a=Held", "",
		},
		"Alias": {
			"two edges on one add-on, by its own name", `
dependencies:
- {name: cluster-proxy, version: ">= 1.0", message: Clusters are unreachable}
- {name: multiplexing, addOn: cluster-proxy, type: Optional, version: ">= 2.0", message: Tunnels are slow}`,
			nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{"cluster-proxy": running("1.4.0")},
			"cluster-proxy=Satisfied multiplexing=VersionMismatch",
			"Optional addon 'cluster-proxy' is not installed or not available in version '>= 2.0'. Tunnels are slow (version 1.4.0 from its ManagedClusterAddOn)",
		},
		"CarvelTwoVersions": {
			"Carvel, Dependency Resolution in KC: microservice-v1 and -v2 on pkg5", `
dependencies:
- {name: microservice-v2, addOn: pkg5.test.carvel.dev, version: 0.2.0}
- {name: microservice-v1, addOn: pkg5.test.carvel.dev, version: 0.1.0}`,
			nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{"pkg5.test.carvel.dev": running("0.2.0")},
			"microservice-v2=Satisfied microservice-v1=VersionMismatch",
			"Required addon 'pkg5.test.carvel.dev' is not installed or not available in version '0.1.0'. (version 0.2.0 from its ManagedClusterAddOn)",
		},
	} {
		t.Run(name, tc.run)
	}
}

func TestVersionsOfTemplates(t *testing.T) {
	const (
		spec     = `dependencies: [{name: a, version: ">= 0.6.0"}]`
		sentence = "Required addon 'a' is not installed or not available in version '>= 0.6.0'. "
	)
	templated := func(runs, rollingOut, annotated string) map[string]evaluation.Observation {
		observed := running(annotated)
		observed.Template = versions.Templates{Running: runs, RollingOut: rollingOut}
		return map[string]evaluation.Observation{"a": observed}
	}
	unread := func(annotated string) map[string]evaluation.Observation {
		observed := running(annotated)
		observed.Template.Unknown = true
		return map[string]evaluation.Observation{"a": observed}
	}
	lease := func(fact evaluation.VersionFact) evaluation.Cluster {
		return evaluation.Cluster{Facts: evaluation.Facts{Versions: map[string]evaluation.VersionFact{"a": fact}}}
	}
	former := []addonv1alpha1.ClusterManagementAddOn{fixture.Registration("a")}
	former[0].Annotations = map[string]string{addonv1alpha1.FormerVersionAnnotation: "0.7.0"}
	for name, tc := range map[string]beyondCase{
		"Match":    {"the template that runs comes before the annotation", spec, nil, evaluation.Cluster{}, templated("0.6.0", "", "0.5.0"), "a=Satisfied", ""},
		"Mismatch": {"and names itself", spec, nil, evaluation.Cluster{}, templated("0.5.0", "", "0.6.0"), "a=VersionMismatch", sentence + "(version 0.5.0 from its AddOnTemplate)"},
		"Rollout": {
			"what is about to run does not count yet", spec, nil,
			evaluation.Cluster{},
			templated("0.5.0", "0.6.0", ""),
			"a=VersionMismatch", sentence + "(version 0.5.0 from its AddOnTemplate; 0.6.0 is being rolled out)",
		},
		"RolloutOfAPrerelease": {
			"the reason belongs to the version that runs", spec, nil,
			evaluation.Cluster{},
			templated("0.7.0-rc.1", "0.7.0", ""),
			"a=VersionMismatch", sentence + "(version 0.7.0-rc.1 from its AddOnTemplate: prereleases are not accepted; 0.7.0 is being rolled out)",
		},
		"Lease": {"the lease comes first", spec, nil, lease(evaluation.VersionFact{Version: "0.6.0"}), templated("0.5.0", "", ""), "a=Satisfied", ""},
		"FormerLease": {
			"its former key comes last", spec, nil,
			lease(evaluation.VersionFact{Version: "0.6.0", Former: true}), templated("0.5.0", "", ""),
			"a=VersionMismatch", sentence + "(version 0.5.0 from its AddOnTemplate)",
		},
		"FormerLeaseAlone":   {"but counts", spec, nil, lease(evaluation.VersionFact{Version: "0.6.0", Former: true}), templated("", "", ""), "a=Satisfied", ""},
		"FormerAddOn":        {"as on the ManagedClusterAddOn", spec, nil, evaluation.Cluster{}, map[string]evaluation.Observation{"a": {Installed: true, Available: fixture.Available(metav1.ConditionTrue, ""), FormerVersion: "0.6.0"}}, "a=Satisfied", ""},
		"FormerRegistration": {"and on the ClusterManagementAddOn", spec, former, evaluation.Cluster{}, templated("", "", ""), "a=Satisfied", ""},
		"Unread":             {"a match is not certain yet", spec, nil, evaluation.Cluster{}, unread("0.6.0"), "a=Held", ""},
		"UnreadMismatch":     {"nor is a mismatch", spec, nil, evaluation.Cluster{}, unread("0.5.0"), "a=Held", ""},
		"UnreadFormerLease":  {"nor a former key", spec, nil, lease(evaluation.VersionFact{Version: "0.6.0", Former: true}), unread(""), "a=Held", ""},
		"UnreadWithLease": {
			"the lease needs no template", spec, nil, lease(evaluation.VersionFact{Version: "0.5.0"}), unread(""),
			"a=VersionMismatch", sentence + "(version 0.5.0 from its agent's lease)",
		},
		"UnreadAny": {"nor does any version", `dependencies: [{name: a, version: "*"}]`, nil, evaluation.Cluster{}, unread(""), "a=Satisfied", ""},
	} {
		t.Run(name, tc.run)
	}
}

// The three examples of optional requirements in the Deckhouse document, and
// those on what may be done to the other module: what admission is to refuse
// is here a state that is unsatisfied.
func TestIfInstalled(t *testing.T) {
	const spec = `dependencies: [{name: test, type: IfInstalled, version: ">v0.22.1"}]`
	down := evaluation.Observation{Installed: true, Available: fixture.Available(metav1.ConditionFalse, ""), Version: "v0.23.0"}
	for name, tc := range map[string]beyondCase{
		"NotEnabled": {"Deckhouse: test is disabled: prometheus will be enabled, the requirement is skipped", spec, nil, evaluation.Cluster{}, nil, "test=Satisfied", ""},
		"OldVersion": {
			"Deckhouse: test v0.21.1 is enabled: a dependency mismatch", spec, nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{"test": running("v0.21.1")},
			"test=VersionMismatch", "Addon 'test' is installed, but not in version '>v0.22.1'. (version v0.21.1 from its ManagedClusterAddOn)",
		},
		"NewVersion": {"Deckhouse: test v0.23.1 meets the requirement", spec, nil, evaluation.Cluster{}, map[string]evaluation.Observation{"test": running("v0.23.1")}, "test=Satisfied", ""},
		"Exact": {
			"Deckhouse: =v0.22.1 !optional, test becomes 0.23.1", `dependencies: [{name: test, type: IfInstalled, version: "=v0.22.1"}]`,
			nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{"test": running("0.23.1")},
			"test=VersionMismatch", "Addon 'test' is installed, but not in version '=v0.22.1'. (version 0.23.1 from its ManagedClusterAddOn)",
		},
		"NotAvailable": {"it works without it, so it works beside one that is down", spec, nil, evaluation.Cluster{}, map[string]evaluation.Observation{"test": down}, "test=Satisfied", ""},
		"Unknown": {
			"nobody can say that it matches", spec, nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{"test": {Installed: true}},
			"test=VersionUnknown", "Addon 'test' is installed, but not in version '>v0.22.1'. (version not known: " + howTo + ")",
		},
	} {
		t.Run(name, tc.run)
	}
	c := evaluator([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "x", spec)})
	got, _ := condition.Decide(nil, c.Evaluate("x", c.State("x", evaluation.Cluster{}, func(string) evaluation.Observation { return running("v0.21.1") })), fixture.Now)
	if got.Reason != requiredReason {
		t.Errorf("it blocks as Required does, got %s", got.Reason)
	}
}

func TestRequirements(t *testing.T) {
	unmet := func(subject, wanted, found string) string {
		return fmt.Sprintf("Required %s '%s' is not met. (%s)", subject, wanted, found)
	}
	kubernetes := func(version string) evaluation.Cluster { return evaluation.Cluster{KubernetesVersion: version} }
	const k = "requirements.kubernetes="
	for name, tc := range map[string]beyondCase{
		"Deckhouse1.28On1.27": {
			"Deckhouse, Kubernetes version: 1.27.0 for >= 1.28", `requirements: {kubernetes: ">= 1.28"}`, nil, kubernetes("v1.27.0"), nil,
			k + "RequirementNotMet", unmet("Kubernetes version", ">= 1.28", "it is v1.27.0"),
		},
		"Deckhouse1.28On1.28": {"Deckhouse, Kubernetes version", `requirements: {kubernetes: ">= 1.28"}`, nil, kubernetes("v1.28.0"), nil, k + "Satisfied", ""},
		"DeckhouseAbove1.29": {
			"Deckhouse, ModuleRelease: 1.29.6 is less than or equal to 1.29", `requirements: {kubernetes: "> 1.29"}`, nil, kubernetes("1.29.6"), nil,
			k + "RequirementNotMet", unmet("Kubernetes version", "> 1.29", "it is 1.29.6"),
		},
		"GKE":     {"a vendor's suffix is no prerelease", `requirements: {kubernetes: ">= 1.31"}`, nil, kubernetes("v1.31.2-gke.100"), nil, k + "Satisfied", ""},
		"K3s":     {"a vendor's suffix is no prerelease", `requirements: {kubernetes: ">= 1.30.4"}`, nil, kubernetes("v1.30.4+k3s1"), nil, k + "Satisfied", ""},
		"EKS":     {"a vendor's suffix is no prerelease", `requirements: {kubernetes: ">= 1.29.8 < 1.30"}`, nil, kubernetes("v1.29.8-eks-a737599"), nil, k + "Satisfied", ""},
		"Release": {"but this is one", `requirements: {kubernetes: ">= 1.31"}`, nil, kubernetes("v1.32.0-rc.1"), nil, k + "RequirementNotMet", unmet("Kubernetes version", ">= 1.31", "it is v1.32.0-rc.1: prereleases are not accepted")},
		"Unreported": {
			"a cluster that has not joined yet", `requirements: {kubernetes: ">= 1.28"}`, nil, kubernetes(""), nil,
			k + "VersionUnknown", unmet("Kubernetes version", ">= 1.28", "not known: the managed cluster has not reported it yet"),
		},
		"DeckhousePlatform": {
			"Deckhouse, platform version: 1.0.0 for >= 1.64", `requirements: {ocm: ">= 1.61"}`, nil,
			evaluation.Cluster{OCMVersion: "1.0.0"},
			nil,
			"requirements.ocm=RequirementNotMet", unmet("Open Cluster Management version of the hub", ">= 1.61", "it is 1.0.0"),
		},
		"OCM":        {"with the commits since", `requirements: {ocm: ">= 1.3"}`, nil, evaluation.Cluster{OCMVersion: "v1.3.0-12-gabcdef0"}, nil, "requirements.ocm=Satisfied", ""},
		"OCMUnknown": {"nobody tells", `requirements: {ocm: ">= 1.3"}`, nil, evaluation.Cluster{}, nil, "requirements.ocm=VersionUnknown", unmet("Open Cluster Management version of the hub", ">= 1.3", "not known: the CRD of ManagedCluster does not tell it")},
		"Claims": {
			"a range, a value, one that is missing, one that is no version, and OCM's own of Kubernetes", `
requirements:
  claims:
    version.openshift.io: ">= 4.14"
    platform.open-cluster-management.io: AWS
    region.open-cluster-management.io: us-east-1
    gpu.example.io: ">= 2"
    kubeversion.open-cluster-management.io: "~1.29.8"
    id.k8s.io: "*"
    zone: ">= 1"`,
			nil,
			evaluation.Cluster{Claims: map[string]string{
				"version.openshift.io": "4.13.9", "platform.open-cluster-management.io": "Azure", "region.open-cluster-management.io": "us-east-1",
				"kubeversion.open-cluster-management.io": "v1.29.8-eks-a737599", "id.k8s.io": "some-id", "zone": "north",
			}},
			nil,
			"requirements.claims[gpu.example.io]=RequirementNotMet requirements.claims[id.k8s.io]=Satisfied requirements.claims[kubeversion.open-cluster-management.io]=Satisfied " +
				"requirements.claims[platform.open-cluster-management.io]=RequirementNotMet requirements.claims[region.open-cluster-management.io]=Satisfied " +
				"requirements.claims[version.openshift.io]=RequirementNotMet requirements.claims[zone]=RequirementNotMet",
			strings.Join([]string{
				unmet("cluster claim 'gpu.example.io'", ">= 2", "the managed cluster has no such claim"),
				unmet("cluster claim 'platform.open-cluster-management.io'", "AWS", "it is Azure"),
				unmet("cluster claim 'version.openshift.io'", ">= 4.14", "it is 4.13.9"),
				unmet("cluster claim 'zone'", ">= 1", "it is north: it is no version"),
			}, separator),
		},
		"ClaimsThatOnlyLookLikeVersions": {
			"a date or an identifier is meant literally, a release with a prerelease is a version", `
requirements:
  claims: {built: 2024-01-31, id: 12345678-1234-4abc, long: 4.14-eus, same: 2024-01-31, release: v1.2.3-rc.1}`, nil,
			evaluation.Cluster{Claims: map[string]string{"built": "2024-02-01", "id": "12345678-9999-4abc", "long": "4.14.2", "same": "2024-01-31", "release": "1.2.3-rc.1"}},
			nil,
			"requirements.claims[built]=RequirementNotMet requirements.claims[id]=RequirementNotMet requirements.claims[long]=RequirementNotMet " +
				"requirements.claims[release]=Satisfied requirements.claims[same]=Satisfied",
			strings.Join([]string{
				unmet("cluster claim 'built'", "2024-01-31", "it is 2024-02-01"),
				unmet("cluster claim 'id'", "12345678-1234-4abc", "it is 12345678-9999-4abc"),
				unmet("cluster claim 'long'", "4.14-eus", "it is 4.14.2"),
			}, separator),
		},
		"WithEdges": {
			"one message, edges and requirements by name", `{dependencies: [{name: z}], requirements: {kubernetes: ">= 1.28"}}`, nil, kubernetes("v1.27.0"), nil,
			"z=NotInstalled " + k + "RequirementNotMet",
			unmet("Kubernetes version", ">= 1.28", "it is v1.27.0") + "; Required addon 'z' is not installed or not available. (not installed)",
		},
	} {
		t.Run(name, tc.run)
	}
}

func TestAPIs(t *testing.T) {
	const (
		spec     = `dependencies: [{name: permission-api, message: Roles are not propagated, api: {group: rbac.open-cluster-management.io, version: v1alpha1, kind: ClusterPermission}}]`
		sentence = "Required API 'ClusterPermission.rbac.open-cluster-management.io/v1alpha1' is not served. Roles are not propagated "
	)
	api := addonv1alpha1.AddonAPI{Group: "rbac.open-cluster-management.io", Version: "v1alpha1", Kind: "ClusterPermission"}
	asked := time.Unix(1000, 0)
	answered := func(fact evaluation.APIFact) evaluation.Cluster {
		return evaluation.Cluster{Facts: evaluation.Facts{Asked: asked, APIs: map[addonv1alpha1.AddonAPI]evaluation.APIFact{api: fact}}, Now: asked}
	}
	heardOf := func(fact evaluation.APIFact) evaluation.Facts {
		return evaluation.Facts{HeldUntil: asked.Add(evaluation.SettleTime), APIs: map[addonv1alpha1.AddonAPI]evaluation.APIFact{api: fact}}
	}
	providers := []addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, "cluster-permission", `provides: [{group: rbac.open-cluster-management.io, version: v1alpha1, kind: ClusterPermission}]`),
		fixture.Specified(t, "all-permissions", `provides: [{group: rbac.open-cluster-management.io, kind: ClusterPermission}]`),
		fixture.Specified(t, "new-permission", `provides: [{group: rbac.open-cluster-management.io, version: v1, kind: ClusterPermission}]`),
	}
	for name, tc := range map[string]beyondCase{
		"Served":        {"the agent says so", spec, nil, answered(evaluation.APIFact{Served: metav1.ConditionTrue}), nil, "permission-api=Satisfied", ""},
		"NotServed":     {"nobody provides it", spec, nil, answered(evaluation.APIFact{Served: metav1.ConditionFalse}), nil, "permission-api=APINotServed", sentence + "(not served)"},
		"Providers":     {"those of the version, and of every version", spec, providers, answered(evaluation.APIFact{Served: metav1.ConditionFalse}), nil, "permission-api=APINotServed", sentence + "(not served; provided by addon 'all-permissions' or 'cluster-permission')"},
		"OtherVersions": {"so that one sees what is wrong", spec, nil, answered(evaluation.APIFact{Served: metav1.ConditionFalse, Versions: []string{"v1", "v1beta1"}}), nil, "permission-api=APINotServed", sentence + "(served in v1, v1beta1)"},
		"Unknown":       {"the agent cannot find out", spec, nil, answered(evaluation.APIFact{Served: metav1.ConditionUnknown, Message: "discovery failed"}), nil, "permission-api=APINotServed", sentence + "(not known: discovery failed)"},
		"HeldForAnAnswer": {
			"a new edge does not degrade the fleet for the moment that agents need", spec, nil,
			evaluation.Cluster{Facts: evaluation.Facts{Asked: asked}, Now: asked},
			nil,
			"permission-api=Held", "",
		},
		"NoAnswer": {
			"an old agent never answers", spec, nil,
			evaluation.Cluster{Facts: evaluation.Facts{Asked: asked}, Now: asked.Add(evaluation.AnswerTime)},
			nil,
			"permission-api=APINotServed", sentence + "(not known: the managed cluster's addon-agent has not answered)",
		},
		"RequestedWhileAway": {
			"the time counts from the return", spec, nil,
			evaluation.Cluster{Available: "True", Offline: evaluation.OfflineHold, Facts: evaluation.Facts{Asked: asked}, Back: asked.Add(time.Hour), Now: asked.Add(time.Hour + evaluation.AnswerTime - 1)},
			nil,
			"permission-api=Held", "",
		},
		"RequestedWhileAwayNoAnswer": {
			"and it ends", spec, nil,
			evaluation.Cluster{Available: "True", Offline: evaluation.OfflineHold, Facts: evaluation.Facts{Asked: asked}, Back: asked.Add(time.Hour), Now: asked.Add(time.Hour + evaluation.AnswerTime)},
			nil,
			"permission-api=APINotServed", sentence + "(not known: the managed cluster's addon-agent has not answered)",
		},
		"RequestedAfterTheReturn": {
			"the time counts from the request", spec, nil,
			evaluation.Cluster{Available: "True", Offline: evaluation.OfflineHold, Facts: evaluation.Facts{Asked: asked}, Back: asked.Add(-time.Hour), Now: asked.Add(evaluation.AnswerTime - 1)},
			nil,
			"permission-api=Held", "",
		},
		"AgentMayReport": {
			"what it reported before the loss counts neither way", spec, nil,
			evaluation.Cluster{Available: "True", Offline: evaluation.OfflineHold, Facts: heardOf(evaluation.APIFact{Served: metav1.ConditionTrue}), Now: asked},
			nil,
			"permission-api=Held", "",
		},
		"AgentMayReportStrict": {
			"strict knows no holding", spec, nil,
			evaluation.Cluster{Available: "True", Offline: evaluation.OfflineStrict, Facts: heardOf(evaluation.APIFact{Served: metav1.ConditionTrue}), Now: asked},
			nil,
			"permission-api=Satisfied", "",
		},
		"AgentDoesNotReport": {
			"until its time is over", spec, nil,
			evaluation.Cluster{Available: "True", Offline: evaluation.OfflineHold, Facts: heardOf(evaluation.APIFact{Served: "Unknown", Message: "no agent"}), Now: asked.Add(evaluation.SettleTime)},
			nil,
			"permission-api=APINotServed", sentence + "(not known: no agent)",
		},
		"NobodyAsked": {"without facts it does not wait for ever", spec, nil, evaluation.Cluster{Now: asked}, nil, "permission-api=APINotServed", sentence + "(not known: the managed cluster's addon-agent has not answered)"},
		"Core": {
			"Carvel: dep2, a gvk; here of the core group, in any version", `dependencies: [{name: dep2, type: Optional, api: {kind: MainApi}}]`, nil,
			evaluation.Cluster{},
			nil,
			"dep2=APINotServed", "Optional API 'MainApi' is not served. (not known: the managed cluster's addon-agent has not answered)",
		},
	} {
		t.Run(name, tc.run)
	}
}

func TestConditions(t *testing.T) {
	private := evaluation.Cluster{Name: "cluster1", Labels: map[string]string{"network": "private"}, Claims: map[string]string{"product": "OpenShift"}, KubernetesVersion: "v1.31.2"}
	const missing = "Required addon 'a' is not installed or not available. "
	x := map[string]evaluation.Observation{"x": {
		Installed: true, Labels: map[string]string{"tier": "gold"}, Annotations: map[string]string{"note": "n"}, Config: map[string]string{"mode": "proxy"},
	}}
	when := func(text string) string { return "dependencies: [{name: a, when: {" + text + "}}]" }
	for name, tc := range map[string]beyondCase{
		"SelectorMatches": {"the edge applies", when(`clusterSelector: {matchLabels: {network: private}}`), nil, private, x, "a=NotInstalled", missing + "(not installed)"},
		"SelectorDoesNot": {"no condition", when(`clusterSelector: {matchLabels: {network: public}}`), nil, private, x, "a=NotApplicable", ""},
		"SelectorOfSets":  {"in all of its forms", when(`clusterSelector: {matchExpressions: [{key: network, operator: NotIn, values: [public]}]}`), nil, private, x, "a=NotInstalled", missing + "(not installed)"},
		"NoLabels":        {"no ManagedCluster, no labels", when(`clusterSelector: {matchLabels: {network: private}}`), nil, evaluation.Cluster{}, x, "a=NotApplicable", ""},
		"Config":          {"Kueue's add-on needs cluster-proxy only in proxy mode", when(`expression: "config.mode == 'proxy'"`), nil, private, x, "a=NotInstalled", missing + "(not installed)"},
		"OtherConfig":     {"not so", when(`expression: "config.?mode.orValue('') == 'direct'"`), nil, private, x, "a=NotApplicable", ""},
		"Variables": {
			"all that there is", when(`expression: "cluster.name == 'cluster1' && cluster.labels.network == 'private' && cluster.claims['product'] == 'OpenShift' && cluster.version.startsWith('v1.31') && addOn.name == 'x' && addOn.labels.tier == 'gold' && addOn.annotations.note == 'n'"`),
			nil, private, x, "a=NotInstalled", missing + "(not installed)",
		},
		"BothHold":     {"both must", when(`clusterSelector: {matchLabels: {network: private}}, expression: "config.mode == 'proxy'"`), nil, private, x, "a=NotInstalled", missing + "(not installed)"},
		"OnlySelector": {"both must", when(`clusterSelector: {matchLabels: {network: private}}, expression: "config.mode == 'direct'"`), nil, private, x, "a=NotApplicable", ""},
		"OnlyExpression": {
			"both must, and a selector that does not hold spares the expression", when(`clusterSelector: {matchLabels: {network: public}}, expression: "config.nothing == 'proxy'"`),
			nil, private, x, "a=NotApplicable", "",
		},
		"Fails": {
			"it counts as applicable, and says why", when(`expression: "config.nothing == 'proxy'"`), nil, private, x,
			"a=NotInstalled", missing + "(not installed; when.expression failed: no such key: nothing)",
		},
		"FailsSatisfied": {"nobody need know", when(`expression: "config.nothing == 'proxy'"`), nil, private, map[string]evaluation.Observation{"a": running("")}, "a=Satisfied", ""},
		"TooDear": {
			"what would take too long fails", when(`expression: "[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, a + b + c + d + e > 0)))))"`),
			nil, private, x, "a=NotInstalled", missing + "(not installed; when.expression failed: it takes too many steps)",
		},
		"ConfigUnread": {"what is not known yet is held", when(`expression: "config.mode == 'proxy'"`), nil, private, map[string]evaluation.Observation{"x": {ConfigUnread: true}}, "a=Held", ""},
		"UnreadButUnasked": {
			"only if somebody asks", when(`expression: "addOn.name == 'x'"`), nil, private,
			map[string]evaluation.Observation{"x": {ConfigUnread: true}},
			"a=NotInstalled", missing + "(not installed)",
		},
	} {
		t.Run(name, tc.run)
	}
}

func TestNotApplicableWritesNothing(t *testing.T) {
	c := evaluator([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "x", `dependencies: [{name: a, when: {clusterSelector: {matchLabels: {a: b}}}}]`)})
	findings := c.Evaluate("x", c.State("x", evaluation.Cluster{}, func(string) evaluation.Observation { return evaluation.Observation{} }))
	if got, write := condition.Decide(nil, findings, fixture.Now); write {
		t.Errorf("writes %+v", got)
	}
	if got, write := condition.Decide(fixture.Degraded(metav1.ConditionTrue, requiredReason, ""), findings, fixture.Now); !write || got.Reason != satisfiedReason {
		t.Errorf("a reason of ours is left behind: %+v", got)
	}
	if findings[0].Unsatisfied() {
		t.Error("it is not unsatisfied")
	}
}

// Every add-on is observed once, and the dependent itself only where a condition of
// its edges reads it.
func TestOnlyWhatMattersIsObserved(t *testing.T) {
	c := evaluator([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "x", `
dependencies:
- name: a
- {name: b, when: {clusterSelector: {matchLabels: {a: b}}}}
- {name: c, api: {kind: Pod}}
- {name: d, when: {expression: "cluster.version == ''"}}
- {name: e, addOn: a, when: {expression: "config.?a.orValue('') == '' && addOn.name == 'x'"}}
- {name: f, addOn: a, version: "*"}
- {name: versioned, version: ">= 1"}
requirements: {kubernetes: "*"}`)})
	want := []evaluation.Need{
		{Name: "a"}, {Name: "b"}, {Name: "d"}, {Name: "versioned", Inputs: input.Versions}, {Name: "x", Inputs: input.Config},
	}
	if diff := cmp.Diff(want, c.Needs("x")); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
