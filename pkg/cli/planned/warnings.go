package planned

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
	"open-cluster-management.io/interlock/pkg/text"
)

// warnings shows the warnings of the hub. An equal warning for many managed clusters is shown once.
type warnings struct {
	lock sync.Mutex
	// inPlan are the warnings that the plan shows.
	inPlan sets.Set[string]
	// clusters are the names of the managed clusters of the plan, ascending.
	clusters []string
	// shown are the warnings that were shown, without their managed cluster.
	shown sets.Set[string]
	// collected are the warnings that wait for equal ones for other managed clusters. The keys are warnings without their managed cluster. The
	// map is nil while warnings are shown at once.
	collected map[string]*repeated
}

// repeated is an equal warning for some managed clusters.
type repeated struct {
	text     string
	clusters sets.Set[string]
}

// handle reports whether a warning must not be shown now: the plan contains it, or it was shown, or it is collected.
func (w *warnings) handle(warning string) bool {
	if w.inPlan.Has(warning) {
		return true
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	general, cluster := w.general(warning)
	switch {
	case w.shown.Has(general):
		return true
	case w.collected == nil:
		w.shown.Insert(general)
		return false
	case w.collected[general] == nil:
		w.collected[general] = &repeated{text: warning, clusters: sets.New[string]()}
	}
	collected := w.collected[general]
	collected.text = min(collected.text, warning)
	if cluster != "" {
		collected.clusters.Insert(cluster)
	}
	return true
}

// general returns a warning without the managed cluster that it names, and that cluster.
func (w *warnings) general(warning string) (general, cluster string) {
	words := strings.Split(warning, " ")
	for i, word := range words {
		name := strings.Trim(word, `'",.:;()`)
		if index, ok := slices.BinarySearch(w.clusters, name); ok {
			cluster = w.clusters[index]
			words[i] = strings.Replace(word, name, "*", 1)
		}
	}
	return strings.Join(words, " "), cluster
}

// collect keeps warnings until the call of show.
func (w *warnings) collect(fleet *Fleet) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.clusters, w.collected = nil, map[string]*repeated{}
	for i := range fleet.Clusters {
		w.clusters = append(w.clusters, fleet.Clusters[i].Name)
	}
	slices.Sort(w.clusters)
}

// show prints each collected warning once.
func (w *warnings) show(out io.Writer) {
	w.lock.Lock()
	defer w.lock.Unlock()
	for _, general := range slices.Sorted(maps.Keys(w.collected)) {
		collected := w.collected[general]
		line := text.OneLine(collected.text)
		if len(collected.clusters) > 1 {
			line = fmt.Sprintf("%s (the same %s)", line, steps.On(sets.List(collected.clusters)))
		}
		fmt.Fprintln(out, "Warning: "+line)
		w.shown.Insert(general)
	}
	w.collected = nil
}
