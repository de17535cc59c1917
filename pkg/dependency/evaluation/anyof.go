package evaluation

import (
	"fmt"
	"iter"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxAlternative is the maximum length of the description of an alternative, in characters, so that all alternatives fit into a
// condition.
const maxAlternative = 2048

// evaluateAnyOf sets the verdict by the alternatives. One satisfied alternative is enough. The edge is an argument beside
// g, because findings keep parts of it. Otherwise all of g would be allocated on the heap.
func evaluateAnyOf(g *grounds, edge *declaration.Edge, f *Finding) {
	for i := range edge.Alternatives {
		if !maySatisfy(g, &edge.Alternatives[i]) || g.waiters.mayWait(edge, i) {
			continue
		}
		finding := Finding{Dependency: &edge.Alternatives[i].Dependency}
		if evaluateAlternative(g, edge, i, &finding); finding.Verdict == Satisfied {
			f.Verdict = Satisfied
			return
		}
	}
	f.notAny(findAlternatives(g, edge))
}

// maySatisfy reports whether the rule of an alternative can return Satisfied. It avoids most findings, which would be
// allocated in each evaluation.
func maySatisfy(g *grounds, alternative *declaration.Edge) bool {
	switch api := alternative.Dependency.API; declaration.ServedBy(&alternative.Dependency) {
	case "":
		return g.state.AddOns.Named(alternative.AddOn).Works()
	case addonv1alpha1.APIServerHub:
		return g.cluster.HubAPIs[api.AddonAPI].Served == metav1.ConditionTrue
	case addonv1alpha1.APIServerHostingCluster: // the rule of its kind looks up the hosting cluster
		return true
	default:
		return g.cluster.Facts.APIs[api.AddonAPI].Served == metav1.ConditionTrue
	}
}

// evaluateAlternative evaluates a single alternative.
func evaluateAlternative(g *grounds, edge *declaration.Edge, i int, f *Finding) {
	g.edge = &edge.Alternatives[i]
	dependencyKind(&g.edge.Dependency).evaluate(g, f)
	g.edge = edge
}

// findAlternatives returns the findings on all alternatives, in the declared order.
func findAlternatives(g *grounds, edge *declaration.Edge) []Finding {
	findings := make([]Finding, len(edge.Alternatives))
	for i := range findings {
		f := &findings[i]
		f.Dependency = &edge.Alternatives[i].Dependency
		if g.waiters.waits(edge, i) {
			f.Verdict, f.Cycle = Cycle, g.waiters.certain.Cycle(edge.Alternatives[i].AddOn)
			f.detail().Because = fmt.Sprintf("waits for '%s' itself: %s", text.Name(g.waiters.addOn),
				catalog.ChainText(g.waiters.certain.Round(edge.Alternatives[i].AddOn)))
			continue
		}
		evaluateAlternative(g, edge, i, f)
		if f.Verdict == Satisfied { // the alternative may wait for the add-on
			f.Verdict = Held
			f.Until, f.Due = g.cluster.factsDue()
			f.detail().Because = "whether it waits for the add-on itself is not known yet"
		}
	}
	return findings
}

// notAny sets the verdict where no alternative is certainly satisfied. A held alternative may be satisfied.
func (f *Finding) notAny(alternatives []Finding) {
	circular := 0
	f.Verdict, f.Due = NoAlternative, true
	for i := range alternatives {
		alternative := &alternatives[i]
		f.Due = f.Due && (alternative.Due || !alternative.Held())
		switch {
		case alternative.Verdict == Cycle:
			circular++
		case alternative.Verdict == Held && f.Verdict != Held:
			f.Verdict = Held
			if because := alternative.HeldBecause(); because != "" {
				f.detail().Because = alternative.Target() + ": " + because
			}
		}
	}
	f.Due = f.Due && f.Held()
	f.Until = HeldUntil(alternatives)
	if f.Verdict == Held {
		return
	}
	if circular == len(alternatives) {
		f.Verdict, f.Cycle = Cycle, alternatives[0].Cycle
	}
	f.detail().Alternatives = alternatives
}

// Ends returns the findings on the alternatives if none is satisfied. Otherwise it returns the finding itself. Each result
// is about one add-on, API or requirement.
func (f *Finding) Ends() iter.Seq[*Finding] {
	return func(yield func(*Finding) bool) {
		if f.Detail == nil || len(f.Detail.Alternatives) == 0 {
			yield(f)
			return
		}
		for i := range f.Detail.Alternatives {
			if !yield(&f.Detail.Alternatives[i]) {
				return
			}
		}
	}
}

// Causes returns the findings that can be repaired to satisfy the edge; one repair is enough. They are the findings on the
// alternatives, except alternatives that wait for the add-on itself. Without alternatives, it is the finding itself.
func (f *Finding) Causes() iter.Seq[*Finding] {
	return func(yield func(*Finding) bool) {
		if f.Verdict != NoAlternative {
			yield(f)
			return
		}
		for end := range f.Ends() {
			if (end == f || end.Verdict != Cycle) && !yield(end) {
				return
			}
		}
	}
}

// Named returns a finding without a verdict for each alternative, or for the edge itself. Messages use them for the names
// of add-ons and APIs.
func Named(dependency *addonv1alpha1.AddonDependency) []Finding {
	if !declaration.HasAlternatives(dependency) {
		return []Finding{{Dependency: dependency}}
	}
	named := make([]Finding, len(dependency.AnyOf))
	for i := range dependency.AnyOf {
		alternative := declaration.Alternative(dependency, &dependency.AnyOf[i])
		named[i].Dependency = &alternative
	}
	return named
}

func anyOfSentence(f *Finding) string {
	var listed []string
	for _, alternative := range Named(f.Dependency) {
		target := "addon '" + alternative.Target() + "'"
		if alternative.Dependency.API != nil {
			target = "API '" + alternative.API() + "'" + alternative.onServer()
		}
		if version := alternative.Dependency.Version; version != "" {
			target += " in version '" + excerpt(version) + "'"
		}
		listed = append(listed, target)
	}
	return fmt.Sprintf("%s: one of %s; none is available.", f.Type(), joinOr(listed))
}

// joinOr joins words by commas, and puts "or" before the last word.
func joinOr(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func describeAlternatives(f *Finding) string {
	var descriptions []string
	for end := range f.Ends() {
		if end == f {
			break // no alternative was evaluated
		}
		description := end.Reason()
		if end.Verdict == Cycle {
			description = end.Detail.Because
		}
		descriptions = append(descriptions, end.Target()+": "+text.Cut(description, maxAlternative))
	}
	return strings.Join(descriptions, "; ")
}
