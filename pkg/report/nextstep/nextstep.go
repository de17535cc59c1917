// Package nextstep finds the command that repairs a root cause, or that shows more of it.
package nextstep

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/policy"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxNames is the maximum length of the names in a command, in characters. People paste the
// command and do not read it, but a terminal cuts a line off at 4,096 characters.
const maxNames = 3000

// maxPolicies is the maximum length of the names of policies in a note, in characters.
const maxPolicies = 500

// Commands for people: Doctor checks the parts of Interlock, describe shows an add-on on a managed cluster, readFacts shows the reports of addon-agent there, and unsetSettings shows why
// addon-manager does not set the settings of add-ons there.
const (
	Doctor        = "kubectl addon doctor"
	describe      = "kubectl describe managedclusteraddon %s -n %s"
	readFacts     = "kubectl get managedclusterfacts %s -n %s -o yaml"
	unsetSettings = "kubectl get events -n %s --field-selector reason=SettingUnset"
)

// Step is the next step of a person about a cause.
type Step struct {
	// Run has commands that repair the cause, or a command that shows more of it. Each
	// command is on a line. It is empty if there is no command.
	Run string
	// Note explains a step that no command can do.
	Note string
	// Changes is the number of managed clusters on which the commands change something. Edits is whether they let a person change a
	// declaration. All others only read.
	Changes int
	Edits   bool
	// Example is the managed cluster that the commands show, of several.
	Example string
}

// Find returns the next step about a cause. It has no command if a name is not a valid name of
// an object, because an author wrote that name, and a shell could run it.
func Find(fleetState *snapshot.Snapshot, item *report.RootCause) Step {
	clusters := item.Clusters()
	if !areNames(slices.Concat([]string{item.AddOn, item.Dependent}, item.Providers, clusters)...) {
		return Step{}
	}
	first := cmp.Or(item.FirstCluster(), clusters[0])
	return find(fleetState, item, clusters, first).withExample(first)
}

// areNames reports whether all are valid names of objects, or empty.
func areNames(names ...string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return name != "" && len(validation.IsDNS1123Subdomain(name)) > 0 })
}

func find(fleetState *snapshot.Snapshot, item *report.RootCause, clusters []string, first string) Step {
	switch {
	case item.AddOn != "" && item.Verdict == evaluation.NotInstalled:
		return missing(fleetState, item, clusters)
	case item.AddOn != "" && item.Verdict == evaluation.Cycle:
		return Step{Edits: true, Run: "kubectl edit clustermanagementaddon " + item.AddOn, Note: "make one of these dependencies Optional, or remove it"}
	case item.Removing:
		return removing(fleetState, item.AddOn, first)
	case item.AddOn != "" && item.Verdict == evaluation.NotAvailable:
		return notAvailable(fleetState, item.AddOn, first)
	case item.AddOn != "" && item.Verdict == evaluation.Conflict:
		return Step{
			Run:  fmt.Sprintf("kubectl describe managedclusteraddon %s -n %s", item.AddOn, first),
			Note: item.AddOn + " and the add-ons that it breaks exclude each other: decide which of them these clusters need",
		}
	case item.AddOn != "":
		return Step{Run: fmt.Sprintf(describe, item.AddOn, first)}
	case item.Requirement != "" && fleetState.Object(first) == nil:
		return unregistered(clusters)
	case item.Requirement != "":
		return Step{Run: "kubectl describe managedcluster " + first}
	default:
		return bring(fleetState, item, clusters, first)
	}
}

