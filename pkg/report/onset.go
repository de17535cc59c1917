package report

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation/cause"
	"open-cluster-management.io/interlock/pkg/fleet"
)

// degradedSince returns the time when addon-manager set Degraded to True. It returns a zero time if Degraded reports no failing
// dependency.
func degradedSince(addOn *addonv1alpha1.ManagedClusterAddOn) time.Time {
	degraded := fleet.Degraded(addOn)
	if !isFailure(degraded) {
		return time.Time{}
	}
	return degraded.LastTransitionTime.UTC()
}

// unavailableSince returns the time when the add-on became unavailable. It returns a zero time for an add-on that is available, or has not
// reported, and without an add-on.
func unavailableSince(addOn *addonv1alpha1.ManagedClusterAddOn) time.Time {
	if addOn == nil {
		return time.Time{}
	}
	available := fleet.Available(addOn)
	if available == nil || available.Status == metav1.ConditionTrue || available.LastTransitionTime.IsZero() {
		return time.Time{}
	}
	return available.LastTransitionTime.UTC()
}

// effectsOf returns when victims became Degraded.
func effectsOf(victims []cause.Victim) cause.Onset {
	moments := make([]cause.Moment, 0, len(victims))
	for _, victim := range victims {
		moments = append(moments, cause.Moment{Cluster: victim.Cluster, Time: victim.Since})
	}
	return cause.FindOnset(moments)
}

// FirstCluster returns the managed cluster on which the failure began first. It is empty if that is not known.
func (c *RootCause) FirstCluster() string {
	if c.Began.Cluster != "" {
		return c.Began.Cluster
	}
	return c.Effects.Cluster
}

// findOnsets finds when the failure and its effects began.
func (c *talliedCause) findOnsets(clusters []string) {
	began, effects := make([]cause.Moment, 0, len(c.affected)), make([]cause.Moment, 0, len(c.affected))
	for _, affected := range c.affected {
		name := clusters[affected.cluster]
		began = append(began, cause.Moment{Cluster: name, Time: timeOf(affected.unavailable)})
		effects = append(effects, cause.Moment{Cluster: name, Time: timeOf(affected.degraded)})
	}
	c.began, c.effects = cause.FindOnset(began), cause.FindOnset(effects)
}

// earlier returns the earlier of two times in seconds. Zero is a time that is not known.
func earlier(a, b int64) int64 {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// fleetOnset returns the entry for an onset. It is nil if it is not known.
func fleetOnset(onset cause.Onset) *dependencyv1alpha1.FleetOnset {
	if onset.Since.IsZero() {
		return nil
	}
	return &dependencyv1alpha1.FleetOnset{
		Since: metav1.NewTime(onset.Since), FirstCluster: fleetName(onset.Cluster), Clusters: number(onset.Clusters),
	}
}

// StoredOnset returns the onset of an entry.
func StoredOnset(stored *dependencyv1alpha1.FleetOnset) cause.Onset {
	if stored == nil {
		return cause.Onset{}
	}
	return cause.Onset{Since: stored.Since.UTC(), Cluster: stored.FirstCluster, Clusters: int(stored.Clusters)}
}
