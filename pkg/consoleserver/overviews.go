package consoleserver

import (
	"time"

	"open-cluster-management.io/interlock/pkg/dependency/declaration/input"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report/overview"
	"open-cluster-management.io/interlock/pkg/text"
)

// overviews has the inputs of all overviews.
type overviews struct{ groupBy string }

// options returns the inputs of the overview of a part of the fleet.
func (o overviews) options(part *snapshot.Snapshot) overview.Options {
	options := overview.Options{
		Hub: "this hub", Now: time.Now(), GroupBy: o.groupBy, Notes: notes(part),
		Command: func(line string) string { return line }, Note: func(string) string { return "" },
	}
	if part.Hidden.Clusters {
		options.Selection = " that your rights on the hub allow you to see"
	}
	return options
}

// notes returns sentences about objects that verdicts depend on, and that are left out because of the rights of the viewer.
func notes(part *snapshot.Snapshot) []string {
	var notes []string
	for _, note := range []struct {
		isNeeded bool
		text     string
	}{
		{part.WithoutInterlock, "The hub does not serve the APIs of Interlock. Not known: since when dependencies fail, which APIs managed clusters " +
			"serve, and versions that only an agent reports."},
		{
			part.PoliciesUnread != "",
			"AddOnDependencyPolicies are left out, so dependencies that they override are shown as declared: " + text.OneLine(part.PoliciesUnread) + ".",
		},
		{
			part.Hidden.Templates && part.Declared.UsesTemplates(),
			"AddOnTemplates are left out, so what they declare is not known: no right to list addontemplates.",
		},
		{
			part.Hidden.Facts && part.Declared.AnyInput(input.Facts),
			"Reports of agents are left out, so dependencies on APIs and versions are held: no right to list managedclusterfacts.",
		},
		{
			part.Hidden.Configs && part.Declared.AnyInput(input.Variables),
			"Configurations are left out, so conditions that read them are held: no right to list addondeploymentconfigs.",
		},
		{
			part.OCMVersionUnread != "" && part.Declared.AnyInput(input.OCM),
			"The version of Open Cluster Management is not known: " + text.OneLine(part.OCMVersionUnread) + ".",
		},
		{
			part.Hidden.Clusters && part.Declared.AnyInput(input.Hosting),
			"Add-ons whose agent runs on a managed cluster that you may not see: dependencies on APIs there are held.",
		},
	} {
		if note.isNeeded {
			notes = append(notes, note.text)
		}
	}
	return notes
}
