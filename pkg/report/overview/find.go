package overview

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/duration"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/report/nextstep"
	"open-cluster-management.io/interlock/pkg/text"
)

// Limits of the lists, so that a page of a large fleet stays small. Lists of causes and clusters are also limited in bytes of JSON.
const (
	maxCauses    = 100
	maxNamed     = 8 // victims and ranges of a cause
	maxShared    = 3
	maxOn        = 100 // managed clusters of a cause
	maxClusters  = 500
	causeBytes   = 256 << 10
	clusterBytes = 768 << 10

	maxUnavailable   = 50
	unavailableBytes = 128 << 10
)

// oldAfter is the time after which a notice reports that the data is old.
const oldAfter = 10 * time.Minute

// Options are the inputs of an overview besides the fleet.
type Options struct {
	// Hub is the address of the hub, or the name of the file that was read. Selection describes the selected managed clusters.
	Hub, Selection string
	// Cluster is the managed cluster that the overview is limited to. It is empty for all.
	Cluster string
	// Now is the time at which the overview is made.
	Now time.Time
	// GroupBy is the label of managed clusters whose values are the groups of the matrix.
	GroupBy string
	// Notes are sentences about objects that could not be read.
	Notes []string
	// Fixed is whether the fleet was read from a file, which does not change.
	Fixed bool
	// Interactive is whether the page requests the details of a managed cluster. The overview has the grid of all add-ons then, and no details.
	Interactive bool
	// Command returns a command for people with the flags that select the hub. Note returns a note about the flags that it lacks.
	Command, Note func(line string) string
}

// Finder finds the parts of an overview.
type Finder struct {
	hub     *snapshot.Snapshot
	options Options
	causes  *report.RootCauses
	states  *stateFinder
	// clusters are the managed clusters of the overview, in the order of their names.
	clusters []located
	// graph has the dependencies of all add-ons.
	graph *report.Graph
}

// New returns a finder for a fleet. It evaluates each managed cluster once.
func New(hub *snapshot.Snapshot, options Options) *Finder {
	hub.KeepFindings()
	causes := report.FindRootCauses(hub, report.Filter{Cluster: options.Cluster})
	f := &Finder{hub: hub, options: options, causes: causes, states: newStateFinder(causes)}
	names := slices.DeleteFunc(hub.Names(), func(name string) bool { return cmp.Or(options.Cluster, name) != name })
	f.clusters = make([]located, len(names))
	var group errgroup.Group
	group.Go(func() error {
		f.graph = report.FindGraph(hub, options.Cluster, "")
		return nil
	})
	for i, name := range names {
		f.clusters[i] = locate(hub, f.states, name, options.GroupBy)
	}
	_ = group.Wait() // the function has no error
	return f
}

// Find returns the overview of a fleet.
func Find(hub *snapshot.Snapshot, options Options) *Overview { return New(hub, options).Overview() }

// Overview returns the overview.
func (f *Finder) Overview() *Overview {
	hub, options, causes := f.hub, f.options, f.causes
	o := &Overview{
		Hub: text.OneLine(options.Hub), Selection: text.OneLine(options.Selection), Taken: hub.Taken, Reach: causes.Reach,
		Fixed:    options.Fixed,
		Detached: len(causes.Detached), Dependents: causes.AddOns, Causes: []Cause{}, Clusters: []Cluster{},
		Graph: f.graph,
	}
	notes := o.addCauses(hub, causes, options)
	o.addUnavailable(hub, causes, options)
	o.addUnreachable(hub, options)
	for _, unusable := range causes.Unusable {
		o.Unusable = append(o.Unusable, report.Unusable{AddOn: text.Name(unusable.AddOn), Problem: safeText(unusable.Problem)})
	}
	f.addClusters(o)
	o.setScope()
	o.addNotices(options, notes)
	return o
}

// addNotices adds the reasons why the overview is not complete or not current, and notes about the flags that commands lack.
func (o *Overview) addNotices(options Options, notes []string) {
	add := func(count int, notice Notice) {
		if count > 0 {
			o.Notices = append(o.Notices, notice)
		}
	}
	if age := options.Now.Sub(o.Taken); age > oldAfter {
		add(1, Notice{
			Text: fmt.Sprintf("This data is old: it was read %s before this page was made.", duration.HumanDuration(age)), Urgent: true,
		})
	}
	stale := o.count(Stale)
	add(stale, Notice{
		Text: fmt.Sprintf("The conditions of %s are out of date: addon-manager, or the agent that sets Available, has not updated them.",
			text.Count(stale, "add-on")),
		Run: options.Command(nextstep.Doctor),
	})
	add(o.Detached, Notice{Text: text.Count(o.Detached, "managed cluster") + " of the fleet will be detached from the hub, and no root cause counts them."})
	for _, note := range options.Notes {
		add(1, Notice{Text: safeText(note)})
	}
	for _, note := range notes {
		add(1, Notice{Text: safeText(note), Urgent: true})
	}
}

func (o *Overview) count(state State) int { return o.AddOns[state.rank()].Count }

// named returns the first names, safe to show.
func named(names []string, limit int) Names {
	shown := Names{LeftOut: max(0, len(names)-limit)}
	for _, name := range names[:min(len(names), limit)] {
		shown.Names = append(shown.Names, text.Name(name))
	}
	return shown
}

func safeText(content string) string { return text.Cut(text.OneLine(content), report.MaxMessage) }
