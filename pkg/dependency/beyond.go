package dependency

import (
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// The rules beyond the proposal's, of versions, APIs and requirements.

const (
	notAnswered = "the managed cluster's addon-agent has not answered"

	howToSetVersion = "set the annotation " + addonv1alpha1.AddOnVersionAnnotation +
		" on the lease of its agent, on its AddOnTemplate, on its ManagedClusterAddOn or on its ClusterManagementAddOn"
)

// detail returns the finding's detail, which is made at the first call.
func (f *Finding) detail() *Detail {
	if f.Detail == nil {
		f.Detail = &Detail{}
	}
	return f.Detail
}

// findVersion compares the version of an add-on that is there. A version that
// does not do is held while the agent may still report another.
func (c *Catalog) findVersion(finding *Finding, e *edge, cluster *Cluster, observed Observation) {
	if e.versions.everything {
		finding.Verdict = Satisfied
		return
	}
	if until := cluster.Facts.HeldUntil; cluster.Offline == OfflineHold && cluster.Now.Before(until) {
		finding.Verdict, finding.Until = Held, until
		return
	}
	fact, answered := cluster.Facts.Versions[e.on]
	lease := fact.annotated()
	version := RunningVersion(VersionSources{
		Lease: lease, Template: observed.Template,
		AddOn:        AnnotatedVersion{Current: observed.Version, Former: observed.FormerVersion},
		Registration: c.versions[e.on],
	})
	verdict, because := e.versions.judge(version)
	due, pending := cluster.answerDue()
	switch {
	case observed.Template.Unknown && lease.Current == "":
		finding.Verdict = Held // another version than that of the sources below may run
		return
	case verdict == Satisfied:
		finding.Verdict = Satisfied
		return
	case !answered && pending:
		finding.Verdict, finding.Until = Held, due
		return
	case version == (Version{}):
		because = howToSetVersion
		if fact.Message != "" {
			because = shorten(oneLine(fact.Message), maxReason) + "; " + howToSetVersion
		}
		if !answered && !cluster.Facts.Asked.IsZero() {
			because = notAnswered + "; " + howToSetVersion
		}
	}
	finding.Verdict = verdict
	finding.detail().Version, finding.Detail.Because = version, because
}

// judge compares the version of an add-on, and says why it does not do.
func (r *versionRange) judge(version Version) (Verdict, string) {
	if version == (Version{}) {
		return VersionUnknown, ""
	}
	parsed, err := semver.NewVersion(version.Number)
	if err != nil {
		return VersionUnknown, "it is no semantic version"
	}
	if because := r.mismatch(parsed); because != "" {
		return VersionMismatch, because
	}
	return Satisfied, ""
}

// findAPI looks up what the cluster's agent says of an API.
func (c *Catalog) findAPI(finding *Finding, cluster *Cluster) {
	if until := cluster.Facts.HeldUntil; cluster.Offline == OfflineHold && cluster.Now.Before(until) {
		finding.Verdict, finding.Until = Held, until
		return
	}
	api := *finding.Dependency.API
	fact, answered := cluster.Facts.APIs[api]
	due, pending := cluster.answerDue()
	switch {
	case fact.Served == metav1.ConditionTrue:
		finding.Verdict = Satisfied
		return
	case !answered && pending:
		finding.Verdict, finding.Until = Held, due
		return
	}
	finding.Verdict = APINotServed
	detail := finding.detail()
	detail.Providers = c.Providers(api)
	switch {
	case !answered:
		detail.Because = "not known: " + notAnswered
	case fact.Served == metav1.ConditionFalse && len(fact.Versions) > 0:
		detail.Because = "served in " + strings.Join(fact.Versions, ", ")
	case fact.Served == metav1.ConditionFalse:
		detail.Because = "not served"
	default:
		detail.Because = "not known: " + fact.Message
	}
}

// find compares the platform with what is required of it.
func (r *requirement) find(finding *Finding, cluster *Cluster) {
	finding.Verdict = Satisfied
	if r.uses == UsesOCM && cluster.OCMUnread {
		finding.Verdict = Held
		return
	}
	found, verdict, because := r.judge(cluster)
	if verdict == Satisfied {
		return
	}
	finding.Verdict = verdict
	detail := finding.detail()
	detail.Requirement, detail.Version.Number, detail.Because = r.subject, found, because
}

// judge returns what was found, the verdict on it, and why it does not do.
func (r *requirement) judge(cluster *Cluster) (found string, verdict Verdict, because string) {
	switch {
	case r.claim != "":
		return r.judgeClaim(cluster)
	case r.uses == UsesOCM:
		found, because = cluster.OCMVersion, "not known: the CRD of ManagedCluster does not tell it"
	default:
		found, because = cluster.KubernetesVersion, "not known: the managed cluster has not reported it yet"
	}
	if found == "" {
		return "", VersionUnknown, because
	}
	return r.judgePlatform(found, parsePlatform)
}

func (r *requirement) judgeClaim(cluster *Cluster) (found string, verdict Verdict, because string) {
	found, claimed := cluster.Claims[r.claim]
	switch {
	case !claimed:
		return "", RequirementNotMet, "the managed cluster has no such claim"
	case r.versions == nil && found == r.exact, r.versions != nil && r.versions.everything:
		return found, Satisfied, ""
	case r.versions == nil:
		return found, RequirementNotMet, ""
	case r.claim == claimKubernetes:
		return r.judgePlatform(found, parsePlatform)
	default:
		return r.judgePlatform(found, semver.NewVersion)
	}
}

func (r *requirement) judgePlatform(found string, parse func(string) (*semver.Version, error)) (string, Verdict, string) {
	version, err := parse(found)
	if err != nil {
		return found, RequirementNotMet, "it is no version"
	}
	if because := r.versions.mismatch(version); because != "" {
		return found, RequirementNotMet, because
	}
	return found, Satisfied, ""
}

// sentenceBeyond words an edge of which the proposal does not speak, without
// the author's message and the finding. It is empty for the others.
func (f *Finding) sentenceBeyond() string {
	edge := f.Dependency
	wanted := shown(edge.Version)
	switch {
	case f.Detail != nil && f.Detail.Requirement != "":
		return fmt.Sprintf("%s %s '%s' is not met.", edge.Type, f.Detail.Requirement, wanted)
	case f.Verdict == APINotServed:
		return fmt.Sprintf("%s API '%s' is not served.", edge.Type, shown(apiName(*edge.API)))
	case f.Verdict != VersionMismatch && f.Verdict != VersionUnknown:
		return ""
	case edge.Type == addonv1alpha1.DependencyTypeIfInstalled:
		return fmt.Sprintf("Addon '%s' is installed, but not in version '%s'.", displayName(Target(edge)), wanted)
	default:
		return fmt.Sprintf("%s addon '%s' is not installed or not available in version '%s'.", edge.Type, displayName(Target(edge)), wanted)
	}
}

// findingBeyond words what was found, for the parentheses.
func (f *Finding) findingBeyond() string {
	detail := f.detail()
	found := detail.Version.Number
	switch {
	case f.Verdict == APINotServed:
		text := shorten(oneLine(detail.Because), maxReason)
		if len(detail.Providers) > 0 {
			text += "; provided by addon " + quoted(detail.Providers, " or ")
		}
		return text
	case detail.Requirement != "" && found == "":
		return detail.Because
	case detail.Requirement != "":
		return joined("it is "+shown(found), detail.Because)
	case found == "":
		return joined("version not known", detail.Because)
	default:
		text := joined(fmt.Sprintf("version %s from %s", shown(found), detail.Version.Source), detail.Because)
		if detail.Version.RollingOut != "" {
			text += fmt.Sprintf("; %s is being rolled out", shown(detail.Version.RollingOut))
		}
		return text
	}
}

// joined adds why to what was found; that it does not match goes without saying.
func joined(found, because string) string {
	if because == "" || because == doesNotMatch {
		return found
	}
	return found + ": " + because
}

func shown(text string) string { return shorten(oneLine(text), maxRange) }

// apiName is Kind.group/version, as far as they are given.
func apiName(api addonv1alpha1.AddonAPI) string {
	name := api.Kind
	if api.Group != "" {
		name += "." + api.Group
	}
	if api.Version != "" {
		name += "/" + api.Version
	}
	return name
}

// quoted lists the first names, and counts the others.
func quoted(names []string, separator string) string {
	const most = 5
	var shown []string
	for i, name := range names {
		if i == most {
			shown = append(shown, fmt.Sprintf("%d more", len(names)-most))
			break
		}
		shown = append(shown, "'"+displayName(name)+"'")
	}
	return strings.Join(shown, separator)
}
