package report

import (
	"slices"
	"strings"
	"time"

	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/text"
)

// Deletion is the deletion of an add-on on a managed cluster that was requested. The add-on exists until its finalizers are removed.
type Deletion struct {
	Since      time.Time `json:"since"`
	Finalizers []string  `json:"finalizers,omitempty"`
}

// DeletionOf returns the deletion of an add-on. It is nil if none was requested.
func DeletionOf(addOn *addonv1alpha1.ManagedClusterAddOn) *Deletion {
	if addOn == nil || addOn.DeletionTimestamp == nil {
		return nil
	}
	return &Deletion{Since: addOn.DeletionTimestamp.UTC(), Finalizers: addOn.Finalizers}
}

// String describes the deletion, with the finalizers that hold it.
func (d *Deletion) String() string {
	description := "being removed since " + d.Since.Format(time.RFC3339)
	switch len(d.Finalizers) {
	case 0:
		return description
	case 1:
		return description + ", and the finalizer " + text.Name(d.Finalizers[0]) + " holds it"
	default:
		return description + ", and the finalizers " + text.OneLine(strings.Join(d.Finalizers, ", ")) + " hold it"
	}
}

// isDetached reports whether a managed cluster is being detached from the hub. Its add-ons are removed with it.
func isDetached(object *clusterv1.ManagedCluster) bool {
	return object != nil && object.DeletionTimestamp != nil
}

// Removing is an add-on that is being removed on a managed cluster.
type Removing struct {
	Cluster  string `json:"cluster"`
	AddOn    string `json:"addOn"`
	Deletion `json:",inline"`
	// RequiredBy are the add-ons on the cluster that require it, and are not being removed themselves.
	RequiredBy []string `json:"requiredBy,omitempty"`
}

// String describes the add-on in a sentence without an end.
func (r Removing) String() string {
	description := text.Name(r.AddOn) + " on " + text.Name(r.Cluster) + " is " + r.Deletion.String()
	if len(r.RequiredBy) == 0 {
		return description
	}
	return description + ". " + text.Names(r.RequiredBy, " and ") + " will not work without it"
}

// FindRemoving returns the add-ons that are being removed on a managed cluster. findings are the findings on its add-ons.
func FindRemoving(hub *snapshot.Snapshot, cluster string, findings func(addOn string) []evaluation.Finding) []Removing {
	return clusterView{name: cluster, addOns: hub.Installed(cluster), findings: findings}.removing()
}

// removing returns the add-ons that are being removed on the cluster.
func (v clusterView) removing() []Removing {
	var removals []Removing
	for _, addOn := range v.addOns {
		deletion := DeletionOf(addOn)
		if deletion == nil {
			continue
		}
		removal := Removing{Cluster: v.name, AddOn: addOn.Name, Deletion: *deletion}
		for _, dependent := range v.addOns {
			if dependent.DeletionTimestamp == nil && requires(v.findings(dependent.Name), addOn.Name) {
				removal.RequiredBy = append(removal.RequiredBy, dependent.Name)
			}
		}
		removals = append(removals, removal)
	}
	return removals
}

// requires reports whether any finding is on an edge without which the dependent cannot work, and that applies.
func requires(findings []evaluation.Finding, addOn string) bool {
	return slices.ContainsFunc(findings, func(finding evaluation.Finding) bool {
		return finding.Blocks() && finding.Verdict != evaluation.NotApplicable && isOn(&finding, addOn)
	})
}
