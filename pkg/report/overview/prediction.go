package overview

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/condition/whatif"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// Prediction is the effect of a change of an add-on on the dependencies of a fleet.
type Prediction struct {
	// Sentence is the result.
	Sentence string `json:"sentence"`
	// Notes are sentences about the known versions of the add-on, and the ranges that were checked.
	Notes []string `json:"notes,omitempty"`
	// Groups are the changed dependencies, by their effect.
	Groups []EffectGroup `json:"groups"`
}

// Effect is the effect of a changed dependency on its add-on.
type Effect string

// The effects, worst first.
const (
	Stops       Effect = "Stops"
	LosesOption Effect = "LosesOption"
	StaysBroken Effect = "StaysBroken"
	Undecided   Effect = "Undecided"
	Recovers    Effect = "Recovers"
)

var effects = []struct {
	effect Effect
	title  string
}{
	{Stops, "Stops working"},
	{LosesOption, "An Optional dependency fails"},
	{StaysBroken, "The dependency fails already, or another one does"},
	{Undecided, "Not known after the change"},
	{Recovers, "The dependency becomes satisfied"},
}

// EffectGroup has the changed dependencies with the same effect.
type EffectGroup struct {
	Effect Effect        `json:"effect"`
	Title  string        `json:"title"`
	Edges  []ChangedEdge `json:"edges"`
}

// ChangedEdge is a dependency with another verdict after a change, and the number of managed clusters where it has.
type ChangedEdge struct {
	AddOn    string                       `json:"addOn"`
	Edge     string                       `json:"edge"`
	Type     addonv1alpha1.DependencyType `json:"type"`
	Before   evaluation.Verdict           `json:"before,omitempty"`
	After    evaluation.Verdict           `json:"after"`
	Clusters int                          `json:"clusters"`
}

// Predict predicts the effect of the removal of an add-on, or of another version of it.
func (f *Finder) Predict(addOn, version string) Prediction {
	change := whatif.Change{Remove: []string{addOn}}
	if version != "" {
		change = whatif.Change{Versions: map[string]string{addOn: version}}
	}
	items := report.FindImpact(f.hub, "", report.Trial{Change: change}).Items
	p := &predictor{finder: f, edges: map[Effect][]ChangedEdge{}, clusters: map[Effect]map[string]bool{}, addOns: map[Effect]map[string]bool{}}
	for i := range items {
		p.add(&items[i])
	}
	prediction := Prediction{Sentence: p.sentence(), Groups: []EffectGroup{}}
	for _, each := range effects {
		if edges := p.edges[each.effect]; len(edges) > 0 {
			prediction.Groups = append(prediction.Groups, EffectGroup{Effect: each.effect, Title: each.title, Edges: edges})
		}
	}
	if version == "" {
		return prediction
	}
	prediction.Notes = f.versionNotes(addOn)
	if ranges := f.rangesOf(addOn); len(ranges) > 0 {
		prediction.Notes = append(prediction.Notes, rangesNote(ranges))
	} else if len(items) == 0 {
		prediction.Sentence = "No dependency has a requirement on its version, so none changes. " +
			"Whether it works itself in this version is not checked."
	}
	return prediction
}

// predictor collects changed dependencies by their effect, with the managed clusters and the add-ons of each effect.
type predictor struct {
	finder           *Finder
	edges            map[Effect][]ChangedEdge
	clusters, addOns map[Effect]map[string]bool
}

// add adds a changed dependency. Where its add-on fails already, a Required dependency that fails too does not stop it.
func (p *predictor) add(item *report.Affected) {
	byEffect := map[Effect][]string{}
	for _, cluster := range item.Clusters {
		effect := effectOf(item)
		if effect == Stops && p.finder.states.listed[location{cluster, item.AddOn}] == Failing {
			effect = StaysBroken
		}
		byEffect[effect] = append(byEffect[effect], cluster)
	}
	for effect, clusters := range byEffect {
		p.edges[effect] = append(p.edges[effect], ChangedEdge{
			AddOn: text.Name(item.AddOn), Edge: text.Name(item.Edge), Type: item.Type,
			Before: item.VerdictBefore, After: item.VerdictAfter, Clusters: len(clusters),
		})
		if p.clusters[effect] == nil {
			p.clusters[effect], p.addOns[effect] = map[string]bool{}, map[string]bool{}
		}
		p.addOns[effect][item.AddOn] = true
		for _, cluster := range clusters {
			p.clusters[effect][cluster] = true
		}
	}
}

func effectOf(item *report.Affected) Effect {
	unsatisfied := item.VerdictAfter.Unsatisfied()
	switch {
	case item.Breaks && item.Type == addonv1alpha1.DependencyTypeOptional:
		return LosesOption
	case item.Breaks:
		return Stops
	case unsatisfied:
		return StaysBroken
	case item.VerdictAfter == evaluation.Held:
		return Undecided
	default:
		return Recovers
	}
}

// sentence returns the result in one sentence.
func (p *predictor) sentence() string {
	place := func(effect Effect) string { return "on " + text.Count(len(p.clusters[effect]), "managed cluster") }
	first := "No add-on stops working"
	if names := slices.Sorted(maps.Keys(p.addOns[Stops])); len(names) == 1 {
		first = text.Name(names[0]) + " stops working " + place(Stops)
	} else if len(names) > 1 {
		first = fmt.Sprintf("%d add-ons stop working %s", len(names), place(Stops))
	}
	parts := []string{first}
	if len(p.clusters[LosesOption]) > 0 {
		parts = append(parts, "an Optional dependency fails "+place(LosesOption))
	}
	if len(p.clusters[Recovers]) > 0 {
		parts = append(parts, "a dependency becomes satisfied "+place(Recovers))
	}
	if len(p.edges) == 0 {
		parts = append(parts, "no dependency changes")
	}
	return strings.Join(parts, "; ") + "."
}

// versionNotes describes the known versions of an add-on.
func (f *Finder) versionNotes(addOn string) []string {
	counts := report.InstalledVersions(f.hub, addOn)
	unknown := counts[""]
	delete(counts, "")
	versions := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	var notes []string
	for _, version := range versions[:min(len(versions), maxNamed)] {
		notes = append(notes, fmt.Sprintf("%s on %s", text.Name(version), text.Count(counts[version], "managed cluster")))
	}
	if left := len(versions) - len(notes); left > 0 {
		notes = append(notes, fmt.Sprintf("%d other versions", left))
	}
	if unknown > 0 {
		notes = append(notes, "not known on "+text.Count(unknown, "managed cluster"))
	}
	return []string{"Installed version: " + strings.Join(notes, ", ") + "."}
}

// rangesOf returns the declared ranges of versions of an add-on, with the add-ons that declare them.
func (f *Finder) rangesOf(addOn string) []string {
	var ranges []string
	edges := report.FindGraph(f.hub, "", "").Edges
	for i := range edges {
		if edges[i].Target == text.Name(addOn) && edges[i].Version != "" {
			ranges = append(ranges, fmt.Sprintf("%s of %s", text.OneLine(edges[i].Version), text.Name(edges[i].Dependent)))
		}
	}
	return ranges
}

// rangesNote names the ranges that were checked.
func rangesNote(ranges []string) string {
	shown := ranges[:min(len(ranges), maxNamed)]
	note := "Checked version requirements: " + strings.Join(shown, "; ")
	if left := len(ranges) - len(shown); left > 0 {
		note += fmt.Sprintf("; %d more", left)
	}
	return safeText(note + ".")
}
