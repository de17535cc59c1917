package evaluation_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

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
	for name, tc := range map[string]ruleCase{
		"Match": {
			"the annotation of the ManagedClusterAddOn",
			spec,
			nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{"a": running("v0.6.1")},
			"a=Satisfied",
			"",
		},
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
		"RegistrationLast": {
			"the annotation of the ClusterManagementAddOn",
			spec,
			registered("0.6.0"),
			evaluation.Cluster{},
			map[string]evaluation.Observation{"a": running("")},
			"a=Satisfied",
			"",
		},
		"Unknown": {
			"not reported, and how to report it", spec, registered(""),
			evaluation.Cluster{Facts: reported("")},
			map[string]evaluation.Observation{"a": running("")},
			"a=VersionUnknown", sentence + "(version not known: " + howTo + ")",
		},
		"UnknownAsNoAnswer": {
			"an old agent does not answer", spec, nil,
			evaluation.Cluster{Facts: evaluation.Facts{Requested: asked}, Now: asked.Add(evaluation.ReportTime)},
			map[string]evaluation.Observation{"a": running("")},
			"a=VersionUnknown", sentence + "(version not known: the managed cluster's addon-agent has not reported it; " + howTo + ")",
		},
		"HeldForAnAnswer": {
			"an agent that runs answers soon", spec, nil,
			evaluation.Cluster{Facts: evaluation.Facts{Requested: asked}, Now: asked.Add(evaluation.ReportTime - 1)},
			map[string]evaluation.Observation{"a": running("0.1.0")},
			"a=Held", "",
		},
		"RequestedWhileAway": {
			"the time counts from the return of the cluster", spec, nil,
			evaluation.Cluster{
				Available: "True",
				Offline:   evaluation.OfflineHold,
				Facts:     evaluation.Facts{Requested: asked},
				Returned:  asked.Add(time.Hour),
				Now:       asked.Add(time.Hour),
			},
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
		"NotHeldWhenItMatches": {
			"what is said elsewhere is enough meanwhile",
			spec,
			nil,
			evaluation.Cluster{Facts: evaluation.Facts{Requested: asked}, Now: asked},
			map[string]evaluation.Observation{"a": running("0.6.0")},
			"a=Satisfied",
			"",
		},
		"NoVersion": {
			"a word is no version", spec, nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{"a": running("latest")},
			"a=VersionUnknown", sentence + "(version latest from its ManagedClusterAddOn: it is no semantic version)",
		},
		"LongestVersion": {
			"as long as a version may be", spec, nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{"a": running("0.6.0+" + strings.Repeat("a", versions.MaxLength-6))},
			"a=Satisfied", "",
		},
		"TooLong": {
			"the finding names the annotation", spec, registered("0.6.0"),
			evaluation.Cluster{},
			map[string]evaluation.Observation{"a": running("0.6.0+" + strings.Repeat("a", versions.MaxLength-5))},
			"a=VersionUnknown", sentence + "(version 0.6.0+" + strings.Repeat("a", versions.MaxLength-7) + "… from its ManagedClusterAddOn: " +
				"annotation dependency.addon.open-cluster-management.io/version has 257 bytes; a version has at most 256)",
		},
		"TooLongUnderFormerKey": {
			"that one, where it counts", spec, nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{"a": {Installed: true, Available: running("").Available, FormerVersion: strings.Repeat("1", 1000)}},
			"a=VersionUnknown", sentence + "(version " + strings.Repeat("1", versions.MaxLength-1) + "… from its ManagedClusterAddOn: " +
				"annotation addon.open-cluster-management.io/version has 1000 bytes; a version has at most 256)",
		},
		"NotInstalled": {"first it must be there", spec, nil, evaluation.Cluster{}, nil, "a=NotInstalled", missing + "(not installed)"},
		"NotAvailable": {
			"then available", spec, nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{"a": {Installed: true, Version: "0.1.0"}},
			"a=NotAvailable", missing + "(Available not reported yet)",
		},
		"AnyKnown": {
			"any version",
			`dependencies: [{name: a, version: "*"}]`,
			nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{"a": running("0.1.0-rc.1")},
			"a=Satisfied",
			"",
		},
		"AnyUnknown": {
			"one that is not known too",
			`dependencies: [{name: a, version: "*"}]`,
			nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{"a": running("")},
			"a=Satisfied",
			"",
		},
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
			"Optional addon 'cluster-proxy' is not installed or not available in " +
				"version '>= 2.0'. Tunnels are slow (version 1.4.0 from its ManagedClusterAddOn)",
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
			"Required addon 'pkg5.test.carvel.dev' is not installed or not available in " +
				"version '0.1.0'. (version 0.2.0 from its ManagedClusterAddOn)",
		},
	} {
		t.Run(name, tc.run)
	}
}

