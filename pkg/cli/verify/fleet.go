package verify

import (
	"cmp"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"open-cluster-management.io/interlock/pkg/dependency/condition/whatif"
	"open-cluster-management.io/interlock/pkg/dependency/declaration/versions"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/offline/index"
)

// compareFleet adds the differences between the lock and the managed clusters.
func compareFleet(result *Verification, lock *index.Lock, fleet *snapshot.Snapshot) {
	for _, name := range fleet.Names() {
		cluster := fleet.Whole(name)
		kind := KindOf(lock, &cluster.Cluster)
		switch {
		case kind == nil:
			result.NotLocked++
		case fleet.Lost(name):
			result.NotReached++
		default:
			result.Clusters++
			if message := compareKubernetes(kind.Kubernetes, cluster.KubernetesVersion); message != "" {
				result.Items = append(result.Items, Difference{
					Cluster: name, Kind: kind.Name, Locked: kind.Kubernetes, Actual: cluster.KubernetesVersion, Message: message,
				})
			}
			for i := range kind.AddOns {
				locked := &kind.AddOns[i]
				running, message := compareAddOn(locked, &cluster, fleet.Declared.Version(locked.Name))
				if message != "" {
					result.Items = append(result.Items, Difference{
						Cluster: name, Kind: kind.Name, AddOn: locked.Name, Locked: locked.Version, Actual: running, Message: message,
					})
				}
			}
		}
	}
}

// KindOf returns the locked kind of a cluster. The cluster has all labels and claims of its kind. Of several such kinds, the one
// with most labels and claims counts. KindOf returns nil if the lock has no such kind.
func KindOf(lock *index.Lock, cluster *evaluation.Cluster) *index.LockedKind {
	var best *index.LockedKind
	size := func(kind *index.LockedKind) int { return len(kind.Labels) + len(kind.Claims) }
	for i := range lock.ClusterKinds { // They are ordered by name: the first of equal size counts.
		kind := &lock.ClusterKinds[i]
		if contains(cluster.Labels, kind.Labels) && contains(cluster.Claims, kind.Claims) && (best == nil || size(kind) > size(best)) {
			best = kind
		}
	}
	return best
}

// contains reports whether the values include all required keys with their required values.
func contains(values, required map[string]string) bool {
	for key, want := range required {
		if value, ok := values[key]; !ok || value != want {
			return false
		}
	}
	return true
}

// compareKubernetes describes how the Kubernetes version of a cluster differs from the locked version of its kind. It returns an
// empty string if it does not. A lock also holds for newer patch versions. Suffixes of vendors do not count.
func compareKubernetes(locked, actual string) string {
	if locked == "" {
		return ""
	}
	if actual == "" {
		return "its Kubernetes version is not reported"
	}
	want, err := versions.ParsePlatform(locked)
	if err != nil {
		return fmt.Sprintf("the Kubernetes version in the lock cannot be read: %v", err)
	}
	got, err := versions.ParsePlatform(actual)
	switch {
	case err != nil:
		return fmt.Sprintf("its Kubernetes version cannot be read: %v", err)
	case got.Major() != want.Major() || got.Minor() != want.Minor():
		return "it has another Kubernetes version than its kind"
	case got.Patch() < want.Patch():
		return "it has an older Kubernetes version than its kind"
	default:
		return ""
	}
}

// compareAddOn returns the version that runs on a cluster, and describes the difference from the lock. The message is empty if
// there is no difference.
func compareAddOn(locked *index.LockedAddOn, cluster *whatif.Cluster, registered versions.Annotated) (running, message string) {
	observed, installed := cluster.AddOns[locked.Name]
	if !installed {
		return "", "it is not installed"
	}
	observed.Name = cmp.Or(observed.Name, locked.Name)
	version := versions.Running(cluster.VersionSources(&observed, registered))
	switch {
	case version.Number == "":
		return "", "no version of it is reported"
	case !equalVersion(version, locked.Version):
		return version.Number, "another version runs, by " + string(version.Source)
	case observed.Available == nil || observed.Available.Status != metav1.ConditionTrue:
		return version.Number, "it is not available"
	default:
		return version.Number, ""
	}
}

// equalVersion reports whether a version equals the locked version. A leading v makes no difference.
func equalVersion(version versions.Version, locked string) bool {
	running, err := version.Parse()
	if err != nil {
		return version.Number == locked
	}
	want, err := versions.Version{Number: locked}.Parse()
	return err == nil && running.Equal(want) && running.Metadata() == want.Metadata()
}
