package planned

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/dependency/steps"
	"open-cluster-management.io/interlock/pkg/text"
)

// warnings are those of the hub. The same one for many managed clusters is shown once.
type warnings struct {
	lock sync.Mutex
	// known reports whether the plan has one; nil: it has none.
	known func(warning string) bool
	// clusters are the names of the managed clusters of the plan, ascending.
	clusters []string
	// shown are what is the same for all managed clusters, of the warnings that were shown.
	shown sets.Set[string]
	// collected are the warnings that wait for the same ones for other managed clusters, by what is the same; nil: none waits.
	collected map[string]*repeated
}

// repeated is a warning for some managed clusters.
type repeated struct {
	text     string
	clusters sets.Set[string]
}

// has reports whether a warning is not to be shown now: the plan has it, or it was shown, or is collected.
func (w *warnings) has(warning string) bool {
	if w.known != nil && w.known(warning) {
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
	one := w.collected[general]
	one.text = min(one.text, warning)
	if cluster != "" {
		one.clusters.Insert(cluster)
	}
	return true
}

// general returns a warning without the managed cluster that it names, and that cluster.
func (w *warnings) general(warning string) (general, cluster string) {
	words := strings.Split(warning, " ")
	for i, word := range words {
		name := strings.Trim(word, `'",.:;()`)
		if at, found := slices.BinarySearch(w.clusters, name); found {
			cluster = w.clusters[at]
			words[i] = strings.Replace(word, name, "*", 1)
		}
	}
	return strings.Join(words, " "), cluster
}

// collect keeps warnings until show shows them.
func (w *warnings) collect(on *Fleet) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.clusters, w.collected = nil, map[string]*repeated{}
	for i := range on.Clusters {
		w.clusters = append(w.clusters, on.Clusters[i].Name)
	}
	slices.Sort(w.clusters)
}

// show shows the warnings that were collected, each once.
func (w *warnings) show(out io.Writer) {
	w.lock.Lock()
	defer w.lock.Unlock()
	for _, general := range slices.Sorted(maps.Keys(w.collected)) {
		one := w.collected[general]
		line := text.OneLine(one.text)
		if len(one.clusters) > 1 {
			line = fmt.Sprintf("%s (the same %s)", line, steps.On(sets.List(one.clusters)))
		}
		fmt.Fprintln(out, "Warning: "+line)
		w.shown.Insert(general)
	}
	w.collected = nil
}