func TestVersionsThatAreThatOfOCM(t *testing.T) {
	const (
		spec     = `dependencies: [{name: a, version: ">= 1.3"}]`
		sentence = "Required addon 'a' is not installed or not available in version '>= 1.3'. "
	)
	registered := []addonv1alpha1.ClusterManagementAddOn{fixture.Versioned(fixture.Registration("a"), "@ocm")}
	named := map[string]evaluation.Observation{"a": running("@ocm")}
	for name, tc := range map[string]ruleCase{
		"Match": {"a built-in add-on", spec, registered, evaluation.Cluster{OCMVersion: "v1.3.1"}, map[string]evaluation.Observation{
			"a": running(""),
		}, "a=Satisfied", ""},
		"VendorsBuild": {
			"what a vendor appends does not count", spec, nil, evaluation.Cluster{OCMVersion: "v1.3.0-13-gabc"}, named, "a=Satisfied", "",
		},
		"Mismatch": {
			"the message has the version", spec, nil,
			evaluation.Cluster{OCMVersion: "1.2.1"},
			named,
			"a=VersionMismatch", sentence + "(version 1.2.1 from its ManagedClusterAddOn (@ocm))",
		},
		"Unread": {"it is about to be read", spec, nil, evaluation.Cluster{OCMUnread: true}, named, "a=Held", ""},
		"NotReported": {
			"a hub without it", spec, nil, evaluation.Cluster{}, named, "a=VersionUnknown", sentence +
				"(version not known: its ManagedClusterAddOn has @ocm, but the CRD of ManagedCluster does not report it)",
		},
		"AnotherSourceFirst": {
			"then OCM's version does not matter", spec, registered,
			evaluation.Cluster{OCMUnread: true},
			map[string]evaluation.Observation{"a": running("1.3.0")},
			"a=Satisfied", "",
		},
	} {
		t.Run(name, tc.run)
	}
}

// Until OCM's version is read, no rollout of a template is why the verdict is held.
func TestHeldForTheVersionOfOCM(t *testing.T) {
	c := evaluator([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "x", `dependencies: [{name: a, version: ">= 1"}]`)})
	observe := func(string) evaluation.Observation { return running(versions.OCM) }
	findings := c.Evaluate("x", c.State("x", evaluation.Cluster{OCMUnread: true}, observe))
	if because := findings[0].HeldBecause(); !findings[0].Held() || because != "" {
		t.Errorf("%s: %s", findings[0].Verdict, because)
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
	created := time.Unix(1000, 0)
	young := func(annotated string) map[string]evaluation.Observation {
		observed := running(annotated)
		observed.Created = created
		return map[string]evaluation.Observation{"a": observed}
	}
	deployable := []addonv1alpha1.ClusterManagementAddOn{fixture.Deployed(fixture.Registration("a"))}
	const setVersion = "set the annotation dependency.addon.open-cluster-management.io/version on the lease of its agent, on its " +
		"AddOnTemplate, on its ManagedClusterAddOn or on its ClusterManagementAddOn"
	former := []addonv1alpha1.ClusterManagementAddOn{fixture.Registration("a")}
	former[0].Annotations = map[string]string{addonv1alpha1.FormerVersionAnnotation: "0.7.0"}
	for name, tc := range map[string]ruleCase{
		"Match": {
			"the template that runs comes before the annotation",
			spec,
			nil,
			evaluation.Cluster{},
			templated("0.6.0", "", "0.5.0"),
			"a=Satisfied",
			"",
		},
		"Mismatch": {
			"and names itself",
			spec,
			nil,
			evaluation.Cluster{},
			templated("0.5.0", "", "0.6.0"),
			"a=VersionMismatch",
			sentence + "(version 0.5.0 from its AddOnTemplate)",
		},
		"NotChosenYet": {
			"OCM writes the template a moment after the add-on is created", spec, deployable,
			evaluation.Cluster{Now: created.Add(evaluation.ReportTime - 1)},
			young(""), "a=Held", "",
		},
		"NeverChosen": {
			"that moment ends", spec, deployable,
			evaluation.Cluster{Now: created.Add(evaluation.ReportTime)},
			young(""),
			"a=VersionUnknown", sentence + "(version not known: " + setVersion + ")",
		},
		"NotFromATemplate": {
			"nothing is to come", spec, nil,
			evaluation.Cluster{Now: created},
			young(""),
			"a=VersionUnknown", sentence + "(version not known: " + setVersion + ")",
		},
		"NotChosenButAnnotated": {
			"the next source has it", spec, deployable, evaluation.Cluster{Now: created}, young("0.7.0"), "a=Satisfied", "",
		},
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
		"Lease": {
			"the lease comes first",
			spec,
			nil,
			lease(evaluation.VersionFact{Version: "0.6.0"}),
			templated("0.5.0", "", ""),
			"a=Satisfied",
			"",
		},
		"FormerLease": {
			"its former key comes last", spec, nil,
			lease(evaluation.VersionFact{Version: "0.6.0", Former: true}), templated("0.5.0", "", ""),
			"a=VersionMismatch", sentence + "(version 0.5.0 from its AddOnTemplate)",
		},
		"FormerLeaseAlone": {
			"but counts",
			spec,
			nil,
			lease(evaluation.VersionFact{Version: "0.6.0", Former: true}),
			templated("", "", ""),
			"a=Satisfied",
			"",
		},
		"FormerAddOn": {
			"as on the ManagedClusterAddOn",
			spec,
			nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{
				"a": {Installed: true, Available: fixture.Available(metav1.ConditionTrue, ""), FormerVersion: "0.6.0"},
			},
			"a=Satisfied",
			"",
		},
		"FormerRegistration": {"and on the ClusterManagementAddOn", spec, former, evaluation.Cluster{}, templated("", "", ""), "a=Satisfied", ""},
		"Unread":             {"a match is not certain yet", spec, nil, evaluation.Cluster{}, unread("0.6.0"), "a=Held", ""},
		"UnreadMismatch":     {"nor is a mismatch", spec, nil, evaluation.Cluster{}, unread("0.5.0"), "a=Held", ""},
		"UnreadFormerLease": {
			"nor a former key",
			spec,
			nil,
			lease(evaluation.VersionFact{Version: "0.6.0", Former: true}),
			unread(""),
			"a=Held",
			"",
		},
		"UnreadWithLease": {
			"the lease needs no template", spec, nil, lease(evaluation.VersionFact{Version: "0.5.0"}), unread(""),
			"a=VersionMismatch", sentence + "(version 0.5.0 from its agent's lease)",
		},
		"UnreadAny": {
			"nor does any version",
			`dependencies: [{name: a, version: "*"}]`,
			nil,
			evaluation.Cluster{},
			unread(""),
			"a=Satisfied",
			"",
		},
	} {
		t.Run(name, tc.run)
	}
}

