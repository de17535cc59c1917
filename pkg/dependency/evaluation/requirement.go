package evaluation

import (
	"fmt"

	"github.com/Masterminds/semver/v3"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
)

// These are the rules of requirements on the cluster's Kubernetes version, on the hub's version of Open Cluster
// Management, and on a claim of the cluster.
var (
	kubernetesRule = rule{inputs: input.Kubernetes, sentence: requirementSentence, describe: describeRequirement}
	ocmRule        = rule{inputs: input.OCM, sentence: requirementSentence, describe: describeRequirement}
	claimRule      = rule{inputs: input.Claims, sentence: requirementSentence, describe: describeRequirement}
)

func evaluateKubernetes(g *grounds, f *Finding) {
	if g.cluster.KubernetesVersion == "" {
		f.setNotMet(VersionUnknown, "", "not known: the managed cluster has not reported it yet")
		return
	}
	comparePlatform(g.requirement, f, g.cluster.KubernetesVersion, versions.ParsePlatform)
}

const ocmNotReported = "the CRD of ManagedCluster does not report it"

func evaluateOCM(g *grounds, f *Finding) {
	switch {
	case g.cluster.OCMUnread:
		f.Verdict = Held
	case g.cluster.OCMVersion == "":
		f.setNotMet(VersionUnknown, "", "not known: "+ocmNotReported)
	default:
		comparePlatform(g.requirement, f, g.cluster.OCMVersion, versions.ParsePlatform)
	}
}

func evaluateClaim(g *grounds, f *Finding) {
	requirement := g.requirement
	value, ok := g.cluster.Claims[requirement.Claim]
	switch {
	case !ok:
		f.setNotMet(RequirementNotMet, "", "the managed cluster has no such claim")
	case requirement.Versions == nil && value == requirement.Wanted, requirement.Versions != nil && requirement.Versions.AcceptsAll():
		f.Verdict = Satisfied
	case requirement.Versions == nil:
		f.setNotMet(RequirementNotMet, value, "")
	case requirement.Claim == declaration.KubernetesClaim:
		comparePlatform(requirement, f, value, versions.ParsePlatform)
	default:
		comparePlatform(requirement, f, value, semver.NewVersion)
	}
}

func comparePlatform(requirement *declaration.Requirement, f *Finding, value string, parse func(string) (*semver.Version, error)) {
	version, err := parse(value)
	if err != nil {
		f.setNotMet(RequirementNotMet, value, "it is no version")
		return
	}
	if because := requirement.Versions.Mismatch(version); because != "" {
		f.setNotMet(RequirementNotMet, value, because)
		return
	}
	f.Verdict = Satisfied
}

// setNotMet sets the verdict on a requirement that is not met, with the reported value.
func (f *Finding) setNotMet(verdict Verdict, value, because string) {
	f.Verdict = verdict
	f.detail().Version.Number, f.Detail.Because = value, because
}

func requirementSentence(f *Finding) string {
	return fmt.Sprintf("%s %s '%s' is not met.", f.Type(), f.Requirement.Subject, excerpt(f.Requirement.Wanted))
}

func describeRequirement(f *Finding) string {
	detail := f.detail()
	if detail.Version.Number == "" {
		return detail.Because
	}
	return join("it is "+excerpt(detail.Version.Number), detail.Because)
}
