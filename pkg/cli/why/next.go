package why

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/pkg/text"
)

// maxNames is how many characters of names a command has. It is to be pasted, not read, but
// a terminal cuts a line off at 4,096.
const maxNames = 3000

// doctor checks the parts of Interlock, describe shows an add-on on a managed cluster, and
// readFacts shows what addon-agent has reported there.
const (
	doctor    = "kubectl addon doctor"
	describe  = "kubectl describe managedclusteraddon %s -n %s"
	readFacts = "kubectl get managedclusterfacts %s -n %s -o yaml"
)

// step is what to do about a cause.
type step struct {
	// run are commands that repair the cause, or a command that shows more of it, each on a
	// line; empty: none.
	run string
	// note says what a command cannot do.
	note string
}

// next is what to do about a cause. It has no command where no object can have one of the
// names: an author wrote it, and a shell could run it.
func next(of *snapshot.Snapshot, item *report.RootCause) step {
	clusters := item.Clusters()
	for _, name := range slices.Concat([]string{item.AddOn, item.Dependent}, item.Providers, clusters) {
		if name != "" && len(validation.IsDNS1123Subdomain(name)) > 0 {
			return step{}
		}
	}
	first := clusters[0]
	if item.First.Cluster != "" {
		first = item.First.Cluster
	}
	switch {
	case item.AddOn != "" && item.Verdict == evaluation.NotInstalled:
		return enable(of, item.AddOn, clusters)
	case item.AddOn != "" && item.Verdict == evaluation.Cycle:
		return step{run: "kubectl edit clustermanagementaddon " + item.AddOn, note: "make one of these dependencies Optional, or remove it"}
	case item.AddOn != "" && item.Verdict == evaluation.NotAvailable:
		return notAvailable(of, item.AddOn, first)
	case item.AddOn != "" && item.Verdict == evaluation.Conflict:
		return step{
			run:  fmt.Sprintf("kubectl describe managedclusteraddon %s -n %s", item.AddOn, first),
			note: item.AddOn + " and the add-ons that it breaks exclude each other: decide which of them these clusters need",
		}
	case item.AddOn != "":
		return step{run: fmt.Sprintf(describe, item.AddOn, first)}
	case item.Requirement != "" && of.Object(first) == nil:
		return unregistered(clusters)
	case item.Requirement != "":
		return step{run: "kubectl describe managedcluster " + first}
	default:
		return bring(of, item, clusters, first)
	}
}

// enable installs an add-on on managed clusters.
func enable(of *snapshot.Snapshot, addOn string, clusters []string) step {
	if !of.Declared.Registered(addOn) {
		return step{
			run: "kubectl get clustermanagementaddons",
			note: fmt.Sprintf("%s has no ClusterManagementAddOn on this hub: install it on the hub first, or correct what %s declares",
				addOn, strings.Join(of.Declared.Dependents(addOn), " and ")),
		}
	}
	placements, labeled := placementsOf(of, addOn), of.Declared.Labeled(addOn).Placements
	if len(labeled) > 0 && len(placements) == len(labeled) { // no other Placement can be changed
		label := catalog.InstallLabel(addOn)
		return step{
			run: fmt.Sprintf("kubectl get managedclusters -L %s", label),
			note: fmt.Sprintf("%s is installed on managed clusters with this label; Interlock sets it where an edge has install: Auto "+
				"and addon-manager runs with --lifecycle", addOn),
		}
	}
	if len(placements) > 0 {
		return step{
			run: fmt.Sprintf("kubectl get placement %s -n %s -o yaml", placements[0].Name, placements[0].Namespace),
			note: fmt.Sprintf("%s is installed where its placements select the managed cluster (installStrategy Placements): change these, do not enable it by hand",
				addOn),
		}
	}
	registered := slices.DeleteFunc(slices.Clone(clusters), func(cluster string) bool { return of.Object(cluster) == nil })
	if len(registered) == 0 {
		return unregistered(clusters)
	}
	var commands []string
	for _, names := range inCommands(registered) {
		commands = append(commands, fmt.Sprintf("clusteradm addon enable --names %s --clusters %s", addOn, names))
	}
	return step{run: strings.Join(commands, "\n")}
}

// inCommands joins names with commas, as many as a command has.
func inCommands(names []string) (joined []string) {
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

// placementsOf are the placements that install an add-on; nil where it is enabled by hand.
func placementsOf(of *snapshot.Snapshot, addOn string) (valid []ocmv1alpha1.PlacementRef) {
	for i := range of.Registrations {
		strategy := &of.Registrations[i].Spec.InstallStrategy
		if of.Registrations[i].Name != addOn || strategy.Type != ocmv1alpha1.AddonInstallStrategyPlacements {
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

// unregistered is for namespaces with add-ons that are no managed clusters.
func unregistered(clusters []string) step {
	return step{
		run:  "kubectl get managedclusters",
		note: fmt.Sprintf("%s has no ManagedCluster, so nothing is installed there: delete its ManagedClusterAddOns, or register the cluster again", clusters[0]),
	}
}

// bringToHub makes the hub serve an API, or a newer schema of one.
func bringToHub(item *report.RootCause) step {
	note := "the hub does not serve the API: install what serves it on the hub"
	if item.Served {
		note = "upgrade what serves the API on the hub to a version whose API has the fields"
	}
	return step{run: "kubectl get --raw /apis", note: note}
}

// bring makes managed clusters serve an API, or a newer schema of one.
func bring(of *snapshot.Snapshot, item *report.RootCause, clusters []string, first string) step {
	switch {
	case item.ServedBy == addonv1alpha1.APIServerHub:
		return bringToHub(item)
	case item.HostingCluster != "" && of.Object(item.HostingCluster) == nil:
		return step{
			run: "kubectl get managedclusters",
			note: fmt.Sprintf("the annotation %s of ManagedClusterAddOns names %s, which is no managed cluster: correct it, or register the cluster",
				ocmv1alpha1.HostingClusterNameAnnotationKey, text.Name(item.HostingCluster)),
		}
	case item.HostingCluster != "":
		on := *item
		on.HostingCluster = ""
		return bring(of, &on, []string{item.HostingCluster}, item.HostingCluster)
	case item.Unreported && item.Served:
		return step{
			run:  fmt.Sprintf(readFacts, first, first),
			note: "addon-agent has to report which fields the API has on these managed clusters: upgrade it there, or repair it",
		}
	case item.Unreported:
		return step{run: doctor, note: "addon-agent has to report whether these managed clusters serve the API: install it there, or repair it"}
	}
	for _, provider := range item.Providers {
		if !of.IsOn(first, provider) {
			continue
		}
		note := " provides the API, and is installed there"
		if item.Served {
			note += ": upgrade it to a version whose API has the fields"
		}
		return step{run: fmt.Sprintf(describe, provider, first), note: provider + note}
	}
	if item.Served {
		return step{
			run:  fmt.Sprintf(readFacts, first, first),
			note: "upgrade what serves the API on the managed cluster to a version whose API has the fields",
		}
	}
	if len(item.Providers) > 0 {
		found := enable(of, item.Providers[0], clusters)
		if found.note == "" {
			found.note = item.Providers[0] + " provides the API"
		}
		return found
	}
	return step{
		run:  fmt.Sprintf(readFacts, first, first),
		note: "no add-on is declared to provide the API: install what serves it on the managed cluster",
	}
}