// missing returns the step about an add-on that is not installed. It does not enable an add-on whose installation by Interlock waits: the
// hub may refuse that.
func missing(fleetState *snapshot.Snapshot, item *report.RootCause, clusters []string) Step {
	if placed, ok := enabledByOthers(fleetState, item.AddOn, clusters); ok {
		return placed
	}
	for _, cluster := range clusters {
		note := map[evaluation.Wait]string{
			evaluation.WaitRefused: "the hub refuses what installs " + item.AddOn + ", and may refuse it by hand, too: the condition Installed " +
				"shows its reason",
			evaluation.WaitGivenUp: "another writer has removed " + item.AddOn + " again and again: find out who, before you enable it. " +
				"status.undone.again is when Interlock tries again",
		}[fleetState.WaitOf(types.NamespacedName{Namespace: cluster, Name: item.AddOn})]
		if item.Stopped && note != "" {
			return Step{Run: fmt.Sprintf("kubectl get addoninstallation %s -n %s -o yaml", item.AddOn, cluster), Note: note}
		}
	}
	if item.Stored || item.Unset {
		return Step{
			Run: onClusters("kubectl addon install "+item.AddOn+" --cluster %s --plan", registeredOf(fleetState, clusters)),
			Note: "install: Auto requests its installation, so do not enable it by hand: the message and the plan show what is known to " +
				"prevent it",
		}
	}
	todo := enable(fleetState, item.AddOn, clusters)
	if policies := denying(fleetState, clusters); item.Stopped && len(policies) > 0 {
		todo.Note = fmt.Sprintf("installations by Interlock are denied there by %s: this command goes around that, so ask the administrator first",
			text.Cut(policy.Named(policies...), maxPolicies))
	}
	return todo
}

// denying returns the policies that deny installations by Interlock on any of the managed clusters, ascending.
func denying(fleetState *snapshot.Snapshot, clusters []string) []string {
	policies := sets.New[string]()
	for _, cluster := range registeredOf(fleetState, clusters) {
		policies.Insert(fleetState.Declared.Denying(fleetState.Object(cluster).Labels)...)
	}
	return sets.List(policies)
}

// enable returns the step that installs an add-on on managed clusters.
func enable(fleetState *snapshot.Snapshot, addOn string, clusters []string) Step {
	if placed, ok := enabledByOthers(fleetState, addOn, clusters); ok {
		return placed
	}
	registered := registeredOf(fleetState, clusters)
	return Step{Run: onClusters("clusteradm addon enable --names "+addOn+" --clusters %s", registered), Changes: len(registered)}
}

// enabledByOthers returns the step about an add-on that people do not enable by hand: it is not registered, Placements install it, or there
// is no managed cluster to install it on. The bool is false if people enable it.
func enabledByOthers(fleetState *snapshot.Snapshot, addOn string, clusters []string) (Step, bool) {
	if !fleetState.Declared.Registered(addOn) {
		return Step{
			Run: "kubectl get clustermanagementaddons",
			Note: fmt.Sprintf("%s has no ClusterManagementAddOn on this hub: install it on the hub first, or correct what %s declares",
				addOn, strings.Join(fleetState.Declared.Dependents(addOn), " and ")),
		}, true
	}
	placements, labeled := placementsOf(fleetState, addOn), fleetState.Declared.Labeled(addOn).Placements
	if len(labeled) > 0 && len(placements) == len(labeled) { // no other Placement can be changed
		label := catalog.InstallLabel(addOn)
		return Step{
			Run: fmt.Sprintf("kubectl get managedclusters -L %s", label),
			Note: fmt.Sprintf("%s is installed on managed clusters with this label; Interlock sets it where an edge has install: Auto "+
				"and addon-manager runs with --lifecycle. On a cluster with the label, a Placement of its owner has to select the cluster, which needs "+
				"a ManagedClusterSetBinding in its namespace", addOn),
		}, true
	}
	if len(placements) > 0 {
		return Step{
			Run: fmt.Sprintf("kubectl get placement %s -n %s -o yaml", placements[0].Name, placements[0].Namespace),
			Note: fmt.Sprintf("%s is installed where its placements select the managed cluster (installStrategy Placements): change these, do not enable it by hand",
				addOn),
		}, true
	}
	if len(registeredOf(fleetState, clusters)) == 0 {
		return unregistered(clusters), true
	}
	return Step{}, false
}

// registeredOf returns the clusters that have a ManagedCluster.
func registeredOf(fleetState *snapshot.Snapshot, clusters []string) []string {
	return slices.DeleteFunc(slices.Clone(clusters), func(cluster string) bool { return fleetState.Object(cluster) == nil })
}

// onClusters returns the commands, each on a line, for these managed clusters. Their names replace %s in the command.
func onClusters(command string, clusters []string) string {
	var commands []string
	for _, names := range inCommands(clusters) {
		commands = append(commands, fmt.Sprintf(command, names))
	}
	return strings.Join(commands, "\n")
}

