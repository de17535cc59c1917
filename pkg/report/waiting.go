package report

import (
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
)

type reportedWait = dependencyv1alpha1.ReportedWait

// waits returns the installations and upgrades that wait. A wait whose dependencies are not known keeps the stored dependencies.
func (c *Cluster) waits(stored *DependencyReport) []reportedWait {
	waits := make([]reportedWait, 0, len(c.Waiting))
	for _, waiting := range c.Waiting {
		entry := reportedWait{
			AddOn: name(waiting.AddOn), Kind: waiting.Kind, Since: sinceTime(waiting.Since),
			RunningTemplate: name(waiting.Running.Name), RunningVersion: name(waiting.Running.Version),
			Template: name(waiting.Template.Name), Version: name(waiting.Template.Version),
		}
		awaited := c.awaited(waiting)
		for i := range awaited[:min(len(awaited), dependencyv1alpha1.MaxAwaited)] {
			entry.Dependencies = append(entry.Dependencies, awaitedEdge(&awaited[i]))
		}
		if last := waitIn(stored, entry); last != nil && slices.ContainsFunc(awaited, evaluation.Finding.Held) {
			entry.Dependencies = last.Dependencies
		}
		waits = append(waits, entry)
	}
	return waits
}

// awaited returns the findings that keep the add-on, with the AddOnTemplate that waits, from working.
func (c *Cluster) awaited(waiting fleet.Waiting) []evaluation.Finding {
	findings := c.findings[waiting.AddOn]
	observation := c.AddOns[waiting.AddOn]
	if waiting.Template.Name != "" && observation.Template.Name != waiting.Template.Name {
		changed := c.Cluster
		changed.AddOns = maps.Clone(c.AddOns)
		observation.Template = versions.Templates{Name: waiting.Template.Name, Running: waiting.Template.Version}
		changed.AddOns[waiting.AddOn] = observation
		findings = c.evaluator.Findings(changed)[waiting.AddOn]
	}
	return slices.DeleteFunc(slices.Clone(findings), func(f evaluation.Finding) bool {
		return !f.Blocks() || !f.Unsatisfied() && !f.Held()
	})
}

func awaitedEdge(finding *evaluation.Finding) dependencyv1alpha1.AwaitedEdge {
	edge := dependencyv1alpha1.AwaitedEdge{Dependency: name(finding.Name()), Wanted: requirementOf(finding), Verdict: string(finding.Verdict)}
	if finding.Held() {
		edge.Found = sentence(finding.HeldBecause())
	} else {
		edge.Found = sentence(finding.Reason())
	}
	return edge
}

// waitIn returns the entry of the same wait in the stored report. It returns nil without such an entry, or without a report.
func waitIn(stored *DependencyReport, wait reportedWait) *reportedWait {
	if stored == nil {
		return nil
	}
	index := slices.IndexFunc(stored.Waiting, func(candidate reportedWait) bool {
		return candidate.AddOn == wait.AddOn && candidate.Kind == wait.Kind && candidate.Template == wait.Template
	})
	if index < 0 {
		return nil
	}
	return &stored.Waiting[index]
}

// sinceTime returns a time of a report, in full seconds. It is nil for a zero time.
func sinceTime(since metav1.Time) *metav1.Time {
	if since.IsZero() {
		return nil
	}
	return &metav1.Time{Time: since.UTC().Truncate(time.Second)}
}

// Templated returns the name of an AddOnTemplate, followed by its version in parentheses. Both may be empty.
func Templated(template, version string) string {
	if version == "" {
		return template
	}
	return template + " (" + version + ")"
}
