package installation

// One change may touch an add-on on 20 managed clusters, or on half of the fleet, whichever is more. One that would go further waits for an
// approval.
const (
	clustersUnapproved = 20
	percentUnapproved  = 50
)

// Approved reports whether one change may touch an add-on on so many managed clusters of a fleet. approved is how many its owner has
// approved.
func Approved(clusters, fleet, approved int) bool {
	return clusters <= max(clustersUnapproved, fleet*percentUnapproved/100) || clusters <= approved
}
