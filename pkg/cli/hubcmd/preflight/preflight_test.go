package preflight

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/cli/hubcmd/applyset"
	"open-cluster-management.io/interlock/pkg/cli/hubcmd/hubrecord"
	"open-cluster-management.io/interlock/pkg/report"
)

// healthy returns the facts of a hub on which nothing keeps an installation.
func healthy() *Facts {
	return &Facts{
		Namespace: "interlock-system", Version: "0.2.0", KubernetesRange: ">= 1.30.0-0", Kubernetes: "v1.35.4",
		OCM:  OCM{Installed: true, Version: "1.2.1"},
		Plan: &applyset.Plan{Steps: []applyset.Step{{Action: applyset.Create, Object: "ClusterRole interlock"}}},
	}
}

func upgraded(state hubrecord.State, version string) func(*Facts) {
	return func(f *Facts) {
		f.Upgrade = true
		f.Record = &hubrecord.Record{State: state, Version: version}
	}
}

func problem(cause applyset.Cause, owner applyset.Owner) func(*Facts) {
	return func(f *Facts) {
		for _, name := range []string{"ClusterRole a", "ClusterRole b"} {
			f.Plan.Problems = append(f.Plan.Problems, applyset.Problem{Cause: cause, Object: name, Owner: owner, Message: "the hub says why"})
		}
	}
}

func TestHealthyHubPasses(t *testing.T) {
	for name, change := range map[string]func(*Facts){
		"installation":                  func(*Facts) {},
		"upgrade":                       upgraded(hubrecord.Installed, "0.1.0"),
		"other values":                  upgraded(hubrecord.Installed, "0.2.0"),
		"after an interruption":         func(f *Facts) { f.Record = &hubrecord.Record{State: hubrecord.Applying, Version: "0.2.0"} },
		"after a half uninstallation":   func(f *Facts) { f.Record = &hubrecord.Record{State: hubrecord.Uninstalling, Version: "0.2.0"} },
		"a Placement that is created":   func(f *Facts) { f.Placement = &Placement{Name: "a/b", Creatable: true} },
		"a Placement that exists":       func(f *Facts) { f.Placement = &Placement{Name: "a/b", Exists: true} },
		"an old OCM without the agent":  func(f *Facts) { f.OCM.Version = "1.1.0" },
		"an OCM without a version":      func(f *Facts) { f.OCM.Version = "" },
		"a registry":                    func(f *Facts) { f.Registry = "registry.test/team" },
		"images":                        func(f *Facts) { f.Images = []ImageState{{Reference: "registry.test/a:1", Exists: true}} },
		"a registry that is not seen":   func(f *Facts) { f.Images = []ImageState{{Reference: "r.test/a:1", Err: errors.New("no route")}} },
		"a downgrade that is requested": func(f *Facts) { upgraded(hubrecord.Installed, "0.3.0")(f); f.AllowDowngrade = true },
		"a version of no order":         upgraded(hubrecord.Installed, "latest"),
	} {
		facts := healthy()
		change(facts)
		if diagnosis := Check(facts); diagnosis.Failed() || len(diagnosis.Items) < 4 {
			t.Errorf("%s: %+v", name, diagnosis.Items)
		}
	}
}

