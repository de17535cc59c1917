package witness

// The resources whose states are observed.
const (
	addOns        = "managedclusteraddons"
	registrations = "clustermanagementaddons"
	clusters      = "managedclusters"
)

// Object is an object on the hub.
type Object struct{ Resource, Namespace, Name string }

func (o Object) String() string {
	if o.Namespace == "" {
		return o.Resource + " " + o.Name
	}
	return o.Resource + " " + o.Namespace + "/" + o.Name
}

// scope is the part of the fleet that an object belongs to.
func (o Object) scope() Scope {
	switch o.Resource {
	case addOns:
		return Scope{Cluster: o.Namespace, AddOn: o.Name}
	case registrations:
		return Scope{AddOn: o.Name}
	case clusters:
		return Scope{Cluster: o.Name}
	}
	return Scope{Cluster: o.Namespace}
}

// Scope selects add-ons of a fleet: an empty name selects all of them.
type Scope struct{ Cluster, AddOn string }

// AddOn selects one add-on on one managed cluster.
func AddOn(cluster, name string) Scope { return Scope{Cluster: cluster, AddOn: name} }

// OnCluster selects all add-ons of a managed cluster.
func OnCluster(name string) Scope { return Scope{Cluster: name} }

// Everywhere selects an add-on on all managed clusters.
func Everywhere(name string) Scope { return Scope{AddOn: name} }

// overlaps reports whether both scopes contain the same add-on.
func (s Scope) overlaps(scope Scope) bool {
	return matches(s.Cluster, scope.Cluster) && matches(s.AddOn, scope.AddOn)
}

func matches(a, b string) bool { return a == "" || b == "" || a == b }
