package evaluation_test

import (
	"fmt"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

func TestRequirements(t *testing.T) {
	unmet := func(subject, wanted, found string) string {
		return fmt.Sprintf("Required %s '%s' is not met. (%s)", subject, wanted, found)
	}
	kubernetes := func(version string) evaluation.Cluster { return evaluation.Cluster{KubernetesVersion: version} }
	const k = "requirements.kubernetes="
	for name, tc := range map[string]ruleCase{
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
		"OCMUnknown": {"not reported", `requirements: {ocm: ">= 1.3"}`, nil, evaluation.Cluster{}, nil, "requirements.ocm=VersionUnknown", unmet("Open Cluster Management version of the hub", ">= 1.3", "not known: the CRD of ManagedCluster does not report it")},
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
