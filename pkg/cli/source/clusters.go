package source

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// selectorFlag is the value of --selector.
type selectorFlag struct {
	labels.Selector
	value string
}

// String implements pflag.Value.
func (f *selectorFlag) String() string { return f.value }

// Set implements pflag.Value.
func (f *selectorFlag) Set(value string) (err error) {
	f.value = value
	f.Selector, err = labels.Parse(value)
	return err
}

// Type implements pflag.Value.
func (*selectorFlag) Type() string { return "string" }

// AddClusterFlags adds the flags -A and -l to a verb, which select managed clusters together with -n.
func (s *Source) AddClusterFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.BoolVarP(&s.allNamespaces, "all-namespaces", "A", false, "All managed clusters, which is the default without -n.")
	flags.VarP(&s.selector, "selector", "l", "Only managed clusters with these labels, as kubectl get -l.")
}

// Cluster returns the managed cluster that -n names. It is empty for several clusters, such as with -A.
func (s *Source) Cluster() string {
	if s.allNamespaces {
		return ""
	}
	return *s.Config.Namespace
}

// IsWholeFleet reports whether all managed clusters are selected.
func (s *Source) IsWholeFleet() bool { return s.Cluster() == "" && s.selector.Selector == nil }

// Selection describes the selected managed clusters for a message. It is empty without a selector.
func (s *Source) Selection() string {
	if s.selector.Selector == nil {
		return ""
	}
	return fmt.Sprintf(" with the labels %s", s.selector.Selector)
}

// selected returns the snapshot with the selected managed clusters. It returns an error if there are none.
func (s *Source) selected(fleetState *snapshot.Snapshot) (*snapshot.Snapshot, error) {
	if s.selector.Selector == nil {
		return fleetState, nil
	}
	content := fleetState.Select(func(cluster *clusterv1.ManagedCluster) bool {
		return s.selector.Matches(labels.Set(cluster.Labels)) && (s.Cluster() == "" || cluster.Name == s.Cluster())
	})
	if len(content.Clusters) == 0 {
		return nil, fmt.Errorf("no managed cluster%s: kubectl get managedclusters --show-labels lists them", s.Selection())
	}
	return snapshot.New(content), nil
}

// Retake reads the selected managed clusters again, from a hub that is watched. If the cluster is empty, it reads all selected ones.
func (s *Source) Retake(ctx context.Context, hub client.Reader, cluster string) (*snapshot.Snapshot, error) {
	fleetState, err := snapshot.Take(ctx, hub, cluster)
	if err != nil {
		return nil, err
	}
	return s.selected(fleetState)
}
