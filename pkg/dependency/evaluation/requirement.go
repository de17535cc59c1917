package evaluation

import (
	"fmt"

	"github.com/Masterminds/semver/v3"

	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/input"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
)

// These are the rules of requirements on the cluster's Kubernetes version, on the hub's version of Open Cluster
// Management, and on a claim of the cluster.
var (
	kubernetesRule = rule{inputs: input.Kubernetes, sentence: requirementSentence, found: requirementFound}
	ocmRule        = rule{inputs: input.OCM, sentence: requirementSentence, found: requirementFound}
	claimRule      = rule{inputs: input.Claims, sentence: requirementSentence, found: requirementFound}
)

func evaluateKubernetes(g *given, f *Finding) {
	if g.cluster.KubernetesVersion == "" {
		f.notMet(VersionUnknown, "", "not known: the managed cluster has not reported it yet")
		return
	}
	comparePlatform(g.requirement, f, g.cluster.KubernetesVersion, versions.ParsePlatform)
}

const ocmNotReported = "the CRD of ManagedCluster does not report it"

func evaluateOCM(g *given, f *Finding) {
	switch {
	case g.cluster.OCMUnread:
		f.Verdict = Held
	case g.cluster.OCMVersion == "":
		f.notMet(VersionUnknown, "", "not known: "+ocmNotReported)
	default:
		comparePlatform(g.requirement, f, g.cluster.OCMVersion, versions.ParsePlatform)
	}
}

func evaluateClaim(g *given, f *Finding) {
	required := g.requirement
	value, claimed := g.cluster.Claims[required.Claim]
	switch {
	case !claimed:
		f.notMet(RequirementNotMet, "", "the managed cluster has no such claim")
	case required.Versions == nil && value == required.Wanted, required.Versions != nil && required.Versions.AcceptsAll():
		f.Verdict = Satisfied
	case required.Versions == nil:
		f.notMet(RequirementNotMet, value, "")
	case required.Claim == declaration.KubernetesClaim:
		comparePlatform(required, f, value, versions.ParsePlatform)
	default:
		comparePlatform(required, f, value, semver.NewVersion)
	}
}

func comparePlatform(required *declaration.Requirement, f *Finding, value string, parse func(string) (*semver.Version, error)) {
	version, err := parse(value)
	if err != nil {
		f.notMet(RequirementNotMet, value, "it is no version")
		return
	}
	if because := required.Versions.Mismatch(version); because != "" {
		f.notMet(RequirementNotMet, value, because)
		return
	}
	f.Verdict = Satisfied
}

// setNotMet sets the verdict on a requirement that is not met, with the reported value.
func (f *Finding) notMet(verdict Verdict, found, because string) {
	f.Verdict = verdict
	f.detail().Version.Number, f.Detail.Because = found, because
}

func requirementSentence(f *Finding) string {
	return fmt.Sprintf("%s %s '%s' is not met.", f.Type(), f.Requirement.Subject, shown(f.Requirement.Wanted))
}

func requirementFound(f *Finding) string {
	detail := f.detail()
	if detail.Version.Number == "" {
		return detail.Because
	}
	return joined("it is "+shown(detail.Version.Number), detail.Because)
}
