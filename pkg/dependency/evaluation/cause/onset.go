package cause

import (
	"fmt"
	"time"

	"open-cluster-management.io/interlock/pkg/text"
)

// Moment is a time at which something began to fail on a managed cluster.
type Moment struct {
	Cluster string
	Time    time.Time
}

// Onset is the earliest of the moments at which something began to fail. It is zero if none is known.
type Onset struct {
	Since time.Time `json:"since"`
	// Cluster is the first managed cluster with this moment, by name. Clusters is the number of managed clusters with it.
	Cluster  string `json:"cluster"`
	Clusters int    `json:"clusters"`
}

// FindOnset returns the onset of moments, which are in the order of their managed clusters. A moment with a zero time is not known.
func FindOnset(moments []Moment) Onset {
	var onset Onset
	last := ""
	for _, moment := range moments {
		switch {
		case moment.Time.IsZero():
		case onset.Since.IsZero() || moment.Time.Before(onset.Since):
			onset, last = Onset{Since: moment.Time, Cluster: moment.Cluster, Clusters: 1}, moment.Cluster
		case moment.Time.Equal(onset.Since) && moment.Cluster != last:
			onset.Clusters++
			last = moment.Cluster
		}
	}
	return onset
}

// Place describes where it began, among the number of affected managed clusters. It is empty if that is not known. Only a managed cluster
// that precedes all others is the first.
func (o Onset) Place(affected int) string {
	switch {
	case o.Since.IsZero():
		return ""
	case affected == 1:
		return "on " + text.Name(o.Cluster)
	case o.Clusters == affected:
		return "on all at once"
	case o.Clusters > 1:
		return fmt.Sprintf("first on %d managed clusters at once", o.Clusters)
	default:
		return "first on " + text.Name(o.Cluster)
	}
}
