package installation

// One change may touch an add-on on 20 managed clusters, or on half of the fleet, whichever is more. A larger change waits
// for an approval.
const (
	clustersUnapproved = 20
	percentUnapproved  = 50
)

// Approved reports whether one change may touch an add-on on this number of managed clusters of a fleet. approved is the
// number that the add-on's owner has approved.
func Approved(clusters, fleet, approved int) bool {
	return clusters <= max(clustersUnapproved, fleet*percentUnapproved/100) || clusters <= approved
}
