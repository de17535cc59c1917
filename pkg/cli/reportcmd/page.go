package reportcmd

import (
	"time"

	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report/overview"
	"open-cluster-management.io/interlock/pkg/report/page"
	"open-cluster-management.io/interlock/pkg/text"
)

// printPage prints the page of the fleet.
func (o *options) printPage(fleet *snapshot.Snapshot) error {
	selection := o.source.Selection()
	if cluster := o.source.Cluster(); cluster != "" {
		selection += " on " + text.Name(cluster)
	}
	return page.Write(o.Out, overview.Find(fleet, overview.Options{
		Hub:       o.source.Name(),
		Selection: selection,
		Cluster:   o.source.Cluster(),
		Now:       time.Now(),
		GroupBy:   o.groupBy,
		Notes:     source.Notes(fleet),
		Command:   o.source.Command,
		Note:      o.source.Note,
	}))
}
