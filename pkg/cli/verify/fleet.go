package verify

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/versions"
	"open-cluster-management.io/interlock/pkg/dependency/whatif"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/index"
)

// compareFleet adds what differs on managed clusters.
func compareFleet(found *Verification, lock *index.Lock, fleet *snapshot.Snapshot) {
	for _, name := range fleet.Names() {
		on := fleet.Whole(name)
		kind := KindOf(lock, &on.Cluster)
		switch {
		case kind == nil:
			found.NotLocked++
		case fleet.Lost(name):
			found.NotReached++
		default:
			found.Clusters++
			if message := compareKubernetes(kind.Kubernetes, on.KubernetesVersion); message != "" {
				found.Items = append(found.Items, Difference{
					Cluster: name, Kind: kind.Name, Locked: kind.Kubernetes, Found: on.KubernetesVersion, Message: message,
				})
			}
			for i := range kind.AddOns {
				locked := &kind.AddOns[i]
				runs, message := compare(locked, &on, fleet.Declared.Version(locked.Name))
				if message != "" {
					found.Items = append(found.Items, Difference{
						Cluster: name, Kind: kind.Name, AddOn: locked.Name, Locked: locked.Version, Found: runs, Message: message,
					})
				}
			}
		}
	}
}

// KindOf returns the kind with most labels and claims of those that a cluster has all of; nil: there is none.
func KindOf(lock *index.Lock, cluster *evaluation.Cluster) *index.LockedKind {
	var best *index.LockedKind
	specific := func(kind *index.LockedKind) int { return len(kind.Labels) + len(kind.Claims) }
	for i := range lock.ClusterKinds { // by name, so that of equal ones the first counts
		kind := &lock.ClusterKinds[i]
		if within(kind.Labels, cluster.Labels) && within(kind.Claims, cluster.Claims) && (best == nil || specific(kind) > specific(best)) {
			best = kind
		}
	}
	return best
}

func within(wanted, has map[string]string) bool {
	for key, value := range wanted {
		if is, ok := has[key]; !ok || is != value {
			return false
		}
	}
	return true
}

// compareKubernetes returns how the Kubernetes of a cluster differs from that of its kind; empty: it does not. What was resolved
// for a version is taken to hold for newer patch versions. What a vendor appends does not count.
func compareKubernetes(locked, has string) string {
	if locked == "" {
		return ""
	}
	if has == "" {
		return "its Kubernetes version is not reported"
	}
	want, err := versions.ParsePlatform(locked)
	if err != nil {
		return fmt.Sprintf("the Kubernetes version in the lock cannot be read: %v", err)
	}
	is, err := versions.ParsePlatform(has)
	switch {
	case err != nil:
		return fmt.Sprintf("its Kubernetes version cannot be read: %v", err)
	case is.Major() != want.Major() || is.Minor() != want.Minor():
		return "it has another Kubernetes version than its kind"
	case is.Patch() < want.Patch():
		return "it has an older Kubernetes version than its kind"
	default:
		return ""
	}
}

// compare returns the version that runs on a cluster, and what differs from the lock; empty: nothing does.
func compare(locked *index.LockedAddOn, on *whatif.Cluster, registered versions.Annotated) (runs, message string) {
	observed, installed := on.AddOns[locked.Name]
	if !installed {
		return "", "it is not installed"
	}
	observed.Name = cmp.Or(observed.Name, locked.Name)
	version := versions.Running(on.VersionSources(&observed, registered))
	switch {
	case version.Number == "":
		return "", "no version of it is reported"
	case !same(version, locked.Version):
		return version.Number, "another version runs, by " + string(version.Source)
	case observed.Available == nil || observed.Available.Status != metav1.ConditionTrue:
		return version.Number, "it is not available"
	default:
		return version.Number, ""
	}
}

// same reports whether a version is the locked one. A leading v makes no difference.
func same(version versions.Version, locked string) bool {
	runs, err := version.Parse()
	if err != nil {
		return version.Number == locked
	}
	want, err := versions.Version{Number: locked}.Parse()
	return err == nil && runs.Equal(want) && runs.Metadata() == want.Metadata()
}