// inCommands joins names with commas. Each result fits into a command.
func inCommands(names []string) []string {
	var joined []string
	for _, name := range names {
		last := len(joined) - 1
		if last < 0 || len(joined[last])+len(",")+len(name) > maxNames {
			joined = append(joined, name)
		} else {
			joined[last] += "," + name
		}
	}
	return joined
}

// placementsOf returns the placements that install an add-on. It is nil if people enable the add-on by hand.
func placementsOf(fleetState *snapshot.Snapshot, addOn string) []ocmv1alpha1.PlacementRef {
	var valid []ocmv1alpha1.PlacementRef
	for i := range fleetState.Registrations {
		strategy := &fleetState.Registrations[i].Spec.InstallStrategy
		if fleetState.Registrations[i].Name != addOn || strategy.Type != ocmv1alpha1.AddonInstallStrategyPlacements {
			continue
		}
		for _, placement := range strategy.Placements {
			if len(validation.IsDNS1123Subdomain(placement.Name)) == 0 && len(validation.IsDNS1123Label(placement.Namespace)) == 0 {
				valid = append(valid, placement.PlacementRef)
			}
		}
	}
	return valid
}

// unregistered returns the step for namespaces that have add-ons but no ManagedCluster.
func unregistered(clusters []string) Step {
	return Step{
		Run:  "kubectl get managedclusters",
		Note: fmt.Sprintf("%s has no ManagedCluster, so nothing is installed there: delete its ManagedClusterAddOns, or register the cluster again", clusters[0]),
	}
}

// bringToHub returns the step that makes the hub serve an API, or a newer schema of it.
func bringToHub(item *report.RootCause) Step {
	note := "the hub does not serve the API: install what serves it on the hub"
	if item.Served {
		note = "upgrade what serves the API on the hub to a version whose API has the fields"
	}
	return Step{Run: "kubectl get --raw /apis", Note: note}
}

// bring returns the step that makes managed clusters serve an API, or a newer schema of it.
func bring(fleetState *snapshot.Snapshot, item *report.RootCause, clusters []string, first string) Step {
	switch {
	case item.ServedBy == addonv1alpha1.APIServerHub:
		return bringToHub(item)
	case item.HostingCluster != "" && fleetState.Object(item.HostingCluster) == nil:
		return Step{
			Run: "kubectl get managedclusters",
			Note: fmt.Sprintf("the annotation %s of ManagedClusterAddOns names %s, which is no managed cluster: correct it, or register the cluster",
				ocmv1alpha1.HostingClusterNameAnnotationKey, text.Name(item.HostingCluster)),
		}
	case item.HostingCluster != "":
		hosted := *item
		hosted.HostingCluster = ""
		return bring(fleetState, &hosted, []string{item.HostingCluster}, item.HostingCluster)
	case item.Unreported && item.Served:
		return Step{
			Run:  fmt.Sprintf(readFacts, first, first),
			Note: "addon-agent has to report which fields the API has on these managed clusters: upgrade it there, or repair it",
		}
	case item.Unreported:
		return Step{Run: Doctor, Note: "addon-agent has to report whether these managed clusters serve the API: install it there, or repair it"}
	}
	for _, provider := range item.Providers {
		if !fleetState.IsOn(first, provider) {
			continue
		}
		note := " provides the API, and is installed there"
		if item.Served {
			note += ": upgrade it to a version whose API has the fields"
		}
		return Step{Run: fmt.Sprintf(describe, provider, first), Note: provider + note}
	}
	if item.Served {
		return Step{
			Run:  fmt.Sprintf(readFacts, first, first),
			Note: "upgrade what serves the API on the managed cluster to a version whose API has the fields",
		}
	}
	if len(item.Providers) > 0 {
		install := enable(fleetState, item.Providers[0], clusters)
		if install.Note == "" {
			install.Note = item.Providers[0] + " provides the API"
		}
		return install
	}
	return Step{
		Run:  fmt.Sprintf(readFacts, first, first),
		Note: "no add-on is declared to provide the API: install what serves it on the managed cluster",
	}
}
