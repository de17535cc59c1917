package protection

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxCount is the maximal number of objects in a message.
const maxCount = 1e15

// CountingPage explains how a provider lets addon-agent count objects.
const CountingPage = "https://github.com/open-cluster-management-io/interlock/blob/main/docs/author-guide.md#let-addon-agent-count-objects"

// Existing returns the reports of a managed cluster on the add-on's kinds, if objects of the kind exist or may exist.
func Existing(declared *catalog.Catalog, addOn string, reported []dependencyv1alpha1.ObjectsFact) []dependencyv1alpha1.ObjectsFact {
	provided := declared.Provided(addOn)
	return slices.DeleteFunc(slices.Clone(reported), func(fact dependencyv1alpha1.ObjectsFact) bool {
		return fact.Count != nil && *fact.Count == 0 || !slices.Contains(provided, apiOf(fact))
	})
}

// OtherProviders returns the add-ons, ascending, that also provide one of the kinds.
func OtherProviders(declared *catalog.Catalog, addOn string, facts []dependencyv1alpha1.ObjectsFact) []string {
	others := sets.New[string]()
	for _, fact := range facts {
		others.Insert(declared.Providers(apiOf(fact))...)
	}
	return sets.List(others.Delete(addOn))
}

func apiOf(fact dependencyv1alpha1.ObjectsFact) addonv1alpha1.AddonAPI {
	return addonv1alpha1.AddonAPI{Group: fact.Group, Kind: fact.Kind}
}

// Objects has the objects that a removal leaves without an add-on that provides their kind.
type Objects map[provided]*counted

type provided struct {
	addOn string
	kind  dependencyv1alpha1.ObjectKind
}

// counted are the objects of a kind, on all managed clusters.
type counted struct {
	number  int64
	atLeast bool
	// clusters have objects. last are the clusters among them whose report is an old one.
	clusters, last []string
	// unknown are the managed clusters that could not count their objects.
	unknown []string
	// forbidden is whether addon-agent may not list the objects on any of these.
	forbidden bool
}

// Add adds the objects of the kinds of an add-on that is removed from a managed cluster. stays reports whether another add-on
// stays there. last is whether the report is an old one, because the cluster is lost or its addon-agent does not run.
func (o Objects) Add(
	declared *catalog.Catalog, addOn, cluster string, existing []dependencyv1alpha1.ObjectsFact, stays func(addOn string) bool, last bool,
) {
	for _, fact := range existing {
		if slices.ContainsFunc(OtherProviders(declared, addOn, []dependencyv1alpha1.ObjectsFact{fact}), stays) {
			continue
		}
		key := provided{addOn, fact.ObjectKind}
		if o[key] == nil {
			o[key] = &counted{}
		}
		o[key].add(cluster, fact, last)
	}
}

func (c *counted) add(cluster string, fact dependencyv1alpha1.ObjectsFact, last bool) {
	if fact.Count == nil {
		c.unknown = append(c.unknown, cluster)
		c.forbidden = c.forbidden || fact.Reason == dependencyv1alpha1.ReasonForbidden
		return
	}
	// The report of a cluster may be wrong. All objects of a fleet are far fewer.
	c.number, c.atLeast = min(c.number+min(*fact.Count, maxCount), maxCount), c.atLeast || fact.AtLeast || *fact.Count > maxCount
	c.clusters = append(c.clusters, cluster)
	if last {
		c.last = append(c.last, cluster)
	}
}

// Sentence warns of objects on managed clusters, which it names.
type Sentence struct {
	Text     string
	Clusters []string
}

// Sentences returns warnings of the objects, kind by kind. Kinds with more objects come first.
func (o Objects) Sentences() []Sentence {
	kinds := slices.SortedFunc(maps.Keys(o), func(a, b provided) int {
		return cmp.Or(cmp.Compare(o[b].number, o[a].number), strings.Compare(a.name(), b.name()), strings.Compare(a.addOn, b.addOn))
	})
	var sentences []Sentence
	for _, kind := range kinds[:min(len(kinds), maxNamed)] {
		if counted := o[kind]; len(counted.clusters) > 0 {
			sentences = append(sentences, Sentence{counted.countText(kind), slices.Sorted(slices.Values(counted.clusters))})
		}
		if counted := o[kind]; len(counted.unknown) > 0 {
			sentences = append(sentences, Sentence{counted.unknownText(kind), slices.Sorted(slices.Values(counted.unknown))})
		}
	}
	if others := kinds[min(len(kinds), maxNamed):]; len(others) > 0 {
		clusters := sets.New[string]()
		for _, kind := range others {
			clusters.Insert(o[kind].clusters...).Insert(o[kind].unknown...)
		}
		sentence := fmt.Sprintf("there may be objects of %s on %s", text.Count(len(others), "more kind"), text.Count(len(clusters), "cluster"))
		sentences = append(sentences, Sentence{sentence, sets.List(clusters)})
	}
	return sentences
}

func (p provided) name() string {
	return text.Name(schema.GroupKind{Group: p.kind.Group, Kind: p.kind.Kind}.String())
}

func (p provided) provider() string {
	return fmt.Sprintf("which add-on '%s' provides", text.Name(p.addOn))
}

// countText describes the number of objects: "cluster1 has at least 40 objects of …".
func (c *counted) countText(kind provided) string {
	number, them := text.Count(int(c.number), "object"), "they are"
	switch {
	case c.atLeast:
		number = "at least " + number
	case c.number == 1:
		them = "it is"
	}
	have, on := text.Count(len(c.clusters), "cluster")+" have", " ("+some(c.clusters)+")"
	switch {
	case len(c.clusters) == 1 && len(c.last) == 1:
		have, on = text.Name(c.clusters[0])+" last reported", ""
	case len(c.clusters) == 1:
		have, on = text.Name(c.clusters[0])+" has", ""
	case len(c.last) > 0:
		on = fmt.Sprintf(" (%s; last reported by %d of them)", some(c.clusters), len(c.last))
	}
	return fmt.Sprintf("%s %s of %s%s, %s: %s lost or left without a controller when it is removed",
		have, number, kind.name(), on, kind.provider(), them)
}

// unknownText warns that the number is unknown, and explains how addon-agent can count.
func (c *counted) unknownText(kind provided) string {
	on := "on " + text.Name(c.unknown[0])
	if len(c.unknown) > 1 {
		on = fmt.Sprintf("on %s (%s)", text.Count(len(c.unknown), "cluster"), some(c.unknown))
	}
	sentence := fmt.Sprintf("how many objects of %s exist %s, %s, is not known", kind.name(), on, kind.provider())
	if c.forbidden {
		return sentence + ": addon-agent may not list them. To let it count them, see " + CountingPage
	}
	return sentence + ": addon-agent could not count them"
}