// The examples of the Deckhouse document: three on optional requirements, and those on permitted changes of the other
// module. A state that admission refuses there is an unsatisfied state here.
func TestIfInstalled(t *testing.T) {
	const spec = `dependencies: [{name: test, type: IfInstalled, version: ">v0.22.1"}]`
	down := evaluation.Observation{Installed: true, Available: fixture.Available(metav1.ConditionFalse, ""), Version: "v0.23.0"}
	for name, tc := range map[string]ruleCase{
		"NotEnabled": {
			"Deckhouse: test is disabled: prometheus will be enabled, the requirement is skipped",
			spec,
			nil,
			evaluation.Cluster{},
			nil,
			"test=Satisfied",
			"",
		},
		"OldVersion": {
			"Deckhouse: test v0.21.1 is enabled: a dependency mismatch", spec, nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{"test": running("v0.21.1")},
			"test=VersionMismatch", "Addon 'test' is installed, but not in version '>v0.22.1'. (version v0.21.1 from its ManagedClusterAddOn)",
		},
		"NewVersion": {
			"Deckhouse: test v0.23.1 meets the requirement",
			spec,
			nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{"test": running("v0.23.1")},
			"test=Satisfied",
			"",
		},
		"Exact": {
			"Deckhouse: =v0.22.1 !optional, test becomes 0.23.1", `dependencies: [{name: test, type: IfInstalled, version: "=v0.22.1"}]`,
			nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{"test": running("0.23.1")},
			"test=VersionMismatch", "Addon 'test' is installed, but not in version '=v0.22.1'. (version 0.23.1 from its ManagedClusterAddOn)",
		},
		"NotAvailable": {
			"it works without it, so it works beside one that is down",
			spec,
			nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{"test": down},
			"test=Satisfied",
			"",
		},
		"Unknown": {
			"no report that it matches", spec, nil,
			evaluation.Cluster{},
			map[string]evaluation.Observation{"test": {Installed: true}},
			"test=VersionUnknown", "Addon 'test' is installed, but not in version '>v0.22.1'. (version not known: " + howTo + ")",
		},
	} {
		t.Run(name, tc.run)
	}
	c := evaluator([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "x", spec)})
	got := condition.Decide(
		condition.Stored{},
		c.Evaluate("x", c.State("x", evaluation.Cluster{}, func(string) evaluation.Observation { return running("v0.21.1") })),
		fixture.Now,
	).Degraded
	if got.Reason != requiredReason {
		t.Errorf("it blocks as Required does, got %s", got.Reason)
	}
}
