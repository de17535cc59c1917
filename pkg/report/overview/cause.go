package overview

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation/cause"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/report/nextstep"
	"open-cluster-management.io/interlock/pkg/text"
)

// addCauses adds the root causes. It returns the notes about the flags that their commands lack.
func (o *Overview) addCauses(hub *snapshot.Snapshot, causes *report.RootCauses, options Options) []string {
	notes := map[string]bool{}
	for i := range causes.Items[:min(len(causes.Items), maxCauses)] {
		step := nextstep.Find(hub, &causes.Items[i])
		o.Causes = append(o.Causes, causeOf(hub, &causes.Items[i], step, i+1, options.Command))
		if note := options.Note(step.Run); note != "" {
			notes[note] = true
		}
	}
	capacity := causeBytes
	o.LeftOut.Causes = int32(len(causes.Items) - len(o.Causes)) //nolint:gosec // bounded by memory
	o.Causes = report.Fit(o.Causes, maxCauses, &capacity, &o.LeftOut.Causes)
	return slices.Sorted(maps.Keys(notes))
}

// addUnavailable adds the add-ons that are not available, and are no root cause.
func (o *Overview) addUnavailable(hub *snapshot.Snapshot, causes *report.RootCauses, options Options) {
	groups := causes.Unavailable(hub)
	for i := range groups[:min(len(groups), maxUnavailable)] {
		group := &groups[i]
		step := nextstep.FindUnavailable(hub, group)
		entry := Cause{
			Title:    safeText(text.Name(group.AddOn) + " is not available: " + group.Reason),
			Clusters: len(group.Clusters), AddOns: len(group.Clusters), Others: group.Others,
			Since: group.Began.Since, Place: group.Began.Place(len(group.Clusters)),
			Note: safeText(step.Note), Effect: step.Effect(len(group.Clusters)), ClusterNames: named(group.Clusters, maxOn),
		}
		entry.addTraits(group.Shared)
		entry.addCommands(step.Run, options.Command)
		o.Unavailable = append(o.Unavailable, entry)
	}
	capacity := unavailableBytes
	o.LeftOut.Unavailable = int32(len(groups) - len(o.Unavailable)) //nolint:gosec // bounded by memory
	o.Unavailable = report.Fit(o.Unavailable, maxUnavailable, &capacity, &o.LeftOut.Unavailable)
}

// causeOf returns the entry for a cause.
func causeOf(hub *snapshot.Snapshot, item *report.RootCause, step nextstep.Step, number int, command func(string) string) Cause {
	clusters := item.Clusters()
	cause := Cause{
		Number: number, Title: safeText(item.String()), Message: item.ShownMessage(),
		Effect:   step.Effect(len(clusters)),
		Clusters: len(clusters), AddOns: len(item.Victims), Others: item.Others,
		Since: item.Began.Since, Place: item.Began.Place(len(clusters)),
		Ranges: safeText(item.RangesText(maxNamed)), Repair: safeText(item.RepairText(maxShared)),
		Installation: safeText(report.InstallationText(hub, item.AddOn, clusters)), Note: safeText(step.Note),
	}
	if item.Effects != item.Began {
		cause.EffectsSince, cause.EffectsPlace = item.Effects.Since, item.Effects.Place(len(clusters))
	}
	counts := map[string]int{}
	for _, victim := range item.Victims {
		counts[victim.AddOn]++
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	shown := names[:min(len(names), maxNamed)]
	for _, name := range shown {
		cause.Victims = append(cause.Victims, Victim{AddOn: text.Name(name), Clusters: counts[name]})
	}
	cause.OtherVictims = len(names) - len(shown)
	cause.addTraits(item.Shared)
	cause.addCommands(step.Run, command)
	cause.ClusterNames = named(clusters, maxOn)
	return cause
}

// addTraits adds the first traits that the affected clusters share.
func (c *Cause) addTraits(traits []cause.Common) {
	for _, shared := range traits[:min(len(traits), maxShared)] {
		c.Shared = append(c.Shared, Trait{
			Name: text.Name(shared.Name), Value: text.Name(shared.Value), Affected: shared.Affected, Others: shared.Others,
		})
	}
}

// addCommands adds the commands of a step.
func (c *Cause) addCommands(run string, command func(string) string) {
	for line := range strings.Lines(run) {
		c.Run = append(c.Run, command(strings.TrimSpace(line)))
	}
}
