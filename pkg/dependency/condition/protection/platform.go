package protection

import (
	"github.com/Masterminds/semver/v3"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
)

// Blockers are the platforms whose next minor version the requirements of an add-on do not accept. They accept the version that runs.
type Blockers struct {
	Kubernetes, OCM bool
}

// BlockersOf returns the platforms whose upgrade would break an add-on with those findings on a managed cluster. A requirement that is
// not met now is no blocker: it fails already.
func BlockersOf(findings []evaluation.Finding, cluster evaluation.Cluster) Blockers {
	var blockers Blockers
	for i := range findings {
		requirement := findings[i].Requirement
		if requirement == nil || findings[i].Verdict != evaluation.Satisfied {
			continue
		}
		switch {
		case requirement.OCM:
			blockers.OCM = blockers.OCM || refusesNextMinor(requirement, cluster.OCMVersion)
		case requirement.Claim == "":
			blockers.Kubernetes = blockers.Kubernetes || refusesNextMinor(requirement, cluster.KubernetesVersion)
		case requirement.Claim == declaration.KubernetesClaim:
			blockers.Kubernetes = blockers.Kubernetes || refusesNextMinor(requirement, cluster.Claims[requirement.Claim])
		}
	}
	return blockers
}

// refusesNextMinor reports whether the first release of the next minor version does not match. One version that is meant literally
// matches no other.
func refusesNextMinor(requirement *declaration.Requirement, running string) bool {
	if requirement.Versions == nil {
		return true
	}
	version, err := versions.ParsePlatform(running)
	if err != nil {
		return false
	}
	return requirement.Versions.Mismatch(semver.New(version.Major(), version.Minor()+1, 0, "", "")) != ""
}
