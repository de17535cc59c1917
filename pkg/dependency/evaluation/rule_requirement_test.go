package evaluation_test

import (
	"fmt"
	"strings"
	"testing"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

func TestRequirements(t *testing.T) {
	unmet := func(subject, required, value string) string {
		return fmt.Sprintf("Required %s '%s' is not met. (%s)", subject, required, value)
	}
	kubernetes := func(version string) evaluation.Cluster { return evaluation.Cluster{KubernetesVersion: version} }
	const k = "requirements.kubernetes="
	for name, tc := range map[string]ruleCase{
		"Deckhouse1.28On1.27": {
			reason: "Deckhouse, Kubernetes version: 1.27.0 for >= 1.28", spec: `requirements: {kubernetes: ">= 1.28"}`, cluster: kubernetes(
				"v1.27.0",
			),
			want: k + "RequirementNotMet", message: unmet("Kubernetes version", ">= 1.28", "it is v1.27.0"),
		},
		"Deckhouse1.28On1.28": {
			reason: "Deckhouse, Kubernetes version", spec: `requirements: {kubernetes: ">= 1.28"}`,
			cluster: kubernetes("v1.28.0"), want: k + "Satisfied",
		},
		"DeckhouseAbove1.29": {
			reason: "Deckhouse, ModuleRelease: 1.29.6 is less than or equal to 1.29",
			spec:   `requirements: {kubernetes: "> 1.29"}`, cluster: kubernetes("1.29.6"),
			want: k + "RequirementNotMet", message: unmet("Kubernetes version", "> 1.29", "it is 1.29.6"),
		},
		"GKE": {
			reason: "a vendor's suffix is no prerelease", spec: `requirements: {kubernetes: ">= 1.31"}`,
			cluster: kubernetes("v1.31.2-gke.100"), want: k + "Satisfied",
		},
		"K3s": {
			reason: "a vendor's suffix is no prerelease", spec: `requirements: {kubernetes: ">= 1.30.4"}`,
			cluster: kubernetes("v1.30.4+k3s1"), want: k + "Satisfied",
		},
		"EKS": {
			reason: "a vendor's suffix is no prerelease", spec: `requirements: {kubernetes: ">= 1.29.8 < 1.30"}`,
			cluster: kubernetes("v1.29.8-eks-a737599"), want: k + "Satisfied",
		},
		"Release": {
			reason: "but this is one", spec: `requirements: {kubernetes: ">= 1.31"}`, cluster: kubernetes("v1.32.0-rc.1"),
			want:    k + "RequirementNotMet",
			message: unmet("Kubernetes version", ">= 1.31", "it is v1.32.0-rc.1: prereleases are not accepted"),
		},
		"Unreported": {
			reason: "a cluster that has not joined yet", spec: `requirements: {kubernetes: ">= 1.28"}`, cluster: kubernetes(""),
			want: k + "VersionUnknown", message: unmet("Kubernetes version", ">= 1.28", "not known: the managed cluster has not reported it yet"),
		},
		"DeckhousePlatform": {
			reason: "Deckhouse, platform version: 1.0.0 for >= 1.64", spec: `requirements: {ocm: ">= 1.61"}`,
			cluster: evaluation.Cluster{OCMVersion: "1.0.0"},
			want:    "requirements.ocm=RequirementNotMet", message: unmet("Open Cluster Management version of the hub", ">= 1.61", "it is 1.0.0"),
		},
		"OCM": {
			reason: "with the commits since", spec: `requirements: {ocm: ">= 1.3"}`,
			cluster: evaluation.Cluster{OCMVersion: "v1.3.0-12-gabcdef0"}, want: "requirements.ocm=Satisfied",
		},
		"OCMUnknown": {
			reason: "not reported", spec: `requirements: {ocm: ">= 1.3"}`, want: "requirements.ocm=VersionUnknown",
			message: unmet("Open Cluster Management version of the hub", ">= 1.3", "not known: the CRD of ManagedCluster does not report it"),
		},
		"Claims": {
			reason: "a range, a value, one that is missing, one that is no version, and OCM's own of Kubernetes", spec: `
requirements:
  claims:
    version.openshift.io: ">= 4.14"
    platform.open-cluster-management.io: AWS
    region.open-cluster-management.io: us-east-1
    gpu.example.io: ">= 2"
    kubeversion.open-cluster-management.io: "~1.29.8"
    id.k8s.io: "*"
    zone: ">= 1"`,
			cluster: evaluation.Cluster{Claims: map[string]string{
				"version.openshift.io": "4.13.9", "platform.open-cluster-management.io": "Azure", "region.open-cluster-management.io": "us-east-1",
				"kubeversion.open-cluster-management.io": "v1.29.8-eks-a737599", "id.k8s.io": "some-id", "zone": "north",
			}},
			want: "requirements.claims[gpu.example.io]=RequirementNotMet requirements.claims[id.k8s.io]=Satisfied " +
				"requirements.claims[kubeversion.open-cluster-management.io]=Satisfied " +
				"requirements.claims[platform.open-cluster-management.io]=RequirementNotMet " +
				"requirements.claims[region.open-cluster-management.io]=Satisfied " +
				"requirements.claims[version.openshift.io]=RequirementNotMet requirements.claims[zone]=RequirementNotMet",
			message: strings.Join([]string{
				unmet("cluster claim 'gpu.example.io'", ">= 2", "the managed cluster has no such claim"),
				unmet("cluster claim 'platform.open-cluster-management.io'", "AWS", "it is Azure"),
				unmet("cluster claim 'version.openshift.io'", ">= 4.14", "it is 4.13.9"),
				unmet("cluster claim 'zone'", ">= 1", "it is north: it is no version"),
			}, separator),
		},
		"ClaimsThatOnlyLookLikeVersions": {
			reason: "a date or an identifier is meant literally, a release with a prerelease is a version", spec: `
requirements:
  claims: {built: 2024-01-31, id: 12345678-1234-4abc, long: 4.14-eus, same: 2024-01-31, release: v1.2.3-rc.1}`,
			cluster: evaluation.Cluster{Claims: map[string]string{
				"built": "2024-02-01", "id": "12345678-9999-4abc", "long": "4.14.2", "same": "2024-01-31", "release": "1.2.3-rc.1",
			}},
			want: "requirements.claims[built]=RequirementNotMet requirements.claims[id]=RequirementNotMet " +
				"requirements.claims[long]=RequirementNotMet " +
				"requirements.claims[release]=Satisfied requirements.claims[same]=Satisfied",
			message: strings.Join([]string{
				unmet("cluster claim 'built'", "2024-01-31", "it is 2024-02-01"),
				unmet("cluster claim 'id'", "12345678-1234-4abc", "it is 12345678-9999-4abc"),
				unmet("cluster claim 'long'", "4.14-eus", "it is 4.14.2"),
			}, separator),
		},
		"WithEdges": {
			reason: "one message, edges and requirements by name",
			spec:   `{dependencies: [{name: z}], requirements: {kubernetes: ">= 1.28"}}`, cluster: kubernetes("v1.27.0"),
			want: "z=NotInstalled " + k + "RequirementNotMet",
			message: unmet(
				"Kubernetes version", ">= 1.28", "it is v1.27.0",
			) + "; Required addon 'z' is not installed or not available. (not installed)",
		},
	} {
		t.Run(name, tc.run)
	}
}
