package settings

import "slices"

// Obstacle is the reason why none of the requested variables of an add-on is set on a managed cluster.
type Obstacle string

const (
	// NoObstacle means that they are set, but for conflicts.
	NoObstacle Obstacle = ""
	// Undecided means that it is not known yet whether the variables are set.
	Undecided Obstacle = "Undecided"
	// NotRegistered means that the add-on has no ClusterManagementAddOn.
	NotRegistered Obstacle = "NotRegistered"
	// NotSupported means that the ClusterManagementAddOn does not list AddOnDeploymentConfigs.
	NotSupported Obstacle = "NotSupported"
	// NotReferred means that the ManagedClusterAddOn does not refer to the AddOnDeploymentConfig that Interlock keeps, or
	// not to it alone.
	NotReferred Obstacle = "NotReferred"
	// DefaultMissing means that the default AddOnDeploymentConfig of the add-on does not exist.
	DefaultMissing Obstacle = "DefaultMissing"
	// NotOwned means that the AddOnDeploymentConfig with Interlock's name belongs to another writer.
	NotOwned Obstacle = "NotOwned"
	// Refused means that the API server refuses the AddOnDeploymentConfig.
	Refused Obstacle = "Refused"
	// GivenUp means that another writer has changed the variables again and again.
	GivenUp Obstacle = "GivenUp"
	// Unsteady means that the requests change all the time, or that another writer deletes the AddOnDeploymentConfig.
	Unsteady Obstacle = "Unsteady"
)

// Outcome is the result of the requests for the settings of an add-on on a managed cluster.
type Outcome struct {
	Obstacle Obstacle `json:"obstacle,omitempty"`
	// Conflicts are the variables for which dependents request different values, in ascending order. They are not set.
	Conflicts []string `json:"conflicts,omitempty"`
}

// OutcomeOf returns the outcome of joined requests.
func OutcomeOf(agreed Agreed, obstacle Obstacle) Outcome {
	outcome := Outcome{Obstacle: obstacle}
	for _, conflict := range agreed.Conflicts {
		outcome.Conflicts = append(outcome.Conflicts, conflict.Variable)
	}
	return outcome
}

// Equal reports whether two outcomes are the same.
func (o Outcome) Equal(second Outcome) bool {
	return o.Obstacle == second.Obstacle && slices.Equal(o.Conflicts, second.Conflicts)
}
