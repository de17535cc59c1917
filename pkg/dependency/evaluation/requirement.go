package evaluation

import (
	"github.com/Masterminds/semver/v3"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
)

// findRequirement compares the platform with what is required of it.
func findRequirement(finding *Finding, r *declaration.Requirement, cluster *Cluster) {
	finding.Verdict = Satisfied
	if r.Input == input.OCM && cluster.OCMUnread {
		finding.Verdict = Held
		return
	}
	found, verdict, because := judgeRequirement(r, cluster)
	if verdict == Satisfied {
		return
	}
	finding.Verdict = verdict
	detail := finding.detail()
	detail.Requirement, detail.Version.Number, detail.Because = r.Subject, found, because
}

// judgeRequirement returns what was found, the verdict on it, and why it does
// not do.
func judgeRequirement(r *declaration.Requirement, cluster *Cluster) (found string, verdict Verdict, because string) {
	switch {
	case r.Claim != "":
		return judgeClaim(r, cluster)
	case r.Input == input.OCM:
		found, because = cluster.OCMVersion, "not known: the CRD of ManagedCluster does not tell it"
	default:
		found, because = cluster.KubernetesVersion, "not known: the managed cluster has not reported it yet"
	}
	if found == "" {
		return "", VersionUnknown, because
	}
	return judgePlatform(r, found, versions.ParsePlatform)
}

func judgeClaim(r *declaration.Requirement, cluster *Cluster) (found string, verdict Verdict, because string) {
	found, claimed := cluster.Claims[r.Claim]
	switch {
	case !claimed:
		return "", RequirementNotMet, "the managed cluster has no such claim"
	case r.Versions == nil && found == r.Exact, r.Versions != nil && r.Versions.AcceptsAll():
		return found, Satisfied, ""
	case r.Versions == nil:
		return found, RequirementNotMet, ""
	case r.Claim == declaration.KubernetesClaim:
		return judgePlatform(r, found, versions.ParsePlatform)
	default:
		return judgePlatform(r, found, semver.NewVersion)
	}
}

func judgePlatform(r *declaration.Requirement, found string, parse func(string) (*semver.Version, error)) (string, Verdict, string) {
	version, err := parse(found)
	if err != nil {
		return found, RequirementNotMet, "it is no version"
	}
	if because := r.Versions.Mismatch(version); because != "" {
		return found, RequirementNotMet, because
	}
	return found, Satisfied, ""
}
