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

// maxAlternative is how many characters describe what was found of one alternative: all together stay far below what a
// condition can have.
const maxAlternative = 2048

// evaluateAnyOf decides by the alternatives: one that is satisfied is enough, whatever is true of the others.
// The edge is not taken from g: what findings keep of it would be taken for a part of all that g has, and be allocated.
func evaluateAnyOf(g *given, edge *declaration.Edge, f *Finding) {
	for i := range edge.Alternatives {
		if !maySatisfy(g, &edge.Alternatives[i]) || g.circles.mayLead(edge, i) {
			continue
		}
		one := Finding{Dependency: &edge.Alternatives[i].Dependency}
		if evaluateAlternative(g, edge, i, &one); one.Verdict == Satisfied {
			f.Verdict = Satisfied
			return
		}
	}
	f.notAny(findAlternatives(g, edge))
}

// maySatisfy reports whether the rule of an alternative may find it satisfied. Most that are not are found so without what a
// finding explains, which would be allocated in each evaluation.
func maySatisfy(g *given, alternative *declaration.Edge) bool {
	switch api := alternative.Dependency.API; declaration.ServedBy(&alternative.Dependency) {
	case "":
		return g.state.AddOns.Named(alternative.AddOn).Works()
	case addonv1alpha1.APIServerHub:
		return g.cluster.HubAPIs[api.AddonAPI].Served == metav1.ConditionTrue
	case addonv1alpha1.APIServerHostingCluster: // which cluster that is, its rule finds
		return true
	default:
		return g.cluster.Facts.APIs[api.AddonAPI].Served == metav1.ConditionTrue
	}
}

// evaluateAlternative finds the verdict on one alternative by itself.
func evaluateAlternative(g *given, edge *declaration.Edge, i int, f *Finding) {
	g.edge = &edge.Alternatives[i]
	dependencyKind(&g.edge.Dependency).evaluate(g, f)
	g.edge = edge
}

// findAlternatives returns the findings on all alternatives, in the order declared.
func findAlternatives(g *given, edge *declaration.Edge) []Finding {
	found := make([]Finding, len(edge.Alternatives))
	for i := range found {
		f := &found[i]
		f.Dependency = &edge.Alternatives[i].Dependency
		if g.circles.leads(edge, i) {
			f.Verdict, f.Cycle = Cycle, g.circles.certain.Cycle(edge.Alternatives[i].AddOn)
			f.detail().Because = fmt.Sprintf("waits for '%s' itself: %s", text.Name(g.circles.addOn),
				catalog.ChainText(g.circles.certain.Round(edge.Alternatives[i].AddOn)))
			continue
		}
		evaluateAlternative(g, edge, i, f)
		if f.Verdict == Satisfied { // it may wait for the add-on
			f.Verdict = Held
			f.Until, f.Due = g.cluster.factsDue()
			f.detail().Because = "whether it waits for the add-on itself is not known yet"
		}
	}
	return found
}

// notAny sets the verdict where no alternative is known to be satisfied: one that is held may be.
func (f *Finding) notAny(alternatives []Finding) {
	circular := 0
	f.Verdict, f.Due = NoAlternative, true
	for i := range alternatives {
		one := &alternatives[i]
		f.Due = f.Due && (one.Due || !one.Held())
		switch {
		case one.Verdict == Cycle:
			circular++
		case one.Verdict == Held && f.Verdict != Held:
			f.Verdict = Held
			if because := one.HeldBecause(); because != "" {
				f.detail().Because = one.Target() + ": " + because
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

// Ends are the findings on one add-on, API or requirement each: those of the alternatives where none is
// satisfied, else the finding itself.
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

// Causes are the findings that keep the edge from being satisfied: those of the alternatives where none is, apart from
// those that wait for the add-on itself, else the finding itself. Each repair of one of them satisfies the edge.
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

// Named are the findings by which an edge names add-ons and APIs, without verdicts: one for each alternative, or one for the edge.
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
	for _, one := range Named(f.Dependency) {
		what := "addon '" + one.Target() + "'"
		if one.Dependency.API != nil {
			what = "API '" + one.API() + "'" + one.onServer()
		}
		if version := one.Dependency.Version; version != "" {
			what += " in version '" + shown(version) + "'"
		}
		listed = append(listed, what)
	}
	return fmt.Sprintf("%s: one of %s; none is available.", f.Type(), either(listed))
}

// either joins words by commas, and the last one by "or".
func either(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

func anyOfFound(f *Finding) string {
	var found []string
	for end := range f.Ends() {
		if end == f {
			break // no alternative was looked at
		}
		is := end.Found()
		if end.Verdict == Cycle {
			is = end.Detail.Because
		}
		found = append(found, end.Target()+": "+text.Cut(is, maxAlternative))
	}
	return strings.Join(found, "; ")
}