// A check that fails names what is wrong, and what repairs it.
func TestChecksThatFail(t *testing.T) {
	for name, test := range map[string]struct {
		change                 func(*Facts)
		check, message, repair string
	}{
		"old Kubernetes": {
			func(f *Facts) { f.Kubernetes = "v1.29.3" }, "kubernetes",
			"has Kubernetes v1.29.3, and Interlock 0.2.0 needs >= 1.30.0-0", "docs/compatibility.md",
		},
		"no hub": {
			func(f *Facts) { f.OCM.Installed, f.Plan = false, nil }, "open-cluster-management", "is no hub",
			"clusteradm init --wait",
		},
		"old OCM": {
			func(f *Facts) { f.OCM.Version, f.Placement = "1.1.3", &Placement{Name: "a/b", Exists: true} },
			"open-cluster-management", "1.1.3 cannot deploy addon-agent: agent.install=true needs 1.2.0", "clusteradm upgrade clustermanager",
		},
		"installed": {
			func(f *Facts) { f.Record = &hubrecord.Record{State: hubrecord.Installed, Version: "0.1.0"} },
			"installation", "Interlock 0.1.0 is installed already", "kubectl addon hub upgrade RELEASE",
		},
		"not installed": {
			func(f *Facts) { f.Upgrade = true }, "installation", "has not installed Interlock",
			"kubectl addon hub install RELEASE",
		},
		"being uninstalled": {
			upgraded(hubrecord.Uninstalling, "0.1.0"), "installation", "is being uninstalled", "kubectl addon hub uninstall",
		},
		"older": {
			upgraded(hubrecord.Installed, "0.3.0"), "installation", "0.2.0 is older than the installed version 0.3.0",
			"--allow-downgrade",
		},
		"older, interrupted": {
			upgraded(hubrecord.Applying, "0.3.0"), "installation", "0.2.0 is older than the installed version 0.3.0", "--allow-downgrade",
		},
		"Helm's": {
			problem(applyset.Foreign, applyset.Owner{Release: "interlock", Namespace: "theirs"}), "ownership",
			"the Helm release interlock in theirs: 2, such as ClusterRole a",
			"helm upgrade interlock CHART -n theirs --reuse-values, or helm uninstall interlock -n theirs",
		},
		"Helm's, to upgrade": {
			func(f *Facts) {
				f.Upgrade = true
				problem(applyset.Foreign, applyset.Owner{Release: "theirs", Namespace: "n"})(f)
			},
			"ownership", "the Helm release theirs in n: 2", "helm upgrade theirs CHART",
		},
		"kubectl's": {
			problem(applyset.Foreign, applyset.Owner{Writer: "kubectl"}),
			"ownership", "the field manager kubectl exist already: 2", "--take-ownership",
		},
		"changed": {
			problem(applyset.Conflicting, applyset.Owner{}), "ownership",
			"ClusterRole a has fields that another writer has changed: the hub says why", "--take-ownership",
		},
		"no rights": {
			problem(applyset.Forbidden, applyset.Owner{}), "rights", "refuses you 2 objects, such as ClusterRole a: the hub says why", rightsPage,
		},
		"no rights in the namespace": {
			func(f *Facts) { f.Denied = []string{"create secrets"} }, "rights", "You lack 1 right, such as create secrets",
			rightsPage,
		},
		"no kind": {
			problem(applyset.Unknown, applyset.Owner{}), "objects", "does not serve the kind of ClusterRole b",
			"install what serves",
		},
		"refused": {
			problem(applyset.Refused, applyset.Owner{}), "objects", "refuses ClusterRole a: the hub says why",
			"kubectl get validating",
		},
		"no login": {
			func(f *Facts) {
				f.Registry, f.PushErr, f.PushDenied = "registry.test:5000/team", errors.New("denied"), true
			},
			"registry", "You may not push to registry.test:5000/team: denied", "docker login registry.test:5000",
		},
		"no registry": {
			func(f *Facts) { f.Registry, f.PushErr = "registry.test:5000/team", errors.New("no such host") },
			"registry", "You cannot push to registry.test:5000/team: no such host", "curl -i https://registry.test:5000/v2/",
		},
		"no image": {
			func(f *Facts) { f.Images, f.Namespace = []ImageState{{Reference: "registry.test/a:1"}}, "elsewhere" },
			"images", "There is no image registry.test/a:1", "kubectl addon hub install --interlock-namespace elsewhere RELEASE --registry REGISTRY",
		},
		"no new image": {
			func(f *Facts) {
				upgraded(hubrecord.Installed, "0.1.0")(f)
				f.Record.Registry, f.Images = "registry.test/team", []ImageState{{Reference: "registry.test/team/a:1"}}
			},
			"images", "There is no image registry.test/team/a:1", "kubectl addon hub upgrade RELEASE --registry registry.test/team",
		},
		"no Placement": {
			func(f *Facts) { f.Placement = &Placement{Name: "a/b"} },
			"placement", "The Placement a/b of agent.placement does not exist", "kubectl get placements -A",
		},
	} {
		facts := healthy()
		test.change(facts)
		diagnosis := Check(facts)
		if !diagnosis.Failed() {
			t.Errorf("%s: nothing fails in %+v", name, diagnosis.Items)
		}
		matches := false
		for _, item := range diagnosis.Items {
			switch {
			case item.Status != report.CheckFailed:
			case item.Check != test.check:
				t.Errorf("%s: the check %s fails, too: %s", name, item.Check, item.Message)
			case strings.Contains(item.Message, test.message) && strings.Contains(item.Repair, test.repair):
				matches = true
			}
		}
		if !matches {
			t.Errorf("%s: no %q with %q in %+v", name, test.message, test.repair, diagnosis.Items)
		}
	}
}

func TestCheckBeforeImagesAreBuilt(t *testing.T) {
	facts := healthy()
	facts.Registry, facts.Unbuilt = "registry.test:5000/team", true
	diagnosis := Check(facts)
	if diagnosis.Failed() {
		t.Errorf("a check fails: %+v", diagnosis.Items)
	}
	if !slices.ContainsFunc(diagnosis.Items, func(item report.CheckResult) bool {
		return item.Check == "images" && item.Status == report.CheckNote && item.Repair == "make images"
	}) {
		t.Errorf("no note about images: %+v", diagnosis.Items)
	}
}
